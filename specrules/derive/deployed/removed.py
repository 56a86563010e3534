"""Settings of a deployment that its engine once had."""

from __future__ import annotations

from specrules.derive.methods import applies_to_version
from specrules.model.deployment import Deployment, Setting
from specrules.model.engine import Engine
from specrules.model.flag import RemovedFlag
from specrules.model.version import in_range


def removed_flag(engine: Engine, setting: Setting) -> RemovedFlag | None:
    """The removed flag that a setting is."""
    wanted = {setting.written, setting.name} - {None}
    return next((one for one in engine.removed_flags if wanted & {one.name, one.env, *one.aliases}), None)


def is_gone(engine: Engine, removed: RemovedFlag, version: str) -> bool | None:
    """Whether a version is past the flag; None for an older one than was read where nobody knows when the flag went."""
    if removed.until is not None:
        return applies_to_version(engine, removed, version) is False
    read = next((source.version for source in engine.sources if source.id == removed.known), None)
    return in_range(version, read or engine.version.facts_from, None, engine.version.scheme) or None


def may_still_count(engine: Engine, deployment: Deployment, version: str) -> bool:
    """Whether a setting is used that this version may still obey, in a way that nobody wrote down."""
    removed = (removed_flag(engine, setting) for setting in deployment.settings)
    return any(flag is not None and is_gone(engine, flag, version) is None for flag in removed)
