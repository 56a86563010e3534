"""What the files beside a tokenizer say: rows of the model, added tokens, special tokens, and whether BOS is added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specrules.evidence.tokenizers.checkpoint import has_draft_table
from specrules.evidence.tokenizers.documents import MAX_TOKENS, Folder, companion, listed, part, refused, token_id

SPECIAL_NAMES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
_CONFIG, _TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
_INNER_CONFIGS = ("text_config", "llm_config", "language_config")


@dataclass(frozen=True, slots=True)
class Added:
    """A token that was added to a vocabulary after training."""

    id: int
    text: str
    special: bool


@dataclass(frozen=True)
class Settings:
    """What is known beside the vocabulary.

    `rows` is `vocab_size` of config.json: rows of the embedding. `draft_rows` is what a head drafts from, where that is
    less, and `draft_table` whether its checkpoint has the table d2t. `texts` are special tokens by text, `ids` by id.
    """

    rows: int | None = None
    draft_rows: int | None = None
    draft_table: bool | None = None
    model_type: str | None = None
    added: tuple[Added, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    ids: Mapping[str, int] = field(default_factory=dict)
    adds: Mapping[str, bool] = field(default_factory=dict)


def read_settings(folder: Folder) -> Settings:
    """Read config.json, tokenizer_config.json, special_tokens_map.json and added_tokens.json, as far as they exist.

    Raises EvidenceError for one that is broken.
    """
    config, own = companion(folder, _CONFIG), companion(folder, _TOKENIZER_CONFIG)
    named = companion(folder, "special_tokens_map.json") | own
    special = set(_texts_of(named).values()) | _additional(named, folder.place(_TOKENIZER_CONFIG))
    added = dict(_added_tokens(companion(folder, "added_tokens.json"), special, folder.place("added_tokens.json")))
    added |= dict(_decoder(part(own, "added_tokens_decoder"), folder.place(_TOKENIZER_CONFIG)))
    rows, draft_rows = _size(config, "vocab_size", folder), _size(config, "draft_vocab_size", folder)
    reduced = draft_rows is not None and draft_rows != rows
    return Settings(
        rows=rows,
        draft_rows=draft_rows if reduced else None,
        draft_table=has_draft_table(folder) if reduced else None,
        model_type=_model_type(config),
        added=tuple(added.values()),
        texts=_texts_of(named),
        ids=_ids(config),
        adds={name: own[key] for name in ("bos", "eos") if isinstance(own.get(key := f"add_{name}_token"), bool)},
    )


def _configs(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The config itself, and the one of the language model inside of a multimodal one."""
    yield config
    yield from (part(config, name) for name in _INNER_CONFIGS)


def _size(config: Mapping[str, Any], key: str, folder: Folder) -> int | None:
    value = next((each[key] for each in _configs(config) if each.get(key) is not None), None)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= MAX_TOKENS:
        raise refused(folder.place(_CONFIG), f"{key} is {value!r}, which is no number of tokens")
    return value


def _model_type(config: Mapping[str, Any]) -> str | None:
    value = config.get("model_type")
    return value if isinstance(value, str) else None


def _ids(config: Mapping[str, Any]) -> dict[str, int]:
    """A list of ids (several end tokens) says which ones stop, not which one is added."""
    found = {}
    for name in SPECIAL_NAMES:
        value = next((each[key] for each in _configs(config) if each.get(key := f"{name}_token_id") is not None), None)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            found[name] = value
    return found


def _texts_of(named: Mapping[str, Any]) -> dict[str, str]:
    """Special tokens are written as a text or as an object with its content."""
    found = {}
    for name in SPECIAL_NAMES:
        value = named.get(f"{name}_token")
        text = value.get("content") if isinstance(value, dict) else value
        if isinstance(text, str):
            found[name] = text
    return found


def _additional(named: Mapping[str, Any], place: str) -> set[str]:
    items = listed(named, "additional_special_tokens", place)
    texts = [item.get("content") if isinstance(item, dict) else item for item in items]
    return {text for text in texts if isinstance(text, str)}


def _added_tokens(document: Mapping[str, Any], special: set[str], place: str) -> Iterator[tuple[int, Added]]:
    for text, value in document.items():
        number = token_id(value, place)
        yield number, Added(number, text, text in special)


def _decoder(document: Mapping[str, Any], place: str) -> Iterator[tuple[int, Added]]:
    for key, item in document.items():
        text = item.get("content") if isinstance(item, dict) else None
        if not key.isascii() or not key.isdigit() or not isinstance(text, str):
            raise refused(place, f"added_tokens_decoder: {key!r} is no id with a token")
        number = token_id(int(key[:20]), place)
        yield number, Added(number, text, bool(item.get("special")))
