"""Pairs of tokenizers and whether llama.cpp b11434 drafts with them.

The answers are those of the engine's own function, common_speculative_are_compatible of its libllama-common, called on
the very files that `build` writes (2026-11-29). Eight of them were also run as servers on variants of SmolLM2; those
runs are among the recordings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .build import CONTROL, NORMAL, SIZE, SPM, TYPES, fewer, padded, swapped, with_text


class Variant(NamedTuple):
    """What differs from `BASE` in the drafter and in the target, and whether the engine drafts with the pair."""

    drafter: Mapping[str, Any]
    drafts: bool
    target: Mapping[str, Any] = {}
    recording: str | None = None


ADDS_BOS, ADDS_EOS = {"add_bos": True}, {"add_eos": True}

TRUTH: Mapping[str, Variant] = {
    "same": Variant({}, True, recording="self"),
    "token 3": Variant(with_text(3, "<x>"), True, recording="d_tok3"),
    "token 4": Variant(with_text(4, "<x>"), True),
    "token 5": Variant(with_text(5, "<x>"), False),
    "a token in the middle": Variant(with_text(300, "<x>"), False, recording="d_tok30000"),
    "last token": Variant(with_text(SIZE - 1, "<x>"), False),
    "two tokens swapped": Variant(swapped(300, 301), False),
    "tokens 3 and 4 swapped": Variant(swapped(3, 4), True),
    "64 pads": Variant(padded(64), True),
    "128 pads": Variant(padded(128), True),
    "129 pads": Variant(padded(129), False),
    "129 pads in the target": Variant({}, False, padded(129)),
    "100 fewer": Variant(fewer(100), True, recording="d_trim100"),
    "200 fewer": Variant(fewer(200), False, recording="d_trim200"),
    "add_bos flipped": Variant(ADDS_BOS, False, recording="d_addbos"),
    "add_bos left out": Variant({"add_bos": None}, True),
    "add_bos left out where the pre-tokenizer adds it": Variant({"add_bos": None, "pre": "llama-bpe"}, False),
    "add_bos of both, one by its pre-tokenizer": Variant({"add_bos": None, "pre": "tekken"}, True, ADDS_BOS),
    "bos id": Variant({"bos": 5}, True, recording="d_bosid"),
    "bos id where it is added": Variant({**ADDS_BOS, "bos": 5}, False, ADDS_BOS),
    "bos id left out where it is added": Variant({**ADDS_BOS, "bos": None}, False, ADDS_BOS),
    "bos id left out on both sides": Variant({**ADDS_BOS, "bos": None}, True, {**ADDS_BOS, "bos": None}),
    "bos id that does not exist": Variant({**ADDS_BOS, "bos": 99999}, True, {**ADDS_BOS, "bos": 11}),
    "eos id": Variant({"eos": 5}, True, recording="d_eosid"),
    "add_eos flipped": Variant(ADDS_EOS, False),
    "eos id where it is added": Variant({**ADDS_EOS, "eos": 5}, False, ADDS_EOS),
    "merges cut": Variant({"merges": ("\u0120word 0",)}, True, recording="d_merges"),
    "another pre-tokenizer": Variant({"pre": "qwen2"}, True),
    "types": Variant({"types": (NORMAL, *TYPES[1:-1], CONTROL)}, True),
    "another family": Variant(SPM, False),
    "another model of the same family": Variant({"model": "gemma4"}, True, ADDS_BOS),
}
