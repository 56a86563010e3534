"""The classes of two tokenizers held against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.evidence.tokenizers import Comparison, Tokenizer, TokenType, compare, load_tokenizer
from specrules.evidence.tokenizers.compare import Difference, SpecialDifference
from specrules.evidence.tokenizers.texts import Texts

from .build import (
    BASE,
    CONTROL,
    NORMAL,
    SIZE,
    SPM,
    SPM_TOKENS,
    TOKENS,
    TYPES,
    UNUSED,
    USER_DEFINED,
    fewer,
    gguf_file,
    padded,
    swapped,
    with_text,
)


def pair(folder: Path, drafter: dict[str, Any], target: dict[str, Any] | None = None) -> Comparison:
    one = load_tokenizer(gguf_file(folder / "target.gguf", **(target or {})))
    return compare(one, load_tokenizer(gguf_file(folder / "drafter.gguf", **drafter)))


WITH_ADDED = {
    "tokens": (*TOKENS, "<|a|>", "<|b|>", f"[PAD{SIZE + 2}]"),
    "types": (*TYPES, CONTROL, CONTROL, 5),
}


@pytest.mark.parametrize(
    ("drafter", "target", "kind", "found"),
    [
        ({}, {}, "identical", (420, 0, 0, -1)),
        ({"add_bos": True, "bos": 7, "eos": 8, "types": None}, {}, "identical", (420, 0, 0, -1)),
        ({"pre": "qwen2"}, {}, "identical_ids_pre_differs", (420, 0, 0, -1)),
        ({"merges": ("a b",)}, {}, "identical_ids_pre_differs", (420, 0, 0, -1)),
        ({"scores": (0.5,) * SIZE}, {}, "identical_ids_pre_differs", (420, 0, 0, -1)),
        ({"model": "llama"}, {}, "identical_ids_pre_differs", (420, 0, 0, -1)),
        (padded(64), {}, "prefix_padding_only", (420, 0, 0, -1)),
        ({"tokens": (*TOKENS, "reserved"), "types": (*TYPES, UNUSED)}, {}, "prefix_padding_only", (420, 0, 0, -1)),
        ({}, padded(129), "prefix_padding_only", (420, 0, 0, -1)),
        (WITH_ADDED, {}, "prefix_added_tokens", (420, 0, 2, -1)),
        ({}, WITH_ADDED, "prefix_added_tokens", (420, 0, 2, -1)),
        (fewer(100), {}, "prefix_added_tokens", (320, 0, 100, -1)),
        # Padding where the other side has tokens, as a model before and after tokens were added.
        (WITH_ADDED, padded(3), "prefix_added_tokens", (423, 2, 2, 421)),
        (padded(200), WITH_ADDED, "prefix_added_tokens", (423, 2, 2, 421)),
        # Each side has tokens that the other has not.
        (
            {"tokens": (*TOKENS, "<|a|>", "[PAD421]"), "types": None},
            {"tokens": (*TOKENS, "[PAD420]", "<|a|>"), "types": None},
            "special_differ",
            (422, 2, 2, 421),
        ),
        (with_text(1, "<|x|>"), {}, "special_differ", (420, 1, 0, 1)),
        (with_text(1, "x"), {"types": None}, "special_differ", (420, 1, 0, 1)),
        # A special token on one side and a plain one on the other.
        ({**with_text(1, "x"), "types": (NORMAL,) * SIZE}, {}, "partial", (420, 1, 0, 1)),
        (with_text(3, "x"), {}, "partial", (420, 1, 0, 3)),
        (with_text(419, "x"), {}, "partial", (420, 1, 0, 419)),
        (swapped(300, 301), {}, "partial", (420, 2, 0, 301)),
        (SPM, {}, "different", (262, 262, 158, 261)),
    ],
)
def test_classes(
    tmp_path: Path, drafter: dict[str, Any], target: dict[str, Any], kind: str, found: tuple[int, int, int, int]
) -> None:
    result = pair(tmp_path, drafter, target)
    assert result.kind == kind
    assert (result.common, result.differing, result.added, result.last_differing_id) == found


def test_half_of_the_ids_is_where_partial_ends() -> None:
    def side(*texts: bytes) -> Tokenizer:
        return Tokenizer("x", "gguf", Texts(list(texts)), len(texts), types=bytes([NORMAL] * len(texts)))

    assert compare(side(b"a", b"b"), side(b"a", b"c")).kind == "partial"
    assert compare(side(b"a", b"b", b"c"), side(b"a", b"x", b"y")).kind == "different"


def test_the_first_difference(tmp_path: Path) -> None:
    found = pair(tmp_path, with_text(1, "<|x|>"))
    assert found.first == Difference(1, b"<|im_start|>", b"<|x|>", TokenType.CONTROL, TokenType.CONTROL)
    assert found.differing_special == 1
    assert found.share == pytest.approx(419 / 420)
    assert pair(tmp_path, {}).first is None


def test_special_tokens_that_differ(tmp_path: Path) -> None:
    found = pair(tmp_path, {"add_bos": True, "bos": 5})
    assert found.specials == (SpecialDifference("add_bos", False, True), SpecialDifference("bos", 1, 5))
    assert pair(tmp_path, {}).specials == ()


def test_what_differs_beside_ids(tmp_path: Path) -> None:
    found = pair(tmp_path, {"pre": None, "merges": ("a b",)})
    assert (found.unequal, found.merges_equal) == (("pre", "merges"), False)
    assert pair(tmp_path, {"pre": None}, {"pre": "default"}).unequal == ()
    assert pair(tmp_path, {}).merges_equal is True
    assert pair(tmp_path, SPM, SPM).merges_equal is None


def test_texts_under_other_ids(tmp_path: Path) -> None:
    assert pair(tmp_path, swapped(300, 301)).shared_texts == 1.0
    assert pair(tmp_path, with_text(300, "x")).shared_texts == pytest.approx(1.0)
    assert pair(tmp_path, with_text(300, "nothing like it")).shared_texts == pytest.approx(419 / 420)


def test_spaces_that_one_side_kept_as_marks_differ_only_in_spelling(tmp_path: Path) -> None:
    spaces = {**SPM, "tokens": (*SPM_TOKENS[:-1], "  "), "types": (*SPM["types"][:-1], USER_DEFINED)}
    found = pair(tmp_path, spaces, dict(SPM))
    assert (found.kind, found.differing, found.last_differing_id) == ("special_differ", 1, len(SPM_TOKENS) - 1)


NOTHING = {**dict.fromkeys(BASE), "d2t": 0}


@pytest.mark.parametrize(
    ("drafter", "target", "kind"),
    [
        (NOTHING, {}, "no_tokenizer"),
        ({}, NOTHING, "no_tokenizer"),
        ({**NOTHING, "d2t": 32}, {}, "mapped_d2t"),
        ({"d2t": 32}, {}, "mapped_d2t"),
        ({}, {"d2t": 32}, "identical"),
    ],
)
def test_heads(tmp_path: Path, drafter: dict[str, Any], target: dict[str, Any], kind: str) -> None:
    found = pair(tmp_path, drafter, target)
    assert found.kind == kind
    if kind == "no_tokenizer":
        assert (found.common, found.share, found.shared_texts, found.last_differing_id) == (0, None, None, None)
        assert found.merges_equal is None


def plain(texts: list[bytes], rows: int | None) -> Tokenizer:
    return Tokenizer("x", "tiktoken", Texts(texts), rows, types=bytes([NORMAL] * len(texts)))


@pytest.mark.parametrize(
    ("target", "drafter", "last"),
    [
        # The shorter file does not say what lies behind its last text, and the other one has tokens there.
        (plain([b"%d" % n for n in range(9)], 9), plain([b"%d" % n for n in range(8)], None), None),
        (plain([b"%d" % n for n in range(9)], 9), plain([b"%d" % n for n in range(8)], 8), -1),
        (plain([b"%d" % n for n in range(8)], 8), plain([b"%d" % n for n in range(9)], None), -1),
        (plain([*(b"%d" % n for n in range(8)), b"[PAD8]"], 9), plain([b"%d" % n for n in range(8)], None), -1),
        # A difference at an id that engines compare stays one, whatever lies behind it.
        (plain([b"%d" % n for n in range(9)], 9), plain([b"x"] * 8, None), 7),
        (plain([b"%d" % n for n in range(9)], 9), plain([b"x", *(b"%d" % n for n in range(1, 8))], None), None),
    ],
)
def test_ids_behind_the_last_text_of_a_file(target: Tokenizer, drafter: Tokenizer, last: int | None) -> None:
    assert compare(target, drafter).last_differing_id == last


TEXT = st.sampled_from([b"a", b"b", b"<|c|>", b"[PAD3]", b"  ", "\u2581\u2581".encode()])
SIDES = st.lists(st.tuples(TEXT, st.sampled_from(list(TokenType))), min_size=1, max_size=6)
BETTER = ("identical", "identical_ids_pre_differs", "prefix_padding_only", "prefix_added_tokens")


@settings(max_examples=200, deadline=None)
@given(SIDES, SIDES)
def test_either_order_finds_the_same(one: list[tuple[bytes, TokenType]], other: list[tuple[bytes, TokenType]]) -> None:
    sides = [
        Tokenizer("x", "gguf", Texts([text for text, _ in side]), len(side), types=bytes(kind for _, kind in side))
        for side in (one, other)
    ]
    there, back = compare(*sides), compare(*reversed(sides))
    assert (there.kind, there.common, there.differing, there.added) == (
        back.kind,
        back.common,
        back.differing,
        back.added,
    )
    assert there.last_differing_id == back.last_differing_id
    texts = [[text for text, _ in side] for side in (one, other)]
    assert (there.kind == "identical") == (texts[0] == texts[1])
    differing = [token for token, (left, right) in enumerate(zip(*texts, strict=False)) if left != right]
    assert there.last_differing_id == (differing[-1] if differing else -1)
    if there.kind in BETTER[:3]:
        assert not there.added
    if not differing:
        assert there.kind in BETTER
