"""Which engine a launch starts, and its settings as the engine's file knows them."""

from __future__ import annotations

from collections.abc import Iterable

from specrules.model.deployment import Deployment, Launch
from specrules.model.engine import Engine


def recognise(launch: Launch, engines: Iterable[Engine]) -> Deployment | None:
    """The deployment that a launch is, or None where no engine recognises its image, command, flags or keys."""
    del launch, engines
    return None
