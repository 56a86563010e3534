"""`tokenizer.json` of Hugging Face: vocabulary, merges, added tokens, and what the post-processor puts around text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from specrules.evidence.tokenizers.assemble import Vocabulary, assembled, encoded
from specrules.evidence.tokenizers.documents import Folder, listed, part, refused, token_id
from specrules.evidence.tokenizers.ggml_defaults import Additions
from specrules.evidence.tokenizers.settings import Added, Settings
from specrules.evidence.tokenizers.texts import Texts
from specrules.evidence.tokenizers.tokenizer import Tokenizer, TokenType

_BYTE = re.compile(rb"<0x[0-9A-F]{2}>")
_MODELS = {"WordPiece": "bert", "Unigram": None, "WordLevel": None}
# What the converter writes for a space inside of a merge, whose two sides a space parts.
_SPACE_IN_MERGE = chr(ord(" ") + 256)


def from_tokenizer_json(document: Mapping[str, Any], name: str, folder: Folder, settings: Settings) -> Tokenizer:
    """Return the tokenizer of a parsed tokenizer.json. EvidenceError with its place where it is broken."""
    place = folder.place(name)
    model = part(document, "model")
    texts = _vocabulary(model, place)
    if not texts:
        raise refused(place, "the vocabulary is empty or no mapping of texts to ids")
    added = tuple(_added(document, place))
    types: dict[int, TokenType] = {}
    if model.get("byte_fallback"):
        types = {token: TokenType.BYTE for token, text in texts.items() if _BYTE.fullmatch(text)}
        types |= dict.fromkeys(_unknown(model, texts), TokenType.UNKNOWN)
    vocabulary = Vocabulary(texts, types, _ggml_model(model, settings), _merges(model, place))
    adds, named = _post_processor(document, settings)
    known = replace(settings, texts=dict(settings.texts) | named)
    return assembled(place, "tokenizer.json", vocabulary, known, added=added, adds=adds)


def _vocabulary(model: Mapping[str, Any], place: str) -> dict[int, bytes]:
    vocabulary = model.get("vocab")
    if isinstance(vocabulary, list):
        pieces = [piece[0] if isinstance(piece, list) and piece else None for piece in vocabulary]
        if not all(isinstance(piece, str) for piece in pieces):
            raise refused(place, "model.vocab holds something that is no pair of a text and a score")
        return {token: encoded(str(piece)) for token, piece in enumerate(pieces)}
    if not isinstance(vocabulary, dict):
        return {}
    return {token_id(value, place): encoded(text) for text, value in vocabulary.items()}


def _added(document: Mapping[str, Any], place: str) -> Iterator[Added]:
    for item in listed(document, "added_tokens", place):
        if not isinstance(item, dict) or not isinstance(item.get("content"), str):
            raise refused(place, "added_tokens holds something that is no token")
        yield Added(token_id(item.get("id"), place), item["content"], bool(item.get("special")))


def _unknown(model: Mapping[str, Any], texts: Mapping[int, bytes]) -> Iterator[int]:
    unknown = model.get("unk_token")
    if isinstance(unknown, str):
        yield from (token for token, text in texts.items() if text == encoded(unknown))


def _ggml_model(model: Mapping[str, Any], settings: Settings) -> str | None:
    """The name that the converter gives to this kind; None where that depends on the architecture."""
    kind = model.get("type")
    if kind is not None and kind != "BPE":
        return _MODELS.get(str(kind))
    if (settings.model_type or "").startswith("gemma4"):
        return "gemma4"
    return "llama" if model.get("byte_fallback") else "gpt2"


def _merges(model: Mapping[str, Any], place: str) -> Texts | None:
    merges = model.get("merges")
    if not isinstance(merges, list) or not merges:
        return None
    if not all(isinstance(merge, str) or _is_pair(merge) for merge in merges):
        raise refused(place, "model.merges holds something that is no pair of texts")
    joined = (
        merge if isinstance(merge, str) else " ".join(side.replace(" ", _SPACE_IN_MERGE) for side in merge)
        for merge in merges
    )
    return Texts([encoded(merge) for merge in joined])


def _is_pair(merge: object) -> bool:
    return isinstance(merge, list) and len(merge) == 2 and all(isinstance(side, str) for side in merge)


def _post_processor(document: Mapping[str, Any], settings: Settings) -> tuple[Additions, dict[str, str]]:
    """What is put around a text, and special tokens that follow from it.

    Read as llama.cpp's converter reads it (gguf-py/gguf/vocab.py at b11434).
    """
    post = part(document, "post_processor")
    adds: dict[str, bool] = {}
    named: dict[str, str] = {}
    steps = post.get("processors", [post])
    for step in steps if isinstance(steps, list) else ():
        kind = step.get("type") if isinstance(step, dict) else None
        if kind == "ByteLevel":
            adds = {"bos": False, "eos": False} | adds
        elif kind == "RobertaProcessing":
            adds |= {"bos": True, "eos": True}
        elif kind == "TemplateProcessing":
            first, last = _around(step)
            if first is not None:
                begin = settings.texts.get("bos", settings.texts.get("cls", first))
                adds["bos"] = first in {begin, settings.texts.get("cls", first)}
                named.setdefault("bos", begin)
            if last is not None:
                # A last token that is not the declared end becomes the end, and the declared one the end of a turn.
                adds["eos"] = True
                named["eos"] = last
    return Additions(adds.get("bos"), adds.get("eos")), named


def _around(step: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The special tokens before and behind a single text."""
    single = step.get("single")
    if not isinstance(single, list) or len(single) < 2:
        return None, None
    first, last = (
        part(item, "SpecialToken").get("id") if isinstance(item, dict) else None for item in (single[0], single[-1])
    )
    return first if isinstance(first, str) else None, last if isinstance(last, str) else None
