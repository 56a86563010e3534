"""What a round costs beside the target's pass: drafter, overheads, restores, overlap, and what a request pays once."""

from __future__ import annotations

from specrules.derive.curve import at_width, drafter_curve, least_at, verify_curve
from specrules.derive.overheads import per_round, per_token
from specrules.derive.priors import span_of_prior
from specrules.derive.sides import Sides
from specrules.derive.spans import UNBOUNDED, Span, from_quantity, span_of
from specrules.model.quantity import Quantity


def cost_spans(sides: Sides, draft_length: int) -> dict[str, Span]:
    """Everything that a round of this draft length costs beside the target's pass, as far as it is known."""
    return {**_drafter(sides, draft_length), **_overheads(sides), **_request(sides)}


def drafter_cost_is_known(sides: Sides) -> bool:
    """Whether everything is known that the drafter's price follows from."""
    return all(sides.facts.number(name) is not None for name in sides.drafter_class.cost_inputs)


def drafter_step(sides: Sides, draft_length: int) -> Span | None:
    """What a drafted token costs: as measured, 0 for a class that costs nothing, else a prior over the plain step.

    The prior counts beside a measured curve only: elsewhere a prior of the whole round says more.
    """
    if drafter_cost_is_known(sides):
        return span_of(sides.facts.get("drafter.step_ms")) or Span.exact(0.0)
    prior, plain = sides.beliefs.about("draft_cost", draft_length), sides.steps.plain
    if prior is None or plain is None or not verify_curve(sides.case, sides.facts):
        return None
    share = span_of_prior(prior)
    return Span(share.low * plain.mid, share.mid * plain.mid, share.high * plain.mid, prior.shape)


def drafting_step(sides: Sides) -> float | None:
    """The least that a drafted token costs, in ms: the drafter alone, else what it took in rounds of the run."""
    step = span_of(sides.facts.get("drafter.step_ms"))
    if step is not None:
        return step.low
    taken, length = sides.facts.number("candidate.draft_ms"), sides.facts.number("candidate.mean_draft_length")
    return taken / length if taken is not None and length else None


def _drafter(sides: Sides, draft_length: int) -> dict[str, Span]:
    spans: dict[str, Span] = {}
    step = span_of(sides.facts.get("drafter.step_ms"))
    if step is None and sides.drafter_class.cost_inputs:
        step = drafter_step(sides, draft_length)
    if step is not None:
        spans["drafter.step_ms"] = step
    catch_up = span_of(sides.facts.get("drafter.catch_up_ms"))
    if catch_up is None:
        catch_up = _assumed_catch_up(sides, step, draft_length)
    if catch_up is not None:
        spans["drafter.catch_up_ms"] = catch_up
    coverage = span_of(sides.facts.get("drafter.coverage")) or span_of(sides.facts.get("candidate.coverage"))
    prior = sides.beliefs.about("coverage", draft_length)
    if prior is not None and coverage_is_believed(sides):
        coverage = span_of_prior(prior)
    if coverage is not None:
        spans["drafter.coverage"] = coverage
    return spans


def coverage_is_believed(sides: Sides) -> bool:
    """Whether the drafter drafts in a share of the rounds that nobody counted."""
    counted = any(sides.facts.number(name) is not None for name in ("drafter.coverage", "candidate.coverage"))
    return not counted and not sides.drafter_class.covers_every_round


def _assumed_catch_up(sides: Sides, step: Span | None, draft_length: int) -> Span | None:
    """A batch of K+1 drafter rows per round: as timed, else from one pass to K+1 of them, or one block."""
    if sides.method is None or sides.method.round.catch_up == "none":
        return Span.exact(0.0)
    curve = drafter_curve(sides.case, sides.facts)
    batch = at_width(curve, draft_length + 1)
    if batch is not None and not sides.drafter_class.constant_in_depth:
        return batch
    if step is None:
        return None
    if sides.drafter_class.constant_in_depth:
        return Span(step.low, step.mid, step.high, "bounds")
    least = max(step.low, least_at(curve, draft_length + 1, sides.thresholds["unknown_error"]))
    most = max(least, (draft_length + 1) * step.high)
    return Span(least, min(max(step.mid, least), most), most, "bounds")


def _overheads(sides: Sides) -> dict[str, Span]:
    found = {
        "overhead.per_round_ms": per_round(sides.case),
        "overhead.per_token_ms": per_token(sides.case, sides.facts),
        "restore_ms": _restore(sides),
        "overlap": _overlap(sides),
    }
    return {name: span for name, span in found.items() if span is not None}


def _request(sides: Sides) -> dict[str, Span]:
    """What a request pays beside its rounds. A drafter without weights has no prompt to pass over."""
    measurements = sides.case.measurements
    prefill = measurements.drafter_prefill_ms
    found = {
        "request.output_tokens": span_of(sides.facts.get("workload.output_tokens")),
        "request.first_token_ms": _stated(measurements.time_to_first_token_ms),
        "request.drafter_prefill_ms": Span.exact(0.0)
        if prefill is None and not sides.drafter_class.needs_weights
        else _stated(prefill),
    }
    return {name: span for name, span in found.items() if span is not None}


def _stated(quantity: Quantity | None) -> Span | None:
    return None if quantity is None else from_quantity(quantity)


def _restore(sides: Sides) -> Span:
    stated = span_of(sides.facts.get("restore.ms"))
    if stated is not None:
        return stated
    return Span(0.0, 0.0, UNBOUNDED) if restores(sides) else Span.exact(0.0)


def restores(sides: Sides) -> bool:
    """Whether a rejection makes this target restore a checkpoint."""
    hybrid = sides.case.target.kind in {"hybrid", "hybrid-moe"}
    return hybrid and sides.method is not None and sides.method.round.restores_hybrid


def _overlap(sides: Sides) -> Span:
    stated = sides.case.measurements.overlap
    order = None if sides.method is None else sides.method.round.order
    if sides.drafter_class.reads_hidden_states or order in {None, "serial", "cpu-overlap"}:
        return Span.exact(0.0)
    if stated is not None:
        return from_quantity(stated)
    return Span(0.0, 0.0, 1.0, "bounds")
