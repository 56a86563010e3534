"""What a target pass over several rows costs where nobody measured it: an interval from what the case states.

A mixture of experts reads more experts the more rows it has, from the most overlap that was ever measured to none
(`economics.experts`). Every target computes more rows, from behind the reading of the weights to on top of it
(`economics.roofline`). Both are intervals and no estimate: three published passes lie at .70, .71 to .93 and 1.65 times
the independent union, the last one bound by launches, which no model of bytes and flops contains. A measured curve or
run is always better.
"""

from __future__ import annotations

from dataclasses import dataclass

from specrules.derive.spans import Span, from_quantity
from specrules.economics import experts, roofline
from specrules.model.case import Case, Device, Experts, Target

_GIB = 2.0**30


@dataclass(frozen=True, slots=True)
class PredictedVerify:
    """v(w) = V(w) / t1 at the workload's concurrency, and in words what it rests on."""

    factor: Span
    basis: str


def predicted_verify(case: Case, width: int, plain: Span | None = None) -> PredictedVerify | None:
    """The interval of v(width), width being K + 1 rows per sequence; None where the case states too little.

    `plain` is the measured plain step in ms, at the workload's concurrency and context. Without it the time to read the
    weights and caches at the device's bandwidth stands in for it. A mixture of experts needs `target.experts` with all
    three numbers; what its rows cost to compute is added where that can be told. Any other target needs
    `target.active_parameters_billion`, the device's `tflops` and a plain step. An unstated concurrency counts as 1.
    """
    batch = case.workload.concurrency or 1
    computed = _computed(case, width, batch, plain)
    if case.target.experts is None:
        return None if computed is None or _is_mixture(case.target) else PredictedVerify(computed, _COMPUTING)
    read = _read(case.target.experts, width, batch)
    if read is None:
        return None
    if computed is None:
        return PredictedVerify(read, _EXPERTS)
    most = max(float(width), read.low)
    high = min(most, read.high + computed.high - 1)
    mid = min(high, read.mid + computed.mid - 1)
    low = min(mid, max(read.low, computed.low))
    return PredictedVerify(Span(low, mid, high), f"{_EXPERTS}, and {_COMPUTING}")


_EXPERTS = "the distinct experts that its rows read"
_COMPUTING = "what its rows cost to compute"


def _is_mixture(target: Target) -> bool:
    return target.kind in {"moe", "hybrid-moe"}


def _read(of: Experts, width: int, batch: int) -> Span | None:
    if of.step_share is None or of.active > of.count:
        return None
    share = from_quantity(of.step_share)
    low, mid, high = (
        experts.expert_verify_factor(width, of.count, of.active, end, batch)
        for end in (share.low, share.mid, share.high)
    )
    return Span(low.low, mid.mid, high.high)


def _computed(case: Case, width: int, batch: int, plain: Span | None) -> Span | None:
    parameters, device = case.target.active_parameters_billion, _device(case)
    if parameters is None or device is None or device.tflops is None:
        return None
    step = plain or _reading(case.target, device, batch)
    if step is None:
        return None
    row_time = roofline.compute_time(1e9 * parameters, 1, 1, 1e12 * device.tflops)
    try:
        factors = [
            roofline.roofline_verify_factor(width, end, row_time, batch) for end in (step.low, step.mid, step.high)
        ]
    except ValueError:  # a step too short for its operations: it is of another model, batch or device
        return None
    return Span(factors[2].low, factors[1].mid, factors[0].high)


def _reading(target: Target, device: Device, batch: int) -> Span | None:
    """The plain step as the time to read weights and caches, in ms. A cache that nobody stated is left out."""
    if target.weights_gib is None or device.bandwidth_gb_s is None:
        return None
    weights = from_quantity(target.weights_gib)
    cache = Span.exact(0.0) if target.kv_gib is None else from_quantity(target.kv_gib)
    low, mid, high = (
        roofline.memory_time(_GIB * read, _GIB * kept, batch, 1e9 * device.bandwidth_gb_s)
        for read, kept in ((weights.low, cache.low), (weights.mid, cache.mid), (weights.high, cache.high))
    )
    return Span(low, mid, high)


def _device(case: Case) -> Device | None:
    """The device that the target names, else the only one of the host."""
    devices, name = case.host.devices, case.target.device
    named = [device for device in devices if device.name == name]
    if name is None and len(devices) == 1:
        return devices[0]
    return named[0] if named else None
