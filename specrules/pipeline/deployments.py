"""A deployment to what the rules say about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from specrules.catalog.catalogue import Catalog
from specrules.catalog.setting_symbols import setting_symbols
from specrules.decide.items import judge
from specrules.derive.deployed.claims import claim_items
from specrules.derive.deployed.items import method_items, pair_items, setting_items
from specrules.derive.deployed.values import Deployed, Knowledge, deployed
from specrules.model.deployment import Deployment
from specrules.model.raw_finding import DeploymentFindings, RawFinding
from specrules.pipeline.deployment_rules import deployment_rules
from specrules.pipeline.rules import asked

if TYPE_CHECKING:
    from specrules.catalog.case import LoadedCase

NOTHING_CONFIGURED = "no speculation configured"
_WRONG = frozenset({"fail", "error"})


def deployment_findings(
    deployment: Deployment,
    catalog: Catalog,
    thresholds: Mapping[str, float] | None = None,
    now: datetime | None = None,
    case: LoadedCase | None = None,
) -> DeploymentFindings:
    """Judge one deployment by every rule of the scope `deployment`.

    `thresholds` are those of the policy that counts; None takes the catalogue's. `now` is what ages are counted to; a
    deployment states nothing that ages. `case` is one that stands beside it: what it knows of target and drafter
    counts where the deployment says nothing. Raises CatalogError and LoadError where the engine or a rule file does not
    load.
    """
    del now
    engine = catalog.engine(deployment.engine).model
    knowledge = Knowledge(
        engine,
        {**catalog.condition_symbols, **setting_symbols(engine)},
        catalog.drafter_classes,
        catalog.policy.thresholds if thresholds is None else thresholds,
    )
    given = deployed(deployment, knowledge, None if case is None else (case.case, case.document.data))
    settled = given.settled
    items = {
        "settings": setting_items(settled, deployment),
        "methods": method_items(settled),
        "pairs": pair_items(settled),
        "claims": claim_items(settled, given.case),
    }
    findings = tuple(
        finding
        for rule in asked(deployment_rules(catalog), catalog.policy)
        for finding in judge(rule, settled.values, items.get(rule.rule.each or "", ()), settled.places, settled.whole)
    )
    return DeploymentFindings(
        speculation=given.speculation, summary=_summary(given), findings=_shown(findings, given.speculation)
    )


def _shown(findings: Iterable[RawFinding], speculation: str) -> tuple[RawFinding, ...]:
    """Where nothing drafts, only what is wrong all the same, such as a drafter that nothing switches on.

    Where it is not known whether anything drafts, what only warns is not known either, and would hide what blocks.
    """
    match speculation:
        case "off":
            return tuple(item for item in findings if item.outcome in _WRONG and item.severity != "info")
        case "unknown":
            return tuple(item for item in findings if item.outcome != "unknown" or item.severity == "block")
    return tuple(findings)


def _summary(given: Deployed) -> str:
    values, engine = given.settled.values, given.settled.engine
    version = values.get("deployment.version")
    where = f"{engine.title} {version}" if isinstance(version, str) else engine.title
    if given.speculation == "off":
        return NOTHING_CONFIGURED
    methods = values.get("engine.methods")
    named = " and ".join(str(name) for name in methods) if isinstance(methods, tuple) and methods else ""
    if given.speculation == "unknown":
        return f"{where}: whether speculation is configured is not known"
    length = values.get("deployment.draft_length")
    drafts = f", {length:g} tokens" if isinstance(length, float) else ""
    return f"{named or 'speculation'} on {where}{drafts}"
