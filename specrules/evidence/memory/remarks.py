"""What a fit should say beside its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from specrules.evidence.memory.compare import TOLERANCE, disagrees
from specrules.evidence.memory.needs import Pair
from specrules.evidence.memory.request import Request
from specrules.evidence.memory.weights import EMBEDDING, OUTPUT
from specrules.model.fit import FitAnswer, FitDevice
from specrules.model.memory import MemoryFile


def remarks(
    pair: Pair, request: Request, rules: MemoryFile, devices: Sequence[FitDevice], answers: Sequence[FitAnswer]
) -> tuple[str, ...]:
    """Return the declared remarks that apply, and every disagreement with the engine."""
    apply = {
        "ignored-by-engine": pair.drafter is not None and not set(pair.away.names) <= set(pair.home.names),
        "borrowing-head": _borrows(pair),
        "input-on-host": pair.home.input.name not in pair.home.names,
        "prompt-cache": any(device.kind == "host" and device.state is not None for device in devices),
    }
    found = [item.text for item in rules.remarks if apply.get(item.id)]
    how = " ".join(part.how for device in devices for part in device.parts)
    declared = {item.known for item in rules.estimates}
    found += [f"{source.id}: {source.title}." for source in rules.sources if source.id in declared and source.id in how]
    found += [_disagreement(answer) for answer in answers if disagrees(answer)]
    if request.unified and request.slots > 1 and any(answer.context_mib is not None for answer in answers):
        found.append("The engine was asked for slots of their own: its program knows no pool that slots share.")
    unified = [device.name for device in devices if device.unified and device.parts]
    if unified and any(device.kind == "host" for device in devices):
        found.append(f"{', '.join(unified)} shares its memory with the host: what is free is free only once.")
    return tuple(found)


def _borrows(pair: Pair) -> bool:
    size = pair.drafter
    if size is None or size.drafter_class == "model":
        return False
    own = {tensor.name for tensor in size.header.tensors}
    return (size.plan is not None and size.plan.uses_target_cache) or not {EMBEDDING, OUTPUT} <= own


def _disagreement(answer: FitAnswer) -> str:
    return (
        f"The engine ({answer.build}) and the closed form differ by more than {TOLERANCE:.0%} on the {answer.model}: "
        f"weights {answer.weights_mib} and {answer.closed_weights_mib} MiB, "
        f"context {answer.context_mib} and {answer.closed_context_mib} MiB."
    )
