"""Claims of an engine that hold by a condition, held against one deployment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from specrules.catalog.setting_symbols import setting_name
from specrules.derive.conditions import known_issues
from specrules.derive.methods import applies_to_version, is_verified
from specrules.expressions import Expression, Type, Unknown, compile_expression
from specrules.model.case import Case
from specrules.model.claim import Conditional
from specrules.model.deployment import Place
from specrules.model.engine import Engine, FeatureSupport, Limit, RequestRefusal, StartRefusal
from specrules.model.item import Item

Symbols = Mapping[str, Type]


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known of a deployment before any claim is looked at."""

    engine: Engine
    version: str
    symbols: Symbols
    values: Mapping[str, object]
    places: Mapping[str, Place]
    whole: Place

    def place(self, names: Iterator[str] | tuple[str, ...]) -> Place:
        """The place of the first of these names that a file states, else the launch."""
        return next((self.places[name] for name in names if name in self.places), self.whole)


@lru_cache(maxsize=1024)
def compiled(source: str, symbols: tuple[tuple[str, Type], ...], kind: Type | None) -> Expression:
    """A compiled expression of an engine file; they are kept, since one gate run judges many deployments."""
    return compile_expression(source, dict(symbols), expect=kind)


def claim_items(settled: Settled, case: Case) -> tuple[Item, ...]:
    """Every claim with a condition that is about this version and these methods, and every known issue."""
    return (*_conditional(settled), *_issues(settled, case))


def _conditional(settled: Settled) -> Iterator[Item]:
    engine = settled.engine
    groups: tuple[tuple[Conditional, ...], ...] = (
        engine.start_refusals,
        engine.features,
        engine.limits,
        engine.request_refusals,
    )
    for claim in (claim for group in groups for claim in group):
        if claim.condition is None or applies_to_version(engine, claim, settled.version) is False:
            continue
        concerned = _concerned(claim, settled.values.get("engine.methods"))
        if concerned is not False:
            yield _item(settled, claim, concerned)


def _concerned(claim: Conditional, methods: object) -> bool | None:
    """Whether a claim is about one of the methods that are on; None where these are not known."""
    patterns: tuple[str, ...] = getattr(claim, "methods", ())
    if not patterns:
        return True
    if not isinstance(methods, tuple):
        return None
    return any(fnmatchcase(str(method), pattern) for method in methods for pattern in patterns)


def _item(settled: Settled, claim: Conditional, concerned: bool | None) -> Item:
    expression = compiled(claim.condition or "", tuple(settled.symbols.items()), Type.BOOL)
    result = expression.evaluate(settled.values)
    missing: frozenset[str] = frozenset()
    holds = None if isinstance(result, Unknown) else bool(result)
    if isinstance(result, Unknown):
        missing = frozenset(_spelt(settled.engine, name) for name in result.missing)
    if holds is True and concerned is None:
        holds, missing = None, frozenset({"engine.methods"})
    elif holds is True and not is_verified(settled.engine, claim):
        holds, missing = None, frozenset({"claim.holds"})
    key, words = _words(claim)
    read = tuple(sorted(expression.names, key=expression.source.find))
    return Item(
        values={**words, "claim.holds": holds},
        key=key,
        place=settled.place((*read, "engine.methods")),
        conditions={"claim.holds": (expression.source.strip(), expression.substitute(settled.values))},
        missing=missing,
        fix=_line(claim.fix),
    )


def _spelt(engine: Engine, name: str) -> str:
    """A setting as the user writes it, any other input by its name."""
    space, _, rest = name.partition(".")
    flags = (flag.name for flag in engine.flags if space in {"flag", "given"} and setting_name(flag.name) == rest)
    return next(flags, name)


def _words(claim: Conditional) -> tuple[str, dict[str, object]]:
    """What a claim is called and what it says, for rules and their messages."""
    words: tuple[str, str, str, str, str]
    match claim:
        case StartRefusal():
            words = (claim.id, "start", claim.effect, claim.text or claim.note, claim.trigger)
        case FeatureSupport():
            words = (claim.feature, "feature", claim.status, claim.effect, f"{claim.feature} beside drafting")
        case Limit():
            words = (claim.id, "limit", claim.of, claim.effect, claim.id)
        case RequestRefusal():
            words = (claim.id, "request", "refused", f"{claim.status}: {claim.text}", claim.trigger)
        case _:
            raise AssertionError(f"{type(claim).__name__} has no words")
    names = ("claim.id", "claim.kind", "claim.effect", "claim.says", "claim.title")
    values: dict[str, object] = {name: _line(text) or None for name, text in zip(names, words, strict=True)}
    return words[0], values | {"claim.note": _line(claim.note) or None}


def _issues(settled: Settled, case: Case) -> Iterator[Item]:
    """Known issues: those that hold, and fatal ones of which that is not known."""
    issues = known_issues(case, settled.engine, settled.symbols, settled.values)
    for issue in (*issues.matching, *issues.undecided):
        holds = True if issue in issues.matching else None
        condition = issue.condition or ""
        expression = compiled(condition, tuple(settled.symbols.items()), Type.BOOL)
        result = expression.evaluate(settled.values)
        yield Item(
            values={
                "claim.id": issue.id,
                "claim.kind": "issue",
                "claim.effect": "fatal" if issue.fatal else "known",
                "claim.says": _line(issue.effect),
                "claim.title": _line(issue.title),
                "claim.note": issue.link,
                "claim.holds": holds,
            },
            key=issue.id,
            place=settled.place(("engine.methods",)),
            conditions={"claim.holds": (expression.source.strip(), expression.substitute(settled.values))},
            missing=result.missing if isinstance(result, Unknown) else frozenset(),
        )


def _line(text: str) -> str:
    return " ".join(text.split())
