"""The values of every input that rules may read, under the names of `rules/inputs.yaml`. None is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from specrules.derive import devices
from specrules.derive.acceptance import stated_acceptance
from specrules.derive.checks import check_values, trust_values
from specrules.derive.combinations import combination
from specrules.derive.conditions import Issues, known_issues, tokenizer_gate, tokenizers
from specrules.derive.flags import check_flags
from specrules.derive.methods import Finding, attachment, in_version, stated_methods
from specrules.derive.projection import needed_acceptance
from specrules.derive.sides import acceptance_at
from specrules.derive.situation import Situation
from specrules.derive.spans import Span, span_of
from specrules.model.engine import KnownIssue
from specrules.model.fact import Disagreement
from specrules.model.version import version_key

Values = dict[str, object]


@dataclass(frozen=True, slots=True)
class EvidenceState:
    """What reading the evidence files turned up beside the facts themselves."""

    disagreements: tuple[Disagreement, ...] = ()
    contradictions: tuple[str, ...] = ()
    unread_lines: int = 0


def input_values(given: Situation, evidence: EvidenceState, now: datetime) -> tuple[Values, tuple[KnownIssue, ...]]:
    """Every declared input, and the known issues of the engine that match this case."""
    values: Values = {item.name: given.facts.value(item.name) for item in given.knowledge.inputs}
    values |= {f"policy.{name}": value for name, value in given.knowledge.thresholds.items()}
    values |= _drafter(given)
    values |= _engine(given)
    values |= _arms(given)
    values |= _candidate(given)
    values |= _evidence(given, evidence, now)
    values |= check_values(given)
    issues = known_issues(given.case, given.knowledge.engine, given.knowledge.symbols, values)
    return values | _issues(issues) | trust_values(given, issues), issues.matching


def _issues(issues: Issues) -> Values:
    """A fatal issue that matches is enough; without one, a fatal issue that may match leaves it unknown."""
    fatal, undecided = issues.fatal, issues.undecided
    listed = fatal or undecided
    return {
        "engine.matching_issues": float(len(issues.matching)),
        "engine.fatal_issues": float(len(fatal)) if fatal or not undecided else None,
        "engine.fatal_note": "; ".join(f"{issue.title}: {issue.effect.rstrip('.')}" for issue in listed) or None,
    }


def _drafter(given: Situation) -> Values:
    kind = given.knowledge.drafter_class
    target_kind = given.case.target.kind
    return {
        "target.is_hybrid": None if target_kind is None else target_kind.startswith("hybrid"),
        "target.step_ms": _mid(given.sides.steps.plain),
        "drafter.kind": kind.id,
        "drafter.target_specific": kind.target_specific,
        "drafter.needs_tokenizer_match": kind.needs_tokenizer_match,
        "drafter.needs_weights": kind.needs_weights,
        "drafter.covers_every_round": kind.covers_every_round,
        **_memory(given),
    }


def _memory(given: Situation) -> Values:
    """What the drafter needs at most and what is free at least: a fit is planned with the bad ends."""
    needed = span_of(given.facts.get("drafter.memory_gib"))
    read = span_of(given.facts.get("drafter.device_free_gib"))
    stated = devices.free_memory(given.case)
    return {
        "drafter.memory_gib": None if needed is None else needed.high,
        "drafter.device_free_gib": read.low if stated is None and read is not None else stated,
    }


def _engine(given: Situation) -> Values:
    case, engine, method = given.case, given.knowledge.engine, given.sides.method
    attaches, routes = attachment(case, engine), devices.routing(case, engine, method)
    together, beside = combination(case, engine), devices.coexistence(case, engine)
    flags = check_flags(case, engine)
    gate = tokenizer_gate(engine, method)
    values: Values = {
        "engine.id": engine.id,
        "engine.version_number": _build_number(given),
        "engine.method": None if method is None else method.id,
        "engine.methods": stated_methods(case, engine) or (None if method is None else (method.id,)),
        "engine.backends": devices.build_backends(case, engine) or None,
        **_finding("engine.attaches", "engine.attach_note", attaches),
        "engine.method_in_version": in_version(case, engine, method),
        **_finding("engine.routes_drafter", "engine.routing_note", routes),
        **_finding("engine.backends_coexist", "engine.backends_note", beside),
        **_finding("engine.combination_loads", "engine.combination_note", together),
        "engine.bad_flags": None if flags.bad is None else float(flags.bad),
        "engine.flags_note": flags.note,
        "engine.ignores_drafter_device": _ignores_device(given),
        "engine.drafts_despite_mismatch": gate is not None
        and any(check.otherwise == "accepted-though-wrong" for check in gate.checks),
        "engine.checks_tokenizer": None if method is None else gate is not None,
        "engine.max_verify_rows": _number(devices.row_limit(case, engine)),
        "engine.restores_hybrid": None if method is None else method.round.restores_hybrid,
        "engine.lossless": None if method is None else method.lossless,
        "engine.lossless_note": None if method is None else method.lossless_note or None,
    }
    if gate is not None:
        known = {item.name: given.facts.value(item.name) for item in given.knowledge.inputs}
        pair = tokenizers(case, engine, gate, given.knowledge.symbols, known)
        values |= _finding("engine.accepts_tokenizer", "engine.tokenizer_note", pair)
    return values


def _ignores_device(given: Situation) -> bool | None:
    """Whether a device for the drafter would be taken and not obeyed; unknown where that depends on the file."""
    method, routing = given.sides.method, given.knowledge.engine.devices.draft_routing
    if method is None or method.draft_device == "conditional":
        return None
    return routing.flag is not None and method.draft_device == "same-device"


def _arms(given: Situation) -> Values:
    """The incumbent, and drafting off: its measured rate, else one token per plain step, which is decoding alone."""
    facts, plain = given.facts, given.sides.steps.plain
    off, kind = facts.number("off.rate_tok_s"), facts.value("off.rate_kind")
    if off is None and facts.value("incumbent.drafting") is False:
        off, kind = facts.number("incumbent.rate_tok_s"), facts.value("incumbent.rate_kind")
    if off is None and plain is not None:
        off, kind = 1000 / plain.mid, "decode"
    return {
        "incumbent.configured": True
        if facts.value("incumbent.method") is not None
        else facts.value("incumbent.drafting"),
        "off.rate_tok_s": off,
        "off.rate_kind": kind,
    }


def _candidate(given: Situation) -> Values:
    projections, sides = given.projections, given.sides
    length = projections.verdict_length
    depth = projections.at(length) if length is not None else None
    envelope = projections.envelope(lambda item: item.speedup)
    best = projections.break_even_best
    observed = sides.observed
    known = acceptance_at(sides, length or 3)
    concurrency = given.case.workload.concurrency
    measured = given.facts.number("candidate.rate_tok_s") is not None or (
        given.facts.value("candidate.drafting") is not None
    )
    return {
        "candidate.measured": measured or given.facts.value("candidate.died_at_load") is True,
        "candidate.died_at_load": given.facts.value("candidate.died_at_load") is True,
        "candidate.rate_tok_s": depth.outcome.at_mid("rate_tok_s") if depth else None,
        "candidate.draft_length": _number(length),
        "candidate.tokens_per_round": depth.outcome.at_mid("tokens_per_round") if depth else None,
        "candidate.round_ms": depth.outcome.at_mid("round_ms") if depth else None,
        "candidate.verify_rows": None if length is None or concurrency is None else float((length + 1) * concurrency),
        "candidate.speedup_low": envelope.low,
        "candidate.speedup_mid": depth.speedup.mid if depth else None,
        "candidate.speedup_high": envelope.high,
        "candidate.probability_above_margin": envelope.probability_above_margin,
        "candidate.round_over_step": _round_over_step(given),
        "candidate.step_comparable": _round_over_step(given) is not None,
        "break_even.possible": _any_possible(given),
        "break_even.draft_length": _number(best),
        "break_even.conditional_acceptance": _smallest_p(given),
        "acceptance.kind": None if known is None else known.kind,
        "acceptance.draft_length": None if observed is None else _number(observed.depth),
        "acceptance.extrapolation": _extrapolation(length, None if observed is None else observed.depth),
    }


def _evidence(given: Situation, evidence: EvidenceState, now: datetime) -> Values:
    dates = list(_dates(given))
    return {
        "evidence.disagreements": float(len(evidence.disagreements)),
        "evidence.disagreement_note": "; ".join(item.describe() for item in evidence.disagreements) or None,
        "evidence.contradictions": float(len(evidence.contradictions)),
        "evidence.contradiction_note": "; ".join(evidence.contradictions) or None,
        "evidence.unread_lines": float(evidence.unread_lines),
        "evidence.oldest_days": (now - min(dates)).total_seconds() / 86400 if dates else None,
    }


def _dates(given: Situation) -> Iterator[datetime]:
    """When the facts were observed, and what the case keeps as lists: acceptance and verify curve."""
    stated = stated_acceptance(given.case)
    points = (point.ms.observed_at for point in given.case.measurements.verify_curve)
    facts = (fact.provenance.observed_at for fact in given.facts.values())
    for moment in (*facts, *points, None if stated is None else stated.observed_at):
        if moment is not None:
            yield moment


def _round_over_step(given: Situation) -> float | None:
    """The measured round over the plain step, at the top of both errors: below 1 the baseline is not comparable."""
    run, plain = given.sides.run, given.sides.steps.plain
    if run is None or run.tokens is None or plain is None:
        return None
    tolerance = given.sides.thresholds["unknown_error"]
    longest_round = 1000 * run.tokens.high / run.rate.low
    shortest_step = plain.low if plain.low < plain.high else plain.low * (1 - tolerance)
    return longest_round / shortest_step


def _any_possible(given: Situation) -> bool | None:
    needs = [
        (depth.outcome.ends("break_even.tokens_per_round")[0], depth.draft_length)
        for depth in given.projections.depths
        if depth.draft_length in given.projections.feasible
    ]
    if any(need is not None and need <= length + 1 for need, length in needs):
        return True
    return None if any(need is None for need, _ in needs) else False


def _smallest_p(given: Situation) -> float | None:
    best = given.projections.break_even_best
    depth = given.projections.at(best) if best is not None else None
    return needed_acceptance(depth) if depth and not given.knowledge.drafter_class.is_tree else None


def _extrapolation(length: int | None, depth: int | None) -> float | None:
    return None if length is None or depth is None else max(length / depth, depth / length)


def _build_number(given: Situation) -> float | None:
    engine, version = given.knowledge.engine, given.case.engine.version
    if version is None or engine.version.scheme != "build":
        return None
    return float(version_key(version, "build")[0])


def _finding(name: str, note: str, finding: Finding) -> Values:
    return {name: finding.holds, note: finding.note}


def _mid(span: Span | None) -> float | None:
    return None if span is None else span.mid


def _number(value: int | None) -> float | None:
    return None if value is None else float(value)


def missing_asks(given: Situation, missing: Sequence[str]) -> tuple[str, ...]:
    """What a user does to make these inputs known, where the declaration says so."""
    asks = {item.name: item.ask for item in given.knowledge.inputs}
    return tuple(f"{name}: {asks[name]}" for name in missing if asks.get(name))
