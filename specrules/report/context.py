"""What the templates need beside the verdict itself: rows that join its parts, and ages. Pure, no formatting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from specrules.model.fact import Fact, FactValue
from specrules.model.quantity import ProvenanceKind
from specrules.model.rule import RuleOutcome
from specrules.model.verdict import Alternative, ArmName, BreakEven, Gate, Projection, Verdict

ARMS: tuple[ArmName, ...] = ("incumbent", "off", "candidate")
IMPOSSIBLE = "impossible"
_SETTLED: tuple[RuleOutcome, ...] = ("pass", "not-applicable")


@dataclass(frozen=True)
class Source:
    """Where a number comes from, and how old it is. `age` is empty where nobody said when it was observed."""

    kind: ProvenanceKind
    text: str
    age: str
    stale: bool


@dataclass(frozen=True)
class ArmRow:
    """One arm of the comparison. `drafts` is None where that is unknown, `source` where no fact gives the rate."""

    name: ArmName
    drafts: bool | None
    draft_length: int | None
    rate_tok_s: float | None
    rate_kind: str
    tokens_per_round: float | None
    source: Source | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class BreakEvenRow:
    """What pays at one draft length; `impossible` in place of acceptances that no drafter can reach."""

    point: BreakEven
    conditional_acceptance: float | str | None
    accepted_ratio: float | str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ProjectionRow:
    """What the candidate would do at one draft length."""

    point: Projection
    notes: tuple[str, ...]


@dataclass(frozen=True)
class FactRow:
    """One fact with its source."""

    name: str
    value: FactValue
    unit: str
    low: float | None
    high: float | None
    source: Source


@dataclass(frozen=True)
class OffFirst:
    """Both rates, where drafting off beats an incumbent that drafts."""

    off_tok_s: float
    incumbent_tok_s: float


def context(verdict: Verdict) -> dict[str, Any]:
    """Return the names that the templates of one verdict may use."""
    sources = _sources(verdict)
    common, projected = common_basis(verdict.break_even), common_basis(verdict.projection)
    return {
        "verdict": verdict,
        "off_first": off_first(verdict),
        "deciding": deciding_gate(verdict),
        "arms": arm_rows(verdict, sources),
        "incumbent_arm": arm_of(verdict, "incumbent"),
        "candidate_arm": arm_of(verdict, "candidate"),
        "break_even": tuple(break_even_row(point, common) for point in verdict.break_even),
        "break_even_basis": common,
        "depends_on_round": any(not point.settled for point in verdict.break_even),
        "projection": tuple(projection_row(point, projected) for point in verdict.projection),
        "projection_basis": projected,
        "open_gates": open_gates(verdict),
        "fact_rows": tuple(
            FactRow(fact.name, fact.value, fact.unit, fact.low, fact.high, sources[fact.name]) for fact in verdict.facts
        ),
    }


def off_first(verdict: Verdict) -> OffFirst | None:
    """Return both rates where the incumbent drafts and would be faster with drafting off, None otherwise."""
    off, incumbent = arm_of(verdict, "off").rate_tok_s, arm_of(verdict, "incumbent").rate_tok_s
    if verdict.incumbent.drafting is not True or off is None or incumbent is None or off <= incumbent:
        return None
    return OffFirst(off, incumbent)


def deciding_gate(verdict: Verdict) -> Gate | None:
    """Return the gate that the verdict names as the one that made it."""
    return next((gate for gate in verdict.gates if gate.id == verdict.deciding), None)


def open_gates(verdict: Verdict) -> tuple[Gate, ...]:
    """Return the gates that are neither passed nor out of place."""
    return tuple(gate for gate in verdict.gates if gate.outcome not in _SETTLED)


def arm_rows(verdict: Verdict, sources: Mapping[str, Source]) -> tuple[ArmRow, ...]:
    """Return the arms in their fixed order, each alternative once; an arm that nobody stated is a row of unknowns."""
    kinds = {fact.name: fact.value for fact in verdict.facts if isinstance(fact.value, str)}
    return tuple(
        ArmRow(
            name=arm.name,
            drafts={"incumbent": verdict.incumbent.drafting, "off": False}.get(arm.name, True),
            draft_length=arm.draft_length,
            rate_tok_s=arm.rate_tok_s,
            rate_kind=kinds.get(f"{arm.name}.rate_kind", ""),
            tokens_per_round=_tokens_per_round(verdict, arm),
            source=sources.get(f"{arm.name}.rate_tok_s"),
            notes=_said((arm.name == verdict.best, "best"), (bool(arm.note), arm.note)),
        )
        for name in ARMS
        for arm in _alternatives(verdict, name)
    )


def arm_of(verdict: Verdict, name: ArmName) -> Alternative:
    """Return the first alternative of that name, one without numbers where the verdict has none."""
    return _alternatives(verdict, name)[0]


def _alternatives(verdict: Verdict, name: ArmName) -> list[Alternative]:
    fallback = Alternative(name=name, rate_tok_s=verdict.incumbent.rate_tok_s if name == "incumbent" else None)
    return [arm for arm in verdict.alternatives if arm.name == name] or [fallback]


def _tokens_per_round(verdict: Verdict, arm: Alternative) -> float | None:
    if arm.name == "off":
        return 1.0
    if arm.name == "incumbent":
        return verdict.incumbent.tokens_per_round
    return next((row.tokens_per_round for row in verdict.projection if row.draft_length == arm.draft_length), None)


def common_basis(points: Sequence[BreakEven | Projection]) -> str:
    """Return where the rounds come from if all of them come from the same, else nothing."""
    found = {point.basis for point in points}
    return found.pop() if len(found) == 1 else ""


def break_even_row(point: BreakEven, common: str = "") -> BreakEvenRow:
    """Return a break-even point with what is to be said about it; a basis that all share is said below the table."""
    impossible = point.possible is False
    return BreakEvenRow(
        point=point,
        conditional_acceptance=IMPOSSIBLE if impossible else point.conditional_acceptance,
        accepted_ratio=IMPOSSIBLE if impossible else point.accepted_ratio,
        notes=_said(
            (point.is_best, "needs the smallest p"),
            (not point.settled, "(1)"),
            (point.beats_off is False, "never better than drafting off"),
            (point.basis != common, f"round: {point.basis}"),
        ),
    )


def projection_row(point: Projection, common: str = "") -> ProjectionRow:
    """Return a projection with what is to be said about it; a basis that all share is said below the table."""
    return ProjectionRow(
        point, _said((point.is_best, "highest rate"), (point.basis != common, f"round: {point.basis}"))
    )


def _said(*notes: tuple[bool, str]) -> tuple[str, ...]:
    return tuple(text for applies, text in notes if applies)


def _sources(verdict: Verdict) -> dict[str, Source]:
    now = _moment(verdict.footer.now)
    limits = {fact.name: fact.value for fact in verdict.facts if isinstance(fact.value, float)}
    return {fact.name: source(fact, now, limits) for fact in verdict.facts}


def source(fact: Fact, now: datetime | None, limits: Mapping[str, float]) -> Source:
    """Return where a fact comes from: its source, or the formula of a derived fact, as symbols and with values.

    It is stale when it is older than the policy's limit for its kind, where the limit is among the facts of the
    verdict: `policy.max_age_days_<kind>`, or `policy.max_age_days` for all kinds.
    """
    observed = fact.provenance.observed_at
    days = None if now is None or observed is None else (now - observed).total_seconds() / 86400
    kind = fact.provenance.kind
    limit = limits.get(f"policy.max_age_days_{kind.replace('-', '_')}", limits.get("policy.max_age_days"))
    return Source(
        kind=kind,
        text=fact.provenance.source or " = ".join(filter(None, (fact.formula, fact.substituted))),
        age="" if days is None else age(days),
        stale=days is not None and limit is not None and days > limit,
    )


def age(days: float) -> str:
    """Return an age in the largest of days, hours and minutes that tells it well: `40 min`, `30 h`, `3 d`."""
    if days < 0:
        return "after now"
    minutes = int(days * 24 * 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} d"


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
