"""Step times from bytes and flops: the longer of reading memory and computing.

A pass over w rows for each of B sequences reads the weights once and the KV cache of every sequence, and computes
2 P_active flops per row. Peak figures give a lower bound of the time; a bandwidth fitted to one measured step of the
same box gives an estimate. The weights of a mixture-of-experts target grow with the rows, see `experts`.

Where computing is all that counts the batch cancels from the break-even, see `break_even.compute_bound`.
"""

from __future__ import annotations

import numpy as np

from specrules.economics.arrays import Array
from specrules.economics.domain import at_least, not_negative, positive, vectorised


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
