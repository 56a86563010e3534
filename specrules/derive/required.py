"""Evidence that a policy asks for, held against the facts of a case: how it is known, and how old it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from specrules.model.acceptance import Acceptance
from specrules.model.fact import Fact
from specrules.model.policy import RequiredEvidence
from specrules.model.quantity import Provenance
from specrules.model.rule import RuleOutcome
from specrules.templating import num

_DAY = 86400


@dataclass(frozen=True, slots=True)
class EvidenceFinding:
    """Whether one piece of evidence is there. `fact` is the name of the fact that decided, or of the first wanted."""

    outcome: RuleOutcome
    message: str
    expression: str
    observed: str
    fact: str
    missing: tuple[str, ...] = ()


def acceptance_fact(name: str, acceptance: Acceptance | None) -> dict[str, Fact]:
    """A stated acceptance as a fact, as far as its provenance goes; its numbers stay where they are."""
    if acceptance is None:
        return {}
    origin = Provenance(kind=acceptance.provenance_kind, source=acceptance.source, observed_at=acceptance.observed_at)
    return {name: Fact(name=name, value=acceptance.kind, provenance=origin)}


def evidence_finding(asked: RequiredEvidence, facts: Mapping[str, Fact], now: datetime) -> EvidenceFinding:
    """Judge one piece of evidence by the best of its facts.

    Known in another way fails, and so does one that is too old or lies in the future; what nobody stated, or stated
    without a date, is unknown.
    """
    found = [_judge(asked, facts[name], now) for name in asked.facts if name in facts]
    expression = _expression(asked)
    if not found:
        message = f"{asked.title}: nothing says {' or '.join(asked.facts)}."
        return EvidenceFinding("unknown", message, expression, _shown(asked, None, None), asked.facts[0], asked.facts)
    return min(found, key=lambda item: ("pass", "unknown", "fail").index(item.outcome))


def _judge(asked: RequiredEvidence, fact: Fact, now: datetime) -> EvidenceFinding:
    kind, observed_at = fact.provenance.kind, fact.provenance.observed_at
    age = None if observed_at is None else (now - observed_at).total_seconds() / _DAY
    limit = asked.max_age_days
    outcome: RuleOutcome = "pass"
    if kind not in asked.kinds:
        outcome, said = "fail", f"{fact.name} is {kind}, and the policy takes {' or '.join(asked.kinds)}"
    elif age is not None and age < 0:
        outcome, said = "fail", f"{fact.name} was observed after now"
    elif limit is None:
        said = f"{fact.name} is {kind}"
    elif age is None:
        outcome, said = "unknown", f"nobody says when {fact.name} was observed, and the limit is {num(limit, 'days')}"
    elif age > limit:
        outcome, said = "fail", f"{fact.name} is {num(age, 'days')} old, and the limit is {num(limit, 'days')}"
    else:
        said = f"{fact.name} is {kind}, {num(age, 'days')} old"
    missing = (fact.name,) if outcome == "unknown" else ()
    shown = _shown(asked, kind, age)
    return EvidenceFinding(outcome, f"{asked.title}: {said}.", _expression(asked), shown, fact.name, missing)


def _expression(asked: RequiredEvidence) -> str:
    kinds = ", ".join(f'"{kind}"' for kind in asked.kinds)
    return f"kind in [{kinds}]" + ("" if asked.max_age_days is None else f" and age_days <= {asked.max_age_days:g}")


def _shown(asked: RequiredEvidence, kind: str | None, age: float | None) -> str:
    kinds = ", ".join(f'"{one}"' for one in asked.kinds)
    text = f"{'?' if kind is None else json_text(kind)} in [{kinds}]"
    if asked.max_age_days is None:
        return text
    return f"{text} and {'?' if age is None else f'{age:.1f}'} <= {asked.max_age_days:g}"


def json_text(text: str) -> str:
    """A text in double quotes, as expressions show it."""
    return f'"{text}"'
