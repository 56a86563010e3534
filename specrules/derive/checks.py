"""The inputs of the rules that hold a case's numbers against each other and against the workload."""

from __future__ import annotations

from specrules.derive import consistency
from specrules.derive.conditions import Issues
from specrules.derive.mixture import mixed_drafters
from specrules.derive.scope import Dimension, gap, prompts, prompts_are_valid, ratio, scope
from specrules.derive.situation import Situation
from specrules.model.engine import KnownIssue
from specrules.model.fact import Facts

Values = dict[str, object]


def check_values(given: Situation) -> Values:
    """What rounds, commits, counters and conditions say of each other, under the names of `rules/inputs.yaml`."""
    return {**_incumbent(given), **_candidate(given), **_evidence(given.facts), **_scope(given)}


def trust_values(given: Situation, issues: Issues) -> Values:
    """Whether a known issue of the engine keeps a counter from meaning what it says, for each arm."""
    values: Values = {}
    for arm in ("candidate", "incumbent"):
        found = [issue for issue in issues.matching if _undermines(issue, arm, given)]
        open_ = [issue for issue in issues.undermining if _undermines(issue, arm, given)]
        notes = [f"{issue.title}: {issue.effect.rstrip('.')}" for issue in found or open_]
        values[f"{arm}.untrusted"] = float(len(found)) if found or not open_ else None
        values[f"{arm}.untrusted_note"] = "; ".join(notes) or None
    drafters, note = mixed_drafters(given.facts)
    if drafters and not values["incumbent.untrusted"]:
        values |= {"incumbent.untrusted": drafters, "incumbent.untrusted_note": note}
    return values


def _undermines(issue: KnownIssue, arm: str, given: Situation) -> bool:
    """Whether the issue concerns a number of this arm that is at hand."""
    known = {f"{arm}.{name}" for name in ("accepted_ratio", "tokens_per_round", "drafting")} & set(given.facts)
    if arm == "candidate" and consistency.accepted_ratio(given.sides) is not None:
        known.add("candidate.accepted_ratio")
    return not known.isdisjoint(issue.undermines)


def _incumbent(given: Situation) -> Values:
    over_step = consistency.round_over_step(given.sides)
    undrafted = consistency.commit_without_drafts(given.facts)
    return {
        "incumbent.round_over_step": over_step,
        "incumbent.step_comparable": over_step is not None,
        "incumbent.commit_without_drafts": undrafted,
        "incumbent.commit_counted": undrafted is not None,
    }


def _candidate(given: Situation) -> Values:
    over_pass, first = consistency.round_over_pass(given.sides), consistency.first_over_step(given.sides)
    found = prompts(given.case, given.facts)
    return {
        "candidate.accepted_ratio": consistency.accepted_ratio(given.sides),
        "candidate.drafting_share": consistency.drafting_share(given.facts),
        "candidate.round_variation": consistency.round_variation(given.sides),
        "candidate.round_over_pass": over_pass,
        "candidate.pass_comparable": over_pass is not None,
        "curve.first_over_step": first,
        "curve.step_comparable": first is not None,
        "acceptance.prompts": found,
        "acceptance.prompts_stated": found is not None,
        "acceptance.prompts_valid": prompts_are_valid(found),
    }


def _evidence(facts: Facts) -> Values:
    rounds, mismatch = consistency.rounds_over_passes(facts), consistency.round_mismatch(facts)
    mixed = consistency.mixed_runs(facts)
    return {
        "evidence.rounds_over_passes": rounds.value,
        "evidence.rounds_counted": rounds.value is not None,
        "evidence.rounds_note": rounds.note,
        "evidence.round_mismatch": mismatch.value,
        "evidence.round_timed": mismatch.value is not None,
        "evidence.round_note": mismatch.note,
        "evidence.mixed_runs": mixed.value,
        "evidence.mixed_note": mixed.note,
    }


def _scope(given: Situation) -> Values:
    held = scope(given.case, given.facts, given.sides.steps)
    values: Values = {}
    for item, name, distance in (
        (held.concurrency, "concurrency_factor", ratio),
        (held.context_tokens, "context_factor", ratio),
        (held.temperature, "temperature_gap", gap),
    ):
        apart = item.apart(distance)
        values[f"scope.{name}"] = apart
        values[f"scope.{_plain(item)}_stated"] = apart is not None
        values[f"scope.{_plain(item)}_note"] = item.note() or None
    unstated = [f"{_plain(item)} of {' and '.join(item.unstated)}" for item in held.dimensions if item.unstated]
    values["scope.unstated"] = float(sum(len(item.unstated) for item in held.dimensions))
    values["scope.unstated_note"] = ", ".join(unstated) or None
    return values


def _plain(item: Dimension) -> str:
    return "context" if item.name == "context_tokens" else item.name
