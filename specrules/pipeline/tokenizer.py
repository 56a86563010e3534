"""Two tokenizers and what engines do with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from specrules.catalog.catalogue import Catalog
from specrules.derive.conditions import Values, checked
from specrules.errors import Problem, UsageError
from specrules.evidence.gguf.refusals import ENGINE
from specrules.evidence.tokenizers import Comparison, compare
from specrules.evidence.tokenizers.facts import pair_facts, tokenizer_facts
from specrules.expressions import Type
from specrules.model.engine import Engine, RefusalEffect, TokenizerGate
from specrules.model.fact import Fact
from specrules.model.version import version_key
from specrules.pipeline.sources import Sources, each

Answer = Literal["accepted", RefusalEffect, "unknown"]

# Ids that text is split into mean other tokens. Special ids that differ are drafted rarely and rejected then.
_WRONG = frozenset({"partial", "different"})
_NO_DRAFTING = frozenset({"refused-loudly", "refused-silently", "dies-at-load"})


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What one engine does with a pair, for the methods of one gate.

    `check` is the check of the engine that refused, `log_text` what it then logs, `unchecked` what it never compares.
    `drafts` says whether the engine drafts with the pair; None where nobody can tell.
    """

    engine: str
    title: str
    version: str
    methods: tuple[str, ...]
    answer: Answer
    reason: str
    check: str | None = None
    log_text: str = ""
    unchecked: str = ""

    @property
    def drafts(self) -> bool | None:
        """Whether the engine drafts with this pair, rightly or not."""
        return None if self.answer == "unknown" else self.answer in {"accepted", "accepted-though-wrong"}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tokenizers compared, the facts that follow, and the answer of every engine that was asked."""

    comparison: Comparison
    facts: dict[str, Fact]
    answers: tuple[EngineAnswer, ...]


def tokenizers(
    target: str,
    drafter: str,
    engine: str | None = None,
    *,
    version: str | None = None,
    catalog: Catalog | None = None,
    sources: Sources | None = None,
) -> Pair:
    """Compare the tokenizers of two files, folders or addresses and say what engines do with the pair.

    Without an engine every one that drafts with a model of its own tokenizer is asked; `version` is that of the engine,
    else the one that its file describes. Without `sources` addresses are fetched and nothing of them is kept. Raises
    EvidenceError for files that cannot be read or hold no tokenizer, CatalogError for an engine that does not exist,
    UsageError for a version without an engine or none of its numbers.
    """
    catalog = catalog or Catalog.load()
    engines = [catalog.engine(name).model for name in ((engine,) if engine is not None else catalog.engine_ids)]
    _check_version(version, engine, engines)
    comparison = compare(*each((sources or Sources(web=True)).tokenizer, (target, drafter)))
    facts = facts_of(comparison)
    values: Values = {
        **{item.name: None for item in catalog.inputs.inputs},
        **{name: fact.value for name, fact in facts.items()},
        **_least_sizes(comparison),
    }
    answers: list[EngineAnswer] = []
    for one in engines:
        asked = _Question(one, version or one.version.facts_from, comparison, values, catalog.symbols)
        answers += asked.answers(_own_tokenizer(one, catalog))
    return Pair(comparison, facts, tuple(answers))


def facts_of(comparison: Comparison) -> dict[str, Fact]:
    """The facts of both sides and of the pair."""
    return {
        **tokenizer_facts("target", comparison.target),
        **tokenizer_facts("drafter", comparison.drafter),
        **pair_facts(comparison),
    }


def _least_sizes(comparison: Comparison) -> dict[str, float]:
    """Sizes that are not known, where the ids alone are more than the other side has rows.

    Whatever is compared of two sizes, it then comes out as it does for the number of ids.
    """
    sides = {"target": comparison.target, "drafter": comparison.drafter}
    pairs = (("target", sides["drafter"]), ("drafter", sides["target"]))
    return {
        f"{name}.tokenizer.size": float(len(sides[name].texts))
        for name, other in pairs
        if sides[name].rows is None and other.rows is not None and len(sides[name].texts) > other.rows
    }


def _check_version(version: str | None, engine: str | None, engines: list[Engine]) -> None:
    if version is None:
        return
    if engine is None:
        raise UsageError(Problem("a version needs the engine that it is of", hint="say --engine ID"))
    try:
        version_key(version, engines[0].version.scheme)
    except ValueError as error:
        raise UsageError(str(error)) from None


@dataclass(frozen=True, slots=True)
class _Question:
    """A pair put to one engine."""

    engine: Engine
    version: str
    comparison: Comparison
    values: Values
    symbols: Mapping[str, Type]

    def answers(self, methods: Sequence[str]) -> Iterator[EngineAnswer]:
        """One answer per gate, and one for those of the methods that have no gate."""
        left = list(methods)
        for gate in self.engine.tokenizer_gates:
            covered = tuple(name for name in left if any(fnmatchcase(name, pattern) for pattern in gate.methods))
            left = [name for name in left if name not in covered]
            yield self._by_gate(gate, covered or gate.methods)
        if left:
            yield self._without_gate(tuple(left))

    def _by_gate(self, gate: TokenizerGate, methods: tuple[str, ...]) -> EngineAnswer:
        unloadable = self._unloadable()
        if unloadable:
            return self._answer(methods, "dies-at-load", unloadable, gate.unchecked)
        result = checked(self.engine, gate, self.version, self.symbols, self.values)
        failed, undecided = result.failed, ", ".join(result.undecided)
        waits = _waits_for(self.comparison)
        if failed is not None and undecided and failed.otherwise not in _NO_DRAFTING:
            reason = f"not known: {undecided}; if it passes, {failed.otherwise.replace('-', ' ')}: {failed.message}"
            return self._answer(methods, "unknown", reason + waits, gate.unchecked)
        if failed is not None:
            answer = self._answer(methods, failed.otherwise, failed.message)
            return replace(answer, check=failed.id, log_text=failed.log_text, unchecked=gate.unchecked)
        if undecided:
            return self._answer(methods, "unknown", f"not known: {undecided}{waits}", gate.unchecked)
        return self._answer(methods, "accepted", f"passes {', '.join(result.passed)}", gate.unchecked)

    def _unloadable(self) -> str:
        if self.engine.id != ENGINE:
            return ""
        sides = (("target", self.comparison.target), ("drafter", self.comparison.drafter))
        return "; ".join(f"{name}: {side.unloadable}" for name, side in sides if side.unloadable)

    def _without_gate(self, methods: tuple[str, ...]) -> EngineAnswer:
        reason = "compares no tokenizers"
        if not self.comparison.common:
            return self._answer(methods, "unknown", f"{reason}, and there are not two to compare")
        if self.comparison.kind not in _WRONG:
            return self._answer(methods, "accepted", reason)
        pair = self.comparison
        reason = f"{reason}, and {pair.differing} of {pair.common} common ids have another text"
        return self._answer(methods, "accepted-though-wrong", reason)

    def _answer(self, methods: tuple[str, ...], answer: Answer, reason: str, unchecked: str = "") -> EngineAnswer:
        engine = self.engine
        return EngineAnswer(engine.id, engine.title, self.version, methods, answer, reason, unchecked=unchecked)


def _own_tokenizer(engine: Engine, catalog: Catalog) -> tuple[str, ...]:
    """The methods whose drafters bring a tokenizer."""
    classes = catalog.drafter_classes
    current = (method for method in engine.methods if not method.removed)
    return tuple(method.id for method in current if classes[method.drafter_class].needs_tokenizer_match)


def _waits_for(comparison: Comparison) -> str:
    """What a user has to bring where sizes are not known: most checks wait for them."""
    sides = (("target", comparison.target), ("drafter", comparison.drafter))
    open_sides = [name for name, side in sides if side.exists and side.rows is None]
    return f"; put config.json beside the tokenizer of the {' and the '.join(open_sides)}" if open_sides else ""
