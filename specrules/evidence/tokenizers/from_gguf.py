"""The tokenizer of a GGUF header, with what llama.cpp takes for keys that are left out."""

from __future__ import annotations

from hashlib import sha256
from itertools import islice

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.gguf import Array, Header, foreign_order
from specrules.evidence.tokenizers.ggml_defaults import (
    FAMILIES,
    NO_ID,
    NO_VOCABULARY,
    Additions,
    additions,
    default_ids,
)
from specrules.evidence.tokenizers.texts import Texts
from specrules.evidence.tokenizers.tokenizer import Head, Tokenizer, TokenType

_PREFIX = "tokenizer.ggml."
_ID_KEYS = {
    "bos": ("bos_token_id",),
    "eos": ("eos_token_id",),
    "eot": ("eot_token_id",),
    "eom": ("eom_token_id",),
    "unk": ("unknown_token_id",),
    "sep": ("seperator_token_id",),
    "pad": ("padding_token_id",),
    "mask": ("mask_token_id",),
    "fim_pre": ("fim_pre_token_id", "prefix_token_id"),
    "fim_suf": ("fim_suf_token_id", "suffix_token_id"),
    "fim_mid": ("fim_mid_token_id", "middle_token_id"),
}
_DRAFT_TABLE = "d2t"


def tokenizer_of(header: Header) -> Tokenizer:
    """Return the tokenizer of a header.

    Raises EvidenceError where tokens, types or merges are of a kind that llama.cpp refuses.
    """
    model, pre = _text(header, "model"), _text(header, "pre")
    if model in NO_VOCABULARY or (model is None and _PREFIX + "tokens" not in header.values):
        return _without(header)
    tokens = _array(header, "tokens", ("string",))
    if tokens is None or not len(tokens):
        raise _refused(header, f"{_PREFIX}model is {model}, but there are no {_PREFIX}tokens")
    types, scores = _array(header, "token_type", ("int32",)), _array(header, "scores", ("int32", "float32"))
    for name, items in (("token_type", types), ("scores", scores)):
        if items is not None and len(items) < len(tokens):
            raise _refused(header, f"{_PREFIX}{name} has {len(items)} items for {len(tokens)} tokens")
    merges = _array(header, "merges", ("string",))
    ids, notes = _special_ids(header, model, pre, len(tokens))
    stated = Additions(_flag(header, "add_bos_token"), _flag(header, "add_eos_token"))
    adds = additions(model, pre, stated)
    return Tokenizer(
        source=header.name,
        form="gguf",
        texts=Texts(tokens),
        rows=len(tokens),
        model=model,
        family=None if model is None else FAMILIES.get(model, model),
        pre=pre,
        types=b"" if types is None else bytes(map(_type, islice(types, len(tokens)))),
        merges=None if merges is None else Texts(merges),
        scores=None if scores is None else sha256(scores.raw).hexdigest(),
        add_bos=adds.bos,
        add_eos=adds.eos,
        special_ids=ids,
        head=_head(header),
        notes=tuple(notes),
        unloadable=_unloadable(header),
    )


def _without(header: Header) -> Tokenizer:
    """Heads may have been converted without a vocabulary; llama.cpp then takes the family to be none."""
    rows = header.values.get(f"{header.values.get('general.architecture')}.vocab_size")
    return Tokenizer(
        source=header.name,
        form="gguf",
        texts=Texts(()),
        rows=rows if isinstance(rows, int) else None,
        model=_text(header, "model"),
        family="none",
        add_bos=False,
        add_eos=False,
        special_ids={"bos": NO_ID, "eos": NO_ID},
        head=_head(header),
        unloadable=_unloadable(header),
    )


def _unloadable(header: Header) -> str:
    problem = foreign_order(header)
    return "" if problem is None else problem.message


def _head(header: Header) -> Head | None:
    table = next((tensor for tensor in header.tensors if tensor.name == _DRAFT_TABLE), None)
    return None if table is None else Head(rows=table.shape[0] if table.shape else None, table=True)


def _special_ids(header: Header, model: str | None, pre: str | None, size: int) -> tuple[dict[str, int], list[str]]:
    """Ids as llama.cpp reads them: one that does not exist is left aside for the default."""
    ids = {} if model is None else default_ids(model, pre, size)
    notes = []
    for name, keys in _ID_KEYS.items():
        for key in keys:
            value = header.values.get(_PREFIX + key)
            if not isinstance(value, int) or isinstance(value, bool):
                continue
            if 0 <= value < size:
                ids[name] = value
            else:
                kept = ids.get(name, NO_ID)
                notes.append(f"{_PREFIX}{key} is {value}, which is no id of this vocabulary; llama.cpp takes {kept}")
    return ids, notes


def _type(number: object) -> int:
    return number if isinstance(number, int) and 0 <= number <= TokenType.BYTE else TokenType.UNDEFINED


def _text(header: Header, key: str) -> str | None:
    value = header.values.get(_PREFIX + key)
    if value is not None and not isinstance(value, str):
        raise _refused(header, f"{_PREFIX}{key} is no text")
    return value


def _flag(header: Header, key: str) -> bool | None:
    value = header.values.get(_PREFIX + key)
    if value is not None and not isinstance(value, bool):
        raise _refused(header, f"{_PREFIX}{key} is neither true nor false")
    return value


def _array(header: Header, key: str, types: tuple[str, ...]) -> Array | None:
    value = header.values.get(_PREFIX + key)
    if value is None:
        return None
    if not isinstance(value, Array) or value.type not in types:
        raise _refused(header, f"{_PREFIX}{key} is no array of {' or '.join(types)}")
    return value


def _refused(header: Header, message: str) -> EvidenceError:
    return EvidenceError(Problem(message, Location(header.name)))
