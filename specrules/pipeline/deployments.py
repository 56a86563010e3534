"""A deployment to what the rules say about it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from specrules.catalog.catalogue import Catalog
from specrules.model.deployment import Deployment
from specrules.model.raw_finding import DeploymentFindings


def deployment_findings(
    deployment: Deployment,
    catalog: Catalog,
    thresholds: Mapping[str, float] | None = None,
    now: datetime | None = None,
) -> DeploymentFindings:
    """Judge one deployment by every rule of the scope `deployment`.

    `thresholds` are those of the policy that counts; None takes the catalogue's. `now` is what ages are counted to.
    Raises CatalogError and LoadError where the engine or a rule file does not load.
    """
    del catalog, thresholds, now
    return DeploymentFindings(speculation="unknown", summary=f"{deployment.engine}: not judged yet", findings=())
