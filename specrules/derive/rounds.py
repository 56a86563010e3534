"""The inputs of the formulas for one draft length, the round from its best source."""

from __future__ import annotations

from dataclasses import dataclass

from specrules.derive.round_basis import basis_of, basis_spans
from specrules.derive.round_costs import cost_spans, coverage_is_believed, drafter_cost_is_known
from specrules.derive.sides import Sides
from specrules.derive.spans import Span, span_of
from specrules.model.prior import Prior


@dataclass(frozen=True, slots=True)
class RoundInputs:
    """The inputs of the formulas for one draft length, and where the round comes from."""

    basis: str
    fixed: dict[str, object]
    spans: dict[str, Span]


def round_inputs(sides: Sides, draft_length: int, *, spread: bool = True) -> RoundInputs:
    """Choose the best source of the round at this draft length and collect its inputs."""
    basis = basis_of(sides, draft_length)
    fixed: dict[str, object] = {
        "draft_length": float(draft_length),
        "basis": basis,
        "drafter.is_tree": sides.drafter_class.is_tree,
        "drafter.covers_every_round": sides.drafter_class.covers_every_round,
        **{f"policy.{name}": value for name, value in sides.thresholds.items()},
    }
    spans = {
        **_incumbent(sides),
        **cost_spans(sides, draft_length),
        **basis_spans(sides, basis, draft_length),
    }
    if sides.observed is not None:
        how, intervals = sides.observed.at(draft_length, spread=spread, chain=not sides.drafter_class.is_tree)
        fixed |= how
        spans |= intervals
    if basis == "measured-run" and sides.run is not None and sides.run.tokens is not None:
        fixed |= {"how": "measured"}
        spans = {name: span for name, span in spans.items() if not name.startswith("acceptance.")}
        spans["acceptance.tokens"] = sides.run.tokens
    return RoundInputs(basis, fixed, spans)


def _incumbent(sides: Sides) -> dict[str, Span]:
    found = {
        "incumbent.rate_tok_s": span_of(sides.facts.get("incumbent.rate_tok_s")),
        "target.step_ms": sides.steps.plain,
        "target.declared_ms": sides.steps.declared,
    }
    return {name: span for name, span in found.items() if span is not None}


def priors_used(sides: Sides, inputs: RoundInputs) -> tuple[Prior, ...]:
    """The priors that stand in for measurements at this draft length."""
    found = [
        sides.beliefs.about("conditional_acceptance") if sides.observed and sides.observed.kind == "prior" else None,
        sides.beliefs.about("round_slope") if inputs.basis == "prior-round" else None,
        sides.beliefs.about("verify_slope") if inputs.basis in {"prior-verify", "predicted"} else None,
        sides.beliefs.about("draft_cost") if inputs.basis == "curve" and not drafter_cost_is_known(sides) else None,
        sides.beliefs.about("coverage") if coverage_is_believed(sides) else None,
    ]
    return tuple(prior for prior in found if prior is not None)
