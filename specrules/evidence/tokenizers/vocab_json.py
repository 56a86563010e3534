"""`vocab.json` and `merges.txt`, the two files of byte-level tokenizers before tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specrules.evidence.tokenizers.assemble import Vocabulary, assembled, encoded
from specrules.evidence.tokenizers.documents import Folder, refused, token_id
from specrules.evidence.tokenizers.settings import Settings
from specrules.evidence.tokenizers.texts import Texts
from specrules.evidence.tokenizers.tokenizer import Tokenizer

MERGES = "merges.txt"


def from_vocab_json(document: Mapping[str, Any], name: str, folder: Folder, settings: Settings) -> Tokenizer:
    """Return the tokenizer of a parsed vocab.json with the merges beside it. EvidenceError where one is broken."""
    place = folder.place(name)
    texts = {token_id(value, place): encoded(text) for text, value in document.items()}
    if not texts:
        raise refused(place, "the vocabulary is empty")
    merges = _merges(folder)
    notes = () if merges is not None else (f"there is no {MERGES} beside it",)
    return assembled(place, "vocab.json", Vocabulary(texts, {}, "gpt2", merges), settings, notes=notes)


def _merges(folder: Folder) -> Texts | None:
    data = folder.read(MERGES)
    if data is None:
        return None
    lines = [line.strip() for line in data.split(b"\n")]
    if lines and lines[0].startswith(b"#"):
        lines = lines[1:]
    pairs = [line.split() for line in lines if line]
    if any(len(pair) != 2 for pair in pairs):
        raise refused(folder.place(MERGES), "holds a line that is no pair of texts")
    return Texts([b" ".join(pair) for pair in pairs])
