"""The closed form beside the engine's own numbers."""

from __future__ import annotations

from specrules.evidence.memory.keys import CannotSizeError
from specrules.evidence.memory.needs import MIB
from specrules.evidence.memory.request import Request
from specrules.evidence.memory.size import ModelSize
from specrules.model.fit import FitAnswer
from specrules.model.memory import MemoryFile

TOLERANCE = 0.02


def compared(answer: FitAnswer, size: ModelSize, request: Request, rules: MemoryFile) -> FitAnswer:
    """Return the answer with the closed form of the same question beside it: without drafting, slots on their own."""
    if answer.weights_mib is None or answer.context_mib is None:
        return answer
    drafter = answer.model == "drafter"
    own_weights = size.weights.total(size.trunk)
    closed_weights = own_weights // MIB
    closed_context: int | None = None
    if size.plan is not None:
        try:
            cache = size.caches(request.serving(rules, drafter=drafter))
            closed_context = (sum(cache.low.values()) + sum(size.states(request.slots).values())) // MIB
        except CannotSizeError:
            closed_context = None
    differences = [_difference(answer.weights_mib, closed_weights, (own_weights + size.twice) // MIB)]
    if closed_context is not None:
        differences.append(_difference(answer.context_mib, closed_context, closed_context))
    return answer.model_copy(
        update={
            "closed_weights_mib": closed_weights,
            "closed_context_mib": closed_context,
            "disagreement": max(differences),
        }
    )


def disagrees(answer: FitAnswer) -> bool:
    """Tell whether engine and closed form are too far apart to be rounding."""
    return answer.disagreement is not None and answer.disagreement > TOLERANCE


def _difference(engine: int, low: int, high: int) -> float:
    """How far the engine lies outside, relative to its number. A difference of one whole MiB is none."""
    outside = max(low - engine, engine - high)
    return 0.0 if outside <= 1 else outside / max(engine, 1)
