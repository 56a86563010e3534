"""A deployment file to what the gate finds in it, with the numbers of a case where one stands beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

from specrules.catalog.case import LoadedCase
from specrules.catalog.catalogue import Catalog
from specrules.catalog.digest import FileDigest, digest, short
from specrules.catalog.policies import GATE_RULES
from specrules.catalog.validate import check
from specrules.errors import LoadError, Location, Problem, UserError
from specrules.evidence.source import STDIN, STDIN_NAME
from specrules.model.case import Case
from specrules.model.deployment import Deployment, Launch, Place
from specrules.model.raw_finding import RawFinding, Speculation
from specrules.model.rule import RuleOutcome, Severity
from specrules.pipeline.deployment_files import DeploymentReading, read_deployments
from specrules.pipeline.deployments import NOTHING_CONFIGURED, deployment_findings
from specrules.pipeline.gate_subject import Found, Means

SPECULATION = "speculation-configured"
RECOGNISED = "engine-recognised"
CASE_GIVEN = "case-given"
_ANY_FILE = "config"
"""The format of YAML and JSON that no reader knows better; without a launch in it nobody knows what it is."""
_MOST_NAMED = 5
_JUDGED_BY_SETTING = frozenset(
    {
        "attachment-surface",
        "backends-coexist",
        "combination-loads",
        "device-routing",
        "fatal-issues",
        "flags-valid",
        "head-for-checkpoint",
        "incumbent-already-drafts",
        "known-issues",
        "lossless",
        "method-in-version",
        "verify-width",
    }
)
"""Gates of a case whose question the rules for deployments ask of the very setting. They still make the verdict."""


def file_found(path: str, case: LoadedCase | None, means: Means) -> Iterator[Found | Problem]:
    """Judge every deployment in a file; what in it cannot be read or judged comes as problems among them."""
    reading = read_deployments(path, means.catalog)
    path = STDIN_NAME if path == STDIN else path
    yield from reading.problems
    for deployment in reading.deployments:
        try:
            yield _deployment(path, deployment, case, means)
        except UserError as error:
            yield from (
                replace(item, where=item.where or _location(deployment.launch.place)) for item in error.problems
            )
    if reading.others or not (reading.deployments or reading.problems):
        yield from _others(path, reading)


def _deployment(path: str, deployment: Deployment, case: LoadedCase | None, means: Means) -> Found:
    catalog = means.catalog
    said = deployment_findings(deployment, catalog, catalog.policy.thresholds, means.now, case)
    raw = [*said.findings, *_own(deployment, said.speculation, catalog, has_case=case is not None)]
    found = Found(
        name=deployment.launch.name,
        path=path,
        kind="deployment",
        summary=said.summary,
        raw=tuple(raw),
        target=_text(deployment, "target.name", "target.file"),
        drafter=_text(deployment, "drafter.name", "drafter.file"),
        engine=deployment.engine,
        version=deployment.version,
        inputs=_inputs(deployment),
    )
    if case is None or said.speculation == "off":
        return found
    return _with_numbers(found, deployment, case, means)


def _with_numbers(found: Found, deployment: Deployment, case: LoadedCase, means: Means) -> Found:
    """Add the verdict on what is deployed. A case for another engine has no numbers for this one."""
    catalog = means.catalog
    found = replace(
        found,
        case=case.path,
        target=found.target or case.case.target.name,
        drafter=found.drafter or case.case.drafter.name,
    )
    if catalog.engine(case.case.engine.id).model.id != deployment.engine:
        return found
    from specrules.pipeline.gate_case import redecide, verdict_findings
    from specrules.pipeline.triage import triage

    merged = _merged(deployment, case, catalog)
    verdict = triage(merged, catalog=catalog, now=means.now, progress=means.progress, sources=means.sources)
    place = deployment.launch.place
    both = (FileDigest("deployment", found.inputs), FileDigest("case", verdict.footer.inputs_digest))
    raw = [item for item in verdict_findings(verdict, merged, means) if item.rule not in _JUDGED_BY_SETTING]
    return replace(
        found,
        summary=f"{found.summary}; {verdict.verdict}",
        raw=(*found.raw, *(_in_file(item, place) for item in raw)),
        verdict=verdict.verdict,
        inputs=short(digest(both)),
        redecide=redecide(verdict, catalog),
    )


def _in_file(item: RawFinding, place: Place) -> RawFinding:
    """The verdict is about the deployment, and shown where that begins; gates stay at the numbers that they read."""
    return item.model_copy(update={"place": place}) if item.rule in {"verdict", "confidence"} else item


def _merged(deployment: Deployment, case: LoadedCase, catalog: Catalog) -> LoadedCase:
    """The case with what is deployed in place of what it says about that. LoadError where they do not go together."""
    from specrules.derive.deployed.case import case_data

    data = case_data(deployment, catalog.engine(deployment.engine).model, case.document.data)
    document = replace(case.document, data=data)
    model, problems = check(document, Case)
    if model is None:
        raise LoadError(problems)
    return replace(case, case=model, document=document)


def _own(deployment: Deployment, speculation: Speculation, catalog: Catalog, *, has_case: bool) -> Iterator[RawFinding]:
    """What the gate asks beside the rules: whether speculation is wanted, and whether there are numbers for it."""
    policy, place = catalog.policy, deployment.launch.place
    wanted = policy.speculation == "required"
    if speculation == "off":
        outcome: RuleOutcome = "fail" if wanted else "not-applicable"
        why = ", and the policy requires it" if wanted else ""
        yield _finding(SPECULATION, outcome, f"{NOTHING_CONFIGURED}{why}", place, fix="Switch a drafting method on.")
    elif wanted:
        outcome = "unknown" if speculation == "unknown" else "pass"
        said = "Whether speculation is configured is not known" if outcome == "unknown" else "Speculation is configured"
        yield _finding(SPECULATION, outcome, f"{said}.", place, missing=("engine.methods",) * (outcome == "unknown"))
    if speculation != "off" and policy.case == "required":
        outcome = "pass" if has_case else "unknown"
        said = "A case gives" if has_case else "No case gives"
        fix = "" if has_case else "Write a case beside the file, as NAME.specrules.yaml, or name one with --case."
        yield _finding(CASE_GIVEN, outcome, f"{said} the numbers that say whether drafting pays.", place, fix=fix)


def _others(path: str, reading: DeploymentReading) -> Iterator[Found]:
    """Processes that no engine recognises. Beside a recognised one they are only mentioned: sidecars are no engines."""
    place = reading.others[0].place if reading.others else Place(path=path)
    if reading.format == _ANY_FILE and not reading.deployments:
        summary = "not judged, neither a case nor a deployment"
        message = "Nothing in this file is known: no case, no process and no configuration of an engine."
        raw = _finding(RECOGNISED, "unknown", message, place, fix="Leave the file out, or waive this for it.")
    elif reading.others:
        summary, raw = "not judged, no engine is recognised", _unrecognised(reading)
    else:
        summary = f"no process is started in this file ({reading.format})"
        message = f"{summary[:1].upper()}{summary[1:]}."
        raw = _finding(RECOGNISED, "not-applicable", message, place)
    yield Found(name=path, path=path, kind="deployment", summary=summary, raw=(raw,))


def _unrecognised(reading: DeploymentReading) -> RawFinding:
    """One finding for all processes of a file that no engine recognises, at the first of them."""
    named = list(dict.fromkeys(map(_named, reading.others)))
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    start = "starts" if len(named) == 1 else "start"
    return _finding(
        RECOGNISED,
        "unknown",
        f"Which engine {', '.join(named[:_MOST_NAMED])}{more} {start} is not known, so this was not judged.",
        reading.others[0].place,
        severity="info" if reading.deployments else "block",
        fix="" if reading.deployments else "Describe the engine (specrules engines new), or waive this for the file.",
    )


def _named(launch: Launch) -> str:
    """A launch by its name and by what tells it from its neighbours: its image, else its program."""
    first = launch.image or next(iter(launch.command), None)
    return launch.name if first is None else f"{launch.name} ({first.text})"


def _finding(
    rule: str,
    outcome: RuleOutcome,
    message: str,
    place: Place,
    *,
    severity: Severity = "block",
    key: str = "",
    missing: tuple[str, ...] = (),
    fix: str = "",
) -> RawFinding:
    return RawFinding(
        rule=rule,
        title=GATE_RULES[rule],
        part="d",
        severity=severity,
        outcome=outcome,
        message=message,
        missing=missing,
        fix=fix if outcome in {"fail", "unknown"} else "",
        place=place,
        key=key,
    )


def _text(deployment: Deployment, *names: str) -> str | None:
    values = {fact.name: fact.value for fact in deployment.facts}
    return next((value for name in names if isinstance(value := values.get(name), str)), None)


def _inputs(deployment: Deployment) -> str:
    """Digest of what is deployed: engine, version and settings without their places. Secrets are left out."""
    settings = [
        [item.kind, item.name or item.written, None if item.secret else item.value] for item in deployment.settings
    ]
    text = json.dumps([deployment.engine, deployment.version, settings], ensure_ascii=True)
    return short(hashlib.sha256(text.encode()).hexdigest())


def _location(place: Place) -> Location:
    return Location(place.path, place.line, place.column)
