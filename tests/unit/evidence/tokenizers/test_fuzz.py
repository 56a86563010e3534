"""Whatever stands in the files of a tokenizer, the outcome is a tokenizer or an EvidenceError."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.errors import EvidenceError
from specrules.evidence.tokenizers import compare
from specrules.evidence.tokenizers.load import tokenizer_from

from .build import tokenizer_json

WORDS = {"<s>": 0, "</s>": 1, "a": 2, "b": 3, "ab": 4, "<0x0A>": 5}
POST = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
}
TOKENIZER = tokenizer_json(
    model={"vocab": WORDS, "merges": [["a", "b"], "a b"], "byte_fallback": True, "unk_token": "a"},
    added_tokens=[{"id": 6, "content": "<x>", "special": True}],
    post_processor={"type": "Sequence", "processors": [{"type": "ByteLevel"}, POST]},
)
UNIGRAM = tokenizer_json(model={"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]], "merges": None})
FILES: dict[str, Any] = {
    "tokenizer.json": TOKENIZER,
    "vocab.json": WORDS,
    "tokenizer_config.json": {
        "add_bos_token": True,
        "bos_token": {"content": "<s>"},
        "eos_token": "</s>",
        "additional_special_tokens": ["a", {"content": "b"}],
        "added_tokens_decoder": {"7": {"content": "<y>", "special": True}},
    },
    "config.json": {
        "vocab_size": 12,
        "draft_vocab_size": 5,
        "bos_token_id": 1,
        "eos_token_id": [2, 3],
        "model_type": "llama",
        "text_config": {"vocab_size": 12},
    },
    "special_tokens_map.json": {"pad_token": "a"},
    "added_tokens.json": {"<z>": 8},
    "model.safetensors.index.json": {"weight_map": {"d2t": "x"}},
}
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 10**9, 2**70, 1.5, float("inf"), float("nan"), "", "x", "<s>", "\ud800"),
    *([], {}, [[]], [None], ["a"], [1, 2], {"a": -1}, {"a": 1}, {"id": "a"}, {"content": 5}, {"type": []}),
]


class Files:
    """Files in memory."""

    def __init__(self, documents: dict[str, Any]) -> None:
        self.content = {name: json.dumps(document).encode() for name, document in documents.items()}

    def place(self, name: str) -> str:
        return name

    def read(self, name: str, first: int | None = None) -> bytes | None:
        found = self.content.get(name)
        return None if found is None else found[:first]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


@st.composite
def changed(draw: st.DrawFn) -> dict[str, Any]:
    """Return the files with some values replaced, and some taken out."""
    files = copy.deepcopy(FILES)
    if draw(st.booleans()):
        files["tokenizer.json"] = copy.deepcopy(UNIGRAM)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([path for path in places(files) if path]))
        owner = files
        for key in path[:-1]:
            owner = owner[key]
        if draw(st.integers(0, 5)):
            owner[path[-1]] = copy.deepcopy(draw(st.sampled_from(ODD)))
        else:
            del owner[path[-1]]
    return files


@given(changed(), st.sampled_from(["tokenizer.json", "vocab.json", "config.json"]))
@settings(max_examples=200, deadline=None)
def test_a_tokenizer_or_an_error(documents: dict[str, Any], name: str) -> None:
    files = Files(documents)
    data = files.read(name)
    if data is None:
        return
    try:
        found = tokenizer_from(data, name, files)
    except EvidenceError:
        return
    assert compare(found, found).kind in {"identical", "no_tokenizer", "mapped_d2t"}
    assert found.exists is (found.seed_hash is not None)


def test_the_files_are_good_as_they_are() -> None:
    found = tokenizer_from(json.dumps(TOKENIZER).encode(), "tokenizer.json", Files(FILES))
    assert (found.rows, len(found.texts), found.add_bos, found.notes) == (12, 12, True, ())
    assert found.head is not None
    assert (found.head.rows, found.head.table) == (5, True)
