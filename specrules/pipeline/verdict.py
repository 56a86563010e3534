"""From a judged situation to the verdict that is reported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from specrules.decide import Table, deciding_gate
from specrules.derive.derived import derived_facts
from specrules.derive.flips import flip_points
from specrules.derive.information import chosen_most, worth
from specrules.derive.measurement import measurements
from specrules.derive.projection import AtDepth, break_even, formula_lines, missing_inputs, projection
from specrules.derive.rounds import priors_used
from specrules.derive.scope import scope
from specrules.derive.settings import settings
from specrules.derive.situation import Situation
from specrules.derive.tornado import tornado
from specrules.derive.values import Values, missing_asks
from specrules.model.base import Part
from specrules.model.engine import KnownIssue
from specrules.model.fact import Fact
from specrules.model.quantity import Provenance
from specrules.model.rule import RuleOutcome, SpeedupClass, VerdictName
from specrules.model.verdict import (
    Alternative,
    ArmName,
    Footer,
    FormulaLine,
    Gate,
    IncumbentSummary,
    LengthShare,
    PriorUse,
    Scope,
    Verdict,
)
from specrules.pipeline.wording import acceptance_notes, numbers_text, sentence

_SELDOM = 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    """A situation with its values, gates and the class of its speedup."""

    given: Situation
    values: Values
    gates: tuple[Gate, ...]
    parts: dict[Part, RuleOutcome]
    speedup_class: SpeedupClass
    decision: tuple[FormulaLine, ...]
    issues: tuple[KnownIssue, ...]


def build(judged: Judged, table: Table, path: str, footer: Footer, notices: Iterable[str]) -> Verdict:
    """Put the verdict together."""
    given = judged.given
    row = table.verdict(judged.parts, judged.speedup_class)
    economics = table.economics(judged.parts, judged.speedup_class).verdict
    projections = given.projections
    speedup = projections.envelope(lambda depth: depth.speedup)
    band = projections.envelope(lambda depth: depth.declared)
    best_needed, best_rate, length = projections.break_even_best, projections.rate_best, projections.verdict_length
    deciding = deciding_gate(row.verdict, judged.speedup_class, judged.gates)
    flips = flip_points(given.sides, given.arithmetic, projections, judged.speedup_class)
    known = worth(projections, given.sides.steps.plain)
    recipes = measurements(given, flips, judged.speedup_class, known)
    shown = projections.at(length) if length is not None else projections.at(best_needed or 3)
    is_tree = given.knowledge.drafter_class.is_tree
    return Verdict(
        case=path,
        title=given.case.title or f"{given.case.drafter.name} for {given.case.target.name}",
        target=given.case.target.name,
        drafter=given.case.drafter.name,
        engine=" ".join(filter(None, (given.knowledge.engine.title, given.case.engine.version))),
        verdict=row.verdict,
        economics=economics,
        sentence=sentence(row.verdict, economics, row.because, deciding, numbers_text(given, speedup, band)),
        because=row.because,
        deciding=None if deciding is None else deciding.id,
        best=_best(judged, row.verdict),
        band=band,
        speedup=speedup,
        speedup_class=judged.speedup_class,
        scope=_scope(given),
        request_speedup=None if shown is None else shown.outcome.at_mid("request_speedup"),
        alternatives=_alternatives(judged),
        incumbent=_incumbent(judged),
        break_even=tuple(break_even(item, best_needed, is_tree=is_tree) for item in projections.shown(best_needed)),
        projection=tuple(projection(item, best_rate) for item in projections.shown(best_rate)),
        acceptance_notes=acceptance_notes(given),
        gates=judged.gates,
        formulas=formula_lines(given.arithmetic, shown) if shown is not None else (),
        decision=judged.decision,
        flips=flips,
        tornado=tornado(given.arithmetic, shown) if shown is not None else (),
        best_lengths=_best_lengths(given),
        priors=_priors(given, shown),
        perfect_information_tok_s=None if known is None else known.of_all(),
        measurement=recipes[0] if recipes else None,
        runners_up=recipes[1:],
        settings=settings(given, length) if row.verdict == "deploy" else None,
        known_issues=tuple(_issue(issue) for issue in judged.issues),
        notices=tuple(notices),
        not_checked=_not_checked(judged),
        facts=_facts(given),
        missing=_missing(judged),
        footer=footer,
    )


def _best_lengths(given: Situation) -> tuple[LengthShare, ...]:
    """Draft lengths that are the best one in at least one sample of twenty, the likeliest first."""
    shares = chosen_most(given.projections)
    found = (
        LengthShare(draft_length=length, probability=share) for length, share in shares.items() if share >= _SELDOM
    )
    return tuple(sorted(found, key=lambda item: item.probability, reverse=True))


def _priors(given: Situation, shown: AtDepth | None) -> tuple[PriorUse, ...]:
    used = () if shown is None else priors_used(given.sides, shown.inputs)
    names = PriorUse.model_fields
    return tuple(PriorUse(**{name: getattr(prior, name) for name in names}) for prior in used)


def _scope(given: Situation) -> Scope:
    held = scope(given.case, given.facts, given.sides.steps)
    return Scope(
        concurrency=held.concurrency.value,
        context_tokens=held.context_tokens.value,
        temperature=held.temperature.value,
        text=held.text(),
    )


def _best(judged: Judged, verdict: VerdictName) -> ArmName:
    """The arm to run: off where it beats the incumbent, and the candidate too where that is to be deployed."""
    values = judged.values
    incumbent, off = _float(values.get("incumbent.rate_tok_s")), _comparable_off(values)
    if verdict == "invalid-evidence" or incumbent is None:
        return "unknown"
    if verdict == "deploy":
        candidate = _float(values.get("candidate.rate_tok_s"))
        return "off" if off is not None and candidate is not None and off > candidate else "candidate"
    if off is not None and off > incumbent and values.get("incumbent.drafting") is not False:
        return "off"
    return "incumbent" if verdict in {"blocked", "keep-incumbent", "marginal"} else "unknown"


def _comparable_off(values: Values) -> float | None:
    """The rate with drafting off, where it is not known to be of another kind than the incumbent's."""
    kinds = {values.get("incumbent.rate_kind"), values.get("off.rate_kind")} - {None}
    return _float(values.get("off.rate_tok_s")) if len(kinds) < 2 else None


