"""What a pass over several rows costs a mixture-of-experts target, from the distinct experts that are read.

Independent routing of w rows to k of E experts reads N(w) = E (1 - (1 - k/E)^w) distinct ones (MoESD,
arXiv:2505.19645). Neighbouring tokens share experts: measured unions are 1.3 to 1.8 times smaller, so N is the upper
end of an interval and no estimate. The verify factor is then Amdahl's: v = f N(B w) / N(B) + 1 - f, with f the share of
a plain step that is spent in routed experts.
"""

from __future__ import annotations

import numpy as np

from specrules.economics.arrays import ONE, Array
from specrules.economics.domain import at_least, probability, vectorised
from specrules.economics.interval import Interval

UNION_OVERSTATED_BY = (1.3, 1.8)
"""Independent over measured number of distinct experts, smallest and largest of the published measurements."""


@vectorised
def distinct_experts(rows: Array, experts: Array, top_k: Array) -> Array:
    """N(w) for independent routing. `rows` is the batch times the width."""
    at_least(1, rows=rows, top_k=top_k)
    if np.any(top_k > experts):
        raise ValueError("top_k must not exceed experts")
    with np.errstate(divide="ignore"):
        union = -experts * np.expm1(rows * np.log1p(-top_k / experts))
    return np.maximum(union, top_k)  # one row reads top_k, also after rounding


@vectorised
def distinct_experts_range(rows: Array, experts: Array, top_k: Array) -> Interval[Array]:
    """N(w) between the most overlap that was measured and none; the middle is the geometric mean of the measured."""
    independent = np.asarray(distinct_experts(rows, experts, top_k))
    least, most = UNION_OVERSTATED_BY
    low, mid = (np.maximum(top_k, independent / by) for by in (most, (least * most) ** 0.5))
    return Interval(low, mid, independent)


@vectorised
def expert_verify_factor(
    width: Array, experts: Array, top_k: Array, expert_share: Array, batch: Array = ONE
) -> Interval[Array]:
    """v(w) = V(w) / t1 at the same batch, from the measured to the independent union of experts.

    A plain step of B sequences reads N(B) experts and the pass N(B w). For B = 1 that is f N(w)/k + 1 - f; for larger
    batches both counts are uncertain, and the interval is the quotient of their ranges, within 1 and w.
    """
    at_least(1, width=width, batch=batch)
    probability(expert_share=expert_share)
    wide = distinct_experts_range(batch * width, experts, top_k)
    plain = distinct_experts_range(batch, experts, top_k)
    growth = (wide.low / plain.high, wide.mid / plain.mid, wide.high / plain.low)
    return Interval(*(1 + expert_share * (np.clip(factor, 1, width) - 1) for factor in growth))
