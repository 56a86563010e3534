"""Whether methods that are switched on together load and draft."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import combinations

from specrules.derive.methods import Finding, applies_to_version, is_verified, stated_methods
from specrules.model.case import Case
from specrules.model.engine import Combination, Engine

_WORST = ("dies-at-load", "refused", "silently-off", "untested", "works")


def combination(case: Case, engine: Engine) -> Finding:
    """What the engine does with the methods of the case together, decided by the worst pair."""
    methods = stated_methods(case, engine)
    if len(methods) < 2:
        return Finding(True, "one method alone")
    found: list[Combination] = []
    for pair in combinations(methods, 2):
        claim = pair_claim(engine, pair, case.engine.version)
        if claim is None:
            return Finding(None, f"nobody wrote down what {pair[0]} and {pair[1]} do together")
        found.append(claim)
    worst = min(found, key=lambda claim: _WORST.index(claim.status))
    text = f"{' with '.join(methods)}: {worst.status.replace('-', ' ')}. {worst.effect}"
    if worst.status == "untested" or not is_verified(engine, worst):
        return Finding(None, f"{text} (not verified)")
    if applies_to_version(engine, worst, case.engine.version) is None:
        return Finding(None, f"{text} (depends on the version of the engine)")
    return Finding(worst.status == "works", f"{text} ({_evidence(engine, worst)})")


def pair_claim(engine: Engine, pair: tuple[str, str], version: str | None) -> Combination | None:
    """The first entry of the engine's list whose two patterns fit the pair in either order."""
    for claim in engine.combinations:
        if len(claim.methods) != 2 or applies_to_version(engine, claim, version) is False:
            continue
        first, second = claim.methods
        if any(fnmatchcase(one, first) and fnmatchcase(other, second) for one, other in (pair, pair[::-1])):
            return claim
    return None


def _evidence(engine: Engine, claim: Combination) -> str:
    source = next(item for item in engine.sources if item.id == claim.known)
    return f"{source.title}, {source.on.isoformat()}"
