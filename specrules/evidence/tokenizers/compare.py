"""Two tokenizers held against each other, id by id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from specrules.evidence.tokenizers.tokenizer import SPACE_MARK, Head, Tokenizer, TokenType

Kind = Literal[
    "identical",
    "identical_ids_pre_differs",
    "prefix_padding_only",
    "prefix_added_tokens",
    "special_differ",
    "partial",
    "different",
    "mapped_d2t",
    "no_tokenizer",
]
"""From best to worst; behind them the states in which there is nothing to compare, or a table translates ids."""

FIRST_COMPARED = 5
"""Engines of the llama.cpp family compare from this id on."""

PARTIAL_SHARE = 0.5
"""Below this share of common ids with the same text two vocabularies are different ones."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An id that has another text on either side."""

    id: int
    target: bytes
    drafter: bytes
    target_type: TokenType
    drafter_type: TokenType


@dataclass(frozen=True, slots=True)
class SpecialDifference:
    """A special token, or whether one is added, that is known on both sides and differs."""

    name: str
    target: int | bool
    drafter: int | bool


@dataclass(frozen=True)
class Comparison:
    """What two tokenizers have in common.

    `common` counts the ids that both have, `differing` those of them with another text, `differing_special` those of
    these that are special or padding on both sides. `added` counts ids with a token on one side that are padding or
    missing on the other. `last_differing_id` is the greatest common id with another text and -1 where there is none;
    it is None where a file does not say what its last ids are and these decide. `unequal` names what else differs
    (`pre`, `merges`, ..), `not_compared` what is known on one side only.
    """

    target: Tokenizer
    drafter: Tokenizer
    kind: Kind
    common: int = 0
    differing: int = 0
    differing_special: int = 0
    added: int = 0
    first: Difference | None = None
    last_differing_id: int | None = None
    unequal: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    specials: tuple[SpecialDifference, ...] = ()

    @property
    def share(self) -> float | None:
        """Share of common ids that have the same text on both sides."""
        return None if not self.common else 1 - self.differing / self.common

    @property
    def merges_equal(self) -> bool | None:
        """Whether both split text by the same merges; None where one has none."""
        if self.target.merges is None or self.drafter.merges is None:
            return None
        return "merges" not in self.unequal

    @cached_property
    def shared_texts(self) -> float | None:
        """Share of the drafter's texts that the target has under whatever id: what a translation can use."""
        if not self.common:
            return None
        own = set(self.drafter.texts.items)
        return len(own & set(self.target.texts.items)) / len(own)

    @property
    def head(self) -> Head | None:
        """The drafter's reduced vocabulary, where it has one."""
        return self.drafter.head


def compare(target: Tokenizer, drafter: Tokenizer) -> Comparison:
    """Hold a drafter's tokenizer against the target's."""
    has_table = drafter.head is not None and drafter.head.table is True
    if not (target.exists and drafter.exists):
        return Comparison(target, drafter, "mapped_d2t" if has_table else "no_tokenizer")
    unequal, not_compared = _beside_ids(target, drafter)
    ids = _Ids(target, drafter)
    return Comparison(
        target=target,
        drafter=drafter,
        kind="mapped_d2t" if has_table else _kind(ids, bool(unequal)),
        common=ids.common,
        differing=len(ids.differing),
        differing_special=ids.special,
        added=ids.added,
        first=ids.first(),
        last_differing_id=ids.last(),
        unequal=unequal,
        not_compared=not_compared,
        specials=tuple(_specials(target, drafter)),
    )


