"""What llama.cpp takes for tokenizer keys that a GGUF file leaves out.

Read from `llama_vocab::impl::load` in src/llama-vocab.cpp at b11434. Absent ids are -1 there as well as here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NO_ID = -1
NO_VOCABULARY = frozenset({"no_vocab", "none"})

FAMILIES: Mapping[str, str] = {"hybriddna": "gpt2", "whitespace": "gpt2", "gemma4": "gpt2"} | dict.fromkeys(
    NO_VOCABULARY, "none"
)
"""Models that llama.cpp reads as one of another name. It compares families."""

_BOS_AND_EOS: Mapping[str, tuple[int, int]] = {
    "llama": (1, 2),
    "bert": (101, NO_ID),
    "gpt2": (11, 11),
    "hybriddna": (11, 11),
    "whitespace": (11, 11),
    "t5": (NO_ID, 1),
    "plamo2": (1, 2),
}
_ADDS: Mapping[str, tuple[bool, bool]] = {"llama": (True, False), "bert": (True, False), "t5": (False, True)}
_BOS_BY_PRE = frozenset(
    {
        "llama3",
        "llama-v3",
        "llama-bpe",
        "falcon3",
        "falcon-h1",
        "pixtral",
        "midm-2.0",
        "lfm2",
        "jina-v5-nano",
        "tekken",
        "chameleon",
    }
)
_NO_BOS_BY_PRE = frozenset({"chatglm-bpe", "glm4", "glm5"})
_BOS_FORCED_BY_PRE = frozenset({"gemma4", "granite-embed-multi-311m"})


class Additions(NamedTuple):
    """Whether BOS and EOS are put around a prompt; None where that cannot be said."""

    bos: bool | None
    eos: bool | None


UNSTATED = Additions(None, None)


def additions(model: str | None, pre: str | None, stated: Additions, *, pre_known: bool = True) -> Additions:
    """Fill in what is not stated. Without a `pre` that is known nothing is said about BOS of byte-level models."""
    if model is None:
        return stated
    pre = "gemma4" if model == "gemma4" else pre
    if FAMILIES.get(model, model) == "gpt2":
        bos, eos = (pre in _BOS_BY_PRE if pre_known or model == "gemma4" else None), False
    else:
        bos, eos = _ADDS.get(model, (False, False))
    bos = bos if stated.bos is None else stated.bos
    if FAMILIES.get(model, model) == "gpt2" and pre in _BOS_FORCED_BY_PRE:
        bos = True
    return Additions(bos, eos if stated.eos is None else stated.eos)


def default_ids(model: str, pre: str | None, size: int) -> dict[str, int]:
    """The ids of BOS and EOS where none is stated or the stated one does not exist."""
    bos, eos = _BOS_AND_EOS.get(model, (NO_ID, NO_ID))
    if pre in _NO_BOS_BY_PRE:
        bos = NO_ID
    return {"bos": bos if bos < size else NO_ID, "eos": eos if eos < size else NO_ID}
