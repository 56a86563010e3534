"""Which of the engine's methods the candidate is, and whether that method attaches a drafter of this class."""

from __future__ import annotations

from dataclasses import dataclass

from specrules.model.case import Case
from specrules.model.claim import VERIFIED, Claim
from specrules.model.engine import Engine, Method
from specrules.model.version import in_range


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer and its reason. `holds` is None where nobody can tell."""

    holds: bool | None
    note: str


def is_verified(engine: Engine, claim: Claim) -> bool:
    """Whether the claim rests on a source that was read, a run, or the engine's documentation."""
    return any(source.id == claim.known and source.by in VERIFIED for source in engine.sources)


def applies_to_version(engine: Engine, claim: Claim, version: str | None) -> bool | None:
    """Whether the claim is about this version; None where the version is unknown and matters."""
    return in_range(version, claim.since, claim.until, engine.version.scheme)


def method_named(engine: Engine, name: str) -> Method | None:
    """The method with this name or alias, as the engine spells it."""
    return next((method for method in engine.methods if name == method.id or name in method.aliases), None)


def stated_methods(case: Case, engine: Engine) -> tuple[str, ...]:
    """The methods that the case switches on, each once, as the engine spells them."""
    found = ((method_named(engine, name), name) for name in case.engine.methods)
    return tuple(dict.fromkeys(name if method is None else method.id for method, name in found))


def candidate_method(case: Case, engine: Engine) -> Method | None:
    """The method of the candidate: the stated one of the drafter's class, else the only current one of that class."""
    of_class = [method for method in engine.methods if method.drafter_class == case.drafter.drafter_class]
    for name in case.engine.methods:
        method = method_named(engine, name)
        if method is not None and method in of_class:
            return method
    current = [method for method in of_class if not method.removed]
    return current[0] if len(current) == 1 else None


def attachment(case: Case, engine: Engine) -> Finding:
    """Whether the engine has a surface that a drafter of this class can be attached to."""
    wanted = case.drafter.drafter_class
    offered = [method for method in engine.methods if method.drafter_class == wanted and not method.removed]
    names = ", ".join(f"{method.id} ({method.drafter_class})" for method in engine.methods if not method.removed)
    if not offered:
        return Finding(False, f"its methods are {names or 'none'}")
    unknown = [name for name in case.engine.methods if method_named(engine, name) is None]
    if unknown:
        return Finding(False, f"it knows no method named {', '.join(unknown)}; its methods are {names}")
    if case.engine.methods and not any(_drafts_with(engine, name, wanted) for name in case.engine.methods):
        on, there = ", ".join(case.engine.methods), ", ".join(method.id for method in offered)
        return Finding(False, f"{on} drafts with no drafter of this class; for it there is {there}")
    if not any(is_verified(engine, method) for method in offered):
        return Finding(None, f"{', '.join(method.id for method in offered)} is said to exist, but nobody verified it")
    return _served(case, engine) or Finding(True, f"for this class it offers {', '.join(item.id for item in offered)}")


def _served(case: Case, engine: Engine) -> Finding | None:
    """What stands against the candidate's method where the loaded checkpoint has to report that it can serve it."""
    method = candidate_method(case, engine)
    needed = next(
        (item.capability for item in engine.request_drafters if method is not None and item.method == method.id), None
    )
    if method is None or needed is None:
        return None
    reported = case.engine.capabilities
    if reported is None:
        return Finding(
            None, f"{method.id} is served where the loaded checkpoint reports {needed}: state engine.capabilities"
        )
    if needed in reported:
        return None
    return Finding(
        False, f"the loaded checkpoint reports {', '.join(reported) or 'nothing'}, and {method.id} needs {needed}"
    )


def _drafts_with(engine: Engine, name: str, drafter_class: str) -> bool:
    method = method_named(engine, name)
    return method is not None and method.drafter_class == drafter_class


def in_version(case: Case, engine: Engine, method: Method | None) -> bool | None:
    """Whether the candidate's method exists in the stated version; a removed one in no version but those it names."""
    if method is None:
        return None
    applies = applies_to_version(engine, method, case.engine.version)
    if method.removed:
        return applies is True and method.until is not None
    return applies