class _Ids:
    """The ids of both sides: which of the common ones differ, and which tokens only one side has."""

    def __init__(self, target: Tokenizer, drafter: Tokenizer) -> None:
        self._target, self._drafter = target, drafter
        self.common = min(len(target.texts), len(drafter.texts))
        self.differing = _differing(target, drafter)
        self.special = sum(self._is_special(token) for token in self.differing)
        self._longer = target if len(target.texts) > self.common else drafter
        behind = range(self.common, len(self._longer.texts))
        self._behind = sum(not self._longer.is_padding(token) for token in behind)
        # Tokens of the target where the drafter has padding, and the other way round.
        self._more = {
            id(one): sum(other.is_padding(token) and not one.is_padding(token) for token in self.differing)
            for one, other in ((target, drafter), (drafter, target))
        }
        self._more[id(self._longer)] += self._behind

    def _is_special(self, token: int) -> bool:
        """Special on both sides, or spaces that one side writes as SentencePiece marks and the other as spaces."""
        target, drafter = self._target, self._drafter
        if target.is_special(token) and drafter.is_special(token):
            return True
        one, other = target.texts[token], drafter.texts[token]
        return one.replace(SPACE_MARK, b" ") == other.replace(SPACE_MARK, b" ")

    @property
    def sizes_equal(self) -> bool:
        return len(self._target.texts) == len(self._drafter.texts)

    @property
    def added(self) -> int:
        return sum(self._more.values())

    @property
    def one_has_more(self) -> bool:
        """Whether one side has all tokens of the other, and all of its own where that one has padding or nothing."""
        fills = self.added - self._behind == len(self.differing)
        return fills and not all(self._more.values())

    def first(self) -> Difference | None:
        if not self.differing:
            return None
        token, target, drafter = self.differing[0], self._target, self._drafter
        return Difference(
            token, target.texts[token], drafter.texts[token], target.type_of(token), drafter.type_of(token)
        )

    def last(self) -> int | None:
        """The greatest common id that differs.

        Behind the last text of a file that does not say how many rows the model has there may be padding, and then a
        token of the other side differs there.
        """
        last = self.differing[-1] if self.differing else -1
        shorter = self._drafter if self._longer is self._target else self._target
        open_end = self._behind > 0 and shorter.rows is None
        return None if open_end and last < FIRST_COMPARED else last


def _differing(target: Tokenizer, drafter: Tokenizer) -> list[int]:
    if target.texts.sha256 == drafter.texts.sha256:
        return []
    pairs = zip(target.texts.items, drafter.texts.items, strict=False)
    return [token for token, (one, other) in enumerate(pairs) if one != other]


def _kind(ids: _Ids, beside: bool) -> Kind:
    if not ids.differing and ids.sizes_equal:
        return "identical_ids_pre_differs" if beside else "identical"
    if ids.one_has_more:
        return "prefix_added_tokens" if ids.added else "prefix_padding_only"
    if ids.special == len(ids.differing):
        return "special_differ"
    return "partial" if 1 - len(ids.differing) / ids.common >= PARTIAL_SHARE else "different"


def _beside_ids(target: Tokenizer, drafter: Tokenizer) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What differs beside texts, and what only one side tells."""
    byte_level = target.family == drafter.family == "gpt2"
    pairs: dict[str, tuple[str | None, str | None]] = {"family": (target.family, drafter.family)}
    if byte_level:
        pairs["pre"] = (_pre(target), _pre(drafter))
        pairs["merges"] = (_merges(target), _merges(drafter))
    if target.form == drafter.form == "gguf":
        pairs["scores"] = (target.scores or "", drafter.scores or "")
    unequal = [name for name, (one, other) in pairs.items() if one is not None and other is not None and one != other]
    unknown = [name for name, (one, other) in pairs.items() if one is None or other is None]
    return tuple(unequal), tuple(unknown)


def _pre(tokenizer: Tokenizer) -> str | None:
    """The pre-tokenizer; llama.cpp takes `default` where a GGUF file names none."""
    return tokenizer.pre or ("default" if tokenizer.form == "gguf" else None)


def _merges(tokenizer: Tokenizer) -> str | None:
    return None if tokenizer.merges is None else tokenizer.merges.sha256


def _specials(target: Tokenizer, drafter: Tokenizer) -> Iterator[SpecialDifference]:
    for name in ("add_bos", "add_eos"):
        one, other = getattr(target, name), getattr(drafter, name)
        if one is not None and other is not None and one != other:
            yield SpecialDifference(name, one, other)
    for name, token in target.special_ids.items():
        if drafter.special_ids.get(name, token) != token:
            yield SpecialDifference(name, token, drafter.special_ids[name])
