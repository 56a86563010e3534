"""A case to what the gate finds: its gates, its verdict, and the evidence that the policy asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from specrules.catalog.case import LoadedCase
from specrules.catalog.catalogue import Catalog
from specrules.catalog.policies import ACCEPTANCE, GATE_RULES, evidence_rule
from specrules.decide import part_outcomes
from specrules.derive.required import acceptance_fact, evidence_finding
from specrules.model.deployment import Place
from specrules.model.raw_finding import RawFinding
from specrules.model.rule import CLASSES, SpeedupClass, VerdictName
from specrules.model.verdict import Gate, Measurement, Verdict
from specrules.pipeline.gate_places import place_of_names, place_of_rule
from specrules.pipeline.gate_subject import VERDICT, Found, Means, verdict_outcome
from specrules.pipeline.rules import compiled
from specrules.pipeline.triage import triage

CONFIDENCE = "confidence"
_INTERVAL = 0.9
"""How much of the probability the intervals of a verdict hold: their low end vouches for no more."""

PlaceOf = Callable[[tuple[str, ...], Place], Place]
"""Where the first of some names is stated; the place in the case is given for names that stand nowhere else."""


def case_found(loaded: LoadedCase, means: Means) -> Found:
    """Judge a case. Raises a UserError for one that cannot be judged."""
    catalog = means.catalog
    verdict = triage(loaded, catalog=catalog, now=means.now, progress=means.progress, sources=means.sources)
    return Found(
        name=verdict.title,
        path=loaded.path,
        kind="case",
        summary=f"{verdict.verdict}: {verdict.drafter} for {verdict.target} on {verdict.engine}",
        raw=tuple(verdict_findings(verdict, loaded, means)),
        target=loaded.case.target.name,
        drafter=loaded.case.drafter.name,
        engine=catalog.engine(loaded.case.engine.id).model.id,
        version=loaded.case.engine.version,
        verdict=verdict.verdict,
        inputs=verdict.footer.inputs_digest,
        redecide=redecide(verdict, catalog),
    )


def verdict_findings(verdict: Verdict, loaded: LoadedCase, means: Means) -> Iterator[RawFinding]:
    """Everything that a verdict says: its gates, evidence that the policy asks for, how sure it is, and itself."""
    catalog = means.catalog
    rules, _ = compiled(catalog)
    for gate in verdict.gates:
        yield _gate(gate, place_of_rule(loaded, rules.get(gate.id)))
    yield from _evidence(verdict, loaded, catalog, means.now)
    sure = _confidence(verdict, loaded, catalog)
    if sure is not None:
        yield sure
    yield _verdict(verdict, loaded)


def redecide(verdict: Verdict, catalog: Catalog) -> Callable[[frozenset[str]], VerdictName]:
    """The verdict as it would be were some gates settled."""
    _, table = compiled(catalog)
    speedup: SpeedupClass = next(name for name in CLASSES if name == verdict.speedup_class)

    def again(settled: frozenset[str]) -> VerdictName:
        gates = [
            gate.model_copy(update={"outcome": "not-applicable"}) if gate.id in settled else gate
            for gate in verdict.gates
        ]
        return table.verdict(part_outcomes(gates), speedup).verdict

    return again


def _gate(gate: Gate, place: Place) -> RawFinding:
    return RawFinding(
        rule=gate.id,
        title=gate.title,
        part=gate.part,
        severity=gate.severity,
        outcome=gate.outcome,
        message=gate.message,
        expression=gate.expression,
        observed=gate.substituted,
        missing=gate.missing,
        fix=gate.fix,
        refs=gate.refs,
        place=place,
        key="",
    )


def _evidence(verdict: Verdict, loaded: LoadedCase, catalog: Catalog, now: datetime) -> Iterator[RawFinding]:
    facts = {fact.name: fact for fact in verdict.facts}
    facts |= acceptance_fact(ACCEPTANCE, loaded.case.measurements.acceptance)
    for name, asked in catalog.policy.evidence.items():
        found = evidence_finding(asked, facts, now)
        yield RawFinding(
            rule=evidence_rule(name),
            title=asked.title,
            part="e",
            severity=asked.severity,
            outcome=found.outcome,
            message=found.message,
            expression=found.expression,
            observed=found.observed,
            missing=found.missing,
            fix=asked.fix,
            place=place_of_names(loaded, (found.fact, "evidence")),
            key="",
        )


def _confidence(verdict: Verdict, loaded: LoadedCase, catalog: Catalog) -> RawFinding | None:
    """How sure a `deploy` is, where the policy asks. Nothing to say of other verdicts: they fail by themselves."""
    wanted = catalog.policy.thresholds.get(CONFIDENCE)
    if wanted is None or verdict.verdict != "deploy":
        return None
    known = verdict.speedup.probability_above_margin
    if known is None and wanted <= _INTERVAL:
        said = f"the whole {_INTERVAL:.0%} interval of the speedup clears the margin"
        outcome, shown = verdict_outcome("deploy"), f"interval of {_INTERVAL:g} >= {wanted:g}"
    elif known is None:
        said = f"an interval of {_INTERVAL:.0%} cannot vouch for {wanted:.3g}"
        outcome, shown = verdict_outcome("measure-first"), f"? >= {wanted:g}"
    else:
        said = f"the speedup clears the margin with a probability of {known:.3g}, and {wanted:.3g} is asked for"
        outcome = verdict_outcome("deploy" if known >= wanted else "keep-incumbent")
        shown = f"{known:.3g} >= {wanted:g}"
    return RawFinding(
        rule=CONFIDENCE,
        title=GATE_RULES[CONFIDENCE],
        part="c",
        severity="block",
        outcome=outcome,
        message=f"{said[:1].upper()}{said[1:]}.",
        expression="candidate.probability_above_margin >= policy.confidence",
        observed=shown,
        missing=("candidate.probability_above_margin",) if outcome == "unknown" else (),
        fix="Measure longer, over more requests.",
        place=place_of_names(loaded, ("measurements", "drafter")),
        key="",
    )


def _verdict(verdict: Verdict, loaded: LoadedCase) -> RawFinding:
    deciding = next((gate for gate in verdict.gates if gate.id == verdict.deciding), None)
    lines = [line for line in verdict.decision if line.result is True] or list(verdict.decision)
    if deciding is not None:
        expression, observed = deciding.expression, deciding.substituted
    else:
        expression, observed = (lines[0].expression, lines[0].substituted) if lines else ("", "")
    waits = verdict.verdict in {"measure-first", "marginal"}
    return RawFinding(
        rule=VERDICT,
        title=GATE_RULES[VERDICT],
        part="e",
        severity="block",
        outcome=verdict_outcome(verdict.verdict),
        message=verdict.sentence,
        expression=expression,
        observed=observed,
        missing=verdict.missing if waits else (),
        fix=_measure(verdict.measurement) if waits else "",
        place=place_of_names(loaded, ("drafter",)),
        key="",
    )


def _measure(measurement: Measurement | None) -> str:
    if measurement is None:
        return ""
    text = measurement.title or measurement.recipe
    return f"{text}: {measurement.command}" if measurement.command else text