def _alternatives(judged: Judged) -> tuple[Alternative, ...]:
    """The three arms. A rate that is not comparable with the incumbent's stands in the note only."""
    values, length = judged.values, judged.given.projections.verdict_length
    incumbent, candidate = _float(values.get("incumbent.rate_tok_s")), _float(values.get("candidate.rate_tok_s"))
    return (
        Alternative(name="incumbent", draft_length=_length(values), rate_tok_s=incumbent),
        Alternative(name="off", rate_tok_s=_comparable_off(values), note=_off_note(judged)),
        Alternative(name="candidate", draft_length=length, rate_tok_s=candidate),
    )


def _off_note(judged: Judged) -> str:
    values, steps = judged.values, judged.given.sides.steps
    off, kind = _float(values.get("off.rate_tok_s")), values.get("off.rate_kind")
    if values.get("incumbent.drafting") is False:
        return "the incumbent does not draft"
    if off is not None and _comparable_off(values) is None:
        return f"{off:.3g} tok/s as a {kind} rate, and the incumbent's is a {values.get('incumbent.rate_kind')} rate"
    if off is not None:
        return "" if "off.rate_tok_s" in judged.given.facts else "one token per plain step, decoding alone"
    plain = steps.plain_range()
    if plain is None:
        return ""
    return f"between {1000 / plain.high:.3g} and {1000 / plain.low:.3g} tok/s, from the incumbent's round"


def _incumbent(judged: Judged) -> IncumbentSummary:
    values, steps = judged.values, judged.given.sides.steps
    drafting, method = values.get("incumbent.drafting"), values.get("incumbent.method")
    return IncumbentSummary(
        drafting=drafting if isinstance(drafting, bool) else None,
        method=method if isinstance(method, str) else None,
        rate_tok_s=_float(values.get("incumbent.rate_tok_s")),
        tokens_per_round=1.0 if drafting is False else _float(values.get("incumbent.tokens_per_round")),
        round_ms=None if steps.incumbent_round is None else steps.incumbent_round.mid,
    )


def _issue(issue: KnownIssue) -> str:
    return f"{issue.title}: {issue.effect}" + (f" ({issue.link})" if issue.link else "")


def _facts(given: Situation) -> tuple[Fact, ...]:
    """Stated and read facts, then what follows from them, then the policy's limit of age that they are held against."""
    derived = [fact for name, fact in derived_facts(given).items() if name not in given.facts]
    limit = given.knowledge.thresholds["max_age_days"]
    policy = Fact(
        name="policy.max_age_days", value=limit, unit="days", provenance=Provenance(kind="catalogue", source="policy")
    )
    return (*given.facts.values(), *derived, policy)


def _not_checked(judged: Judged) -> tuple[str, ...]:
    """Gates that said nothing: not applicable, or unknown and what would settle them."""
    lines = []
    for gate in judged.gates:
        if gate.outcome == "not-applicable":
            lines.append(f"{gate.id}: does not apply ({gate.expression} is false)")
        elif gate.outcome == "unknown":
            asks = "; ".join(missing_asks(judged.given, gate.missing))
            lines.append(f"{gate.id}: unknown" + (f". {asks}" if asks else ""))
    return tuple(lines)


def _missing(judged: Judged) -> tuple[str, ...]:
    """Inputs that would settle a blocking gate or the speedup."""
    names = {
        name for gate in judged.gates if gate.severity == "block" and gate.outcome == "unknown" for name in gate.missing
    }
    length = judged.given.projections.verdict_length
    depth = judged.given.projections.at(length if length is not None else 3)
    if depth is not None:
        names |= set(missing_inputs(depth.outcome, "rate_tok_s", "speedup"))
    return tuple(sorted(names))


def _length(values: Values) -> int | None:
    length = values.get("incumbent.draft_length")
    return int(length) if isinstance(length, float) and values.get("incumbent.drafting") is True else None


def _float(value: object) -> float | None:
    return value if isinstance(value, float) else None


def footer_of(version: str, now: datetime, rules: str, inputs: str, overridden: tuple[str, ...]) -> Footer:
    """What makes a report reproducible."""
    return Footer(
        tool_version=version,
        now=now.isoformat(timespec="seconds"),
        rules_digest=rules,
        inputs_digest=inputs,
        overridden=overridden,
    )
