"""Step times from bytes and flops: the longer of reading memory and computing.

A pass over w rows for each of B sequences reads the weights once and the KV cache of every sequence, and computes
2 P_active flops per row. Peak figures give a lower bound of the time; a bandwidth fitted to one measured step of the
same box gives an estimate. The weights of a mixture-of-experts target grow with the rows, see `experts`.

Where computing is all that counts the batch cancels from the break-even, see `break_even.compute_bound`.
"""

from __future__ import annotations

import numpy as np

from specrules.economics.arrays import ONE, Array
from specrules.economics.domain import at_least, not_negative, positive, vectorised
from specrules.economics.interval import Interval

FLOPS_REACHED = (0.1, 1.0)
"""Share of the peak that passes over a few rows reach, the least for kernels of quantised weights.

An assumption that its published consequences bear out: up to 1.05 to 1.2 plain steps for 4 rows of a 16-bit 7B on an
A100, up to 1.5 for 4 and 2.0 for 7 rows of a 4-bit 27B on a card for desktops (see the tests).
"""


@vectorised
def memory_time(weight_bytes: Array, kv_bytes: Array, batch: Array, bandwidth: Array) -> Array:
    """Milliseconds to read the weights once and `kv_bytes` per sequence, at `bandwidth` bytes per second."""
    positive(weight_bytes=weight_bytes, bandwidth=bandwidth)
    not_negative(kv_bytes=kv_bytes)
    at_least(1, batch=batch)
    return 1000 * (weight_bytes + batch * kv_bytes) / bandwidth


@vectorised
def compute_time(active_parameters: Array, batch: Array, width: Array, flops: Array) -> Array:
    """Milliseconds for 2 P_active B w operations at `flops` per second."""
    positive(active_parameters=active_parameters, flops=flops)
    at_least(1, batch=batch, width=width)
    return 1000 * 2 * active_parameters * batch * width / flops


@vectorised
def roofline_time(
    *,
    weight_bytes: Array,
    kv_bytes: Array,
    active_parameters: Array,
    batch: Array,
    width: Array,
    bandwidth: Array,
    flops: Array,
) -> Array:
    """The longer of `memory_time` and `compute_time`. With width 1 it is the plain step."""
    reading = memory_time(weight_bytes, kv_bytes, batch, bandwidth)
    return np.maximum(reading, compute_time(active_parameters, batch, width, flops))


@vectorised
def knee_width(
    *, weight_bytes: Array, kv_bytes: Array, active_parameters: Array, batch: Array, bandwidth: Array, flops: Array
) -> Array:
    """The width at which computing takes as long as reading: rows up to it are free, rows beyond it are not.

    Below 1 even the plain step of this batch is compute-bound.
    """
    reading = memory_time(weight_bytes, kv_bytes, batch, bandwidth)
    return np.asarray(reading / compute_time(active_parameters, batch, 1, flops))


@vectorised
def roofline_verify_factor(width: Array, target_step: Array, row_time: Array, batch: Array = ONE) -> Interval[Array]:
    """v(w) = V(w) / t1 at the same batch, from a plain step and `row_time`, what one row takes at the peak rate.

    row_time is c = 2 P_active / flops, `compute_time` of one row. From computing that hides behind the plain step at
    the peak rate, max(t1, B w c) / t1, to computing that comes on top of it at the least share of the peak that was
    seen, 1 + B (w - 1) c / (.1 t1), and never beyond w passes. The middle adds it at the geometric mean of both shares.
    Raises ValueError where even the peak rate cannot compute the plain step in its time: one of the three numbers is
    then of something else.
    """
    at_least(1, width=width, batch=batch)
    positive(target_step=target_step, row_time=row_time)
    step = batch * row_time / target_step
    if np.any(step > 1):
        raise ValueError("target_step must not be shorter than its operations take at the peak rate")
    least, most = FLOPS_REACHED
    low = np.maximum(1.0, step * width / most)
    mid, high = (np.minimum(width, 1 + step * (width - 1) / reached) for reached in ((least * most) ** 0.5, least))
    return Interval(low, np.maximum(low, mid), np.maximum(low, high))
