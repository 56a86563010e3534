"""The inputs of the formulas for one draft length, the round from its best source."""

from __future__ import annotations

from dataclasses import dataclass

from specrules.derive.round_basis import basis_of, basis_spans
from specrules.derive.round_costs import cost_spans, coverage_is_believed, drafter_cost_is_known
from specrules.derive.sides import Sides, acceptance_at
from specrules.derive.spans import Span, span_of
from specrules.model.prior import Prior, PriorQuantity


@dataclass(frozen=True, slots=True)
class RoundInputs:
    """The inputs of the formulas for one draft length, and where the round comes from."""

    draft_length: int
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
        "run.counts_tokens": sides.run is not None and sides.run.tokens is not None,
        "drafter.covers_every_round": sides.drafter_class.covers_every_round,
        **{f"policy.{name}": value for name, value in sides.thresholds.items()},
    }
    spans = {
        **_incumbent(sides),
        **cost_spans(sides, draft_length),
        **basis_spans(sides, basis, draft_length),
    }
    observed = acceptance_at(sides, draft_length)
    if observed is not None:
        how, intervals = observed.at(draft_length, spread=spread, chain=not sides.drafter_class.is_tree)
        fixed |= how
        spans |= intervals
    if basis == "measured-run" and sides.run is not None and sides.run.tokens is not None:
        fixed |= {"how": "measured"}
        spans = {name: span for name, span in spans.items() if not name.startswith("acceptance.")}
        spans["acceptance.tokens"] = sides.run.tokens
    return RoundInputs(draft_length, basis, fixed, spans)


def _incumbent(sides: Sides) -> dict[str, Span]:
    found = {
        "incumbent.rate_tok_s": span_of(sides.facts.get("incumbent.rate_tok_s")),
        "target.step_ms": sides.steps.plain,
        "target.declared_ms": sides.steps.declared,
    }
    return {name: span for name, span in found.items() if span is not None}


def priors_used(sides: Sides, inputs: RoundInputs) -> tuple[Prior, ...]:
    """The priors that stand in for measurements at this draft length."""
    used: dict[PriorQuantity, bool] = {
        "conditional_acceptance": sides.observed is None and inputs.fixed.get("how") == "conditional",
        "round_slope": inputs.basis == "prior-round",
        "verify_slope": inputs.basis in {"prior-verify", "predicted"},
        "depth_share": inputs.basis == "run-slope",
        "draft_cost": inputs.basis == "curve" and not drafter_cost_is_known(sides),
        "coverage": coverage_is_believed(sides),
    }
    found = (sides.beliefs.about(quantity, inputs.draft_length) for quantity, is_used in used.items() if is_used)
    return tuple(prior for prior in found if prior is not None)
