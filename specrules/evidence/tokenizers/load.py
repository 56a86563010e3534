"""From a path or an address to a tokenizer, whatever kind of file it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from specrules.evidence.gguf import HeaderCache, Progress, address, read_header, shards
from specrules.evidence.tokenizers.assemble import head_of
from specrules.evidence.tokenizers.documents import Folder, parsed, refused
from specrules.evidence.tokenizers.from_gguf import tokenizer_of
from specrules.evidence.tokenizers.places import DiskFolder
from specrules.evidence.tokenizers.ranks import from_ranks, looks_like_ranks
from specrules.evidence.tokenizers.sentencepiece import from_sentencepiece, looks_like_sentencepiece
from specrules.evidence.tokenizers.settings import read_settings
from specrules.evidence.tokenizers.texts import Texts
from specrules.evidence.tokenizers.tokenizer import Tokenizer
from specrules.evidence.tokenizers.tokenizer_json import from_tokenizer_json
from specrules.evidence.tokenizers.vocab_json import from_vocab_json

NAMES = ("tokenizer.json", "vocab.json", "tokenizer.model", "tiktoken.model")
"""The files of a folder that hold a vocabulary; the first one that is there counts."""

_CONFIG = "config.json"
_MAGIC = b"GGUF"
_DOCUMENTS = (".json", ".model", ".tiktoken", ".txt")
_HINT = "name a GGUF file, tokenizer.json, vocab.json, tokenizer.model, a tiktoken rank file, or a folder with one"
_COMPANIONS: Mapping[str, str] = {
    "tokenizer_config.json": "tokenizer.json",
    "special_tokens_map.json": "tokenizer.json",
    "added_tokens.json": "tokenizer.json",
    "merges.txt": "vocab.json",
}


def load_tokenizer(source: str, *, cache: HeaderCache | None = None, progress: Progress | None = None) -> Tokenizer:
    """Return the tokenizer of a GGUF file, a tokenizer file or a folder with one, or of an http(s) address of one.

    Files beside a tokenizer file are read too: tokenizer_config.json, config.json, special_tokens_map.json,
    added_tokens.json, merges.txt. `cache` and `progress` are for GGUF headers from the web. Raises EvidenceError for
    what cannot be read or is no tokenizer.
    """
    if address.is_url(source):
        return _from_web(source, cache, progress)
    path = Path(source)
    if path.is_dir():
        return _from_folder(DiskFolder(path), source)
    folder = DiskFolder(path.parent)
    if _begins_with_magic(path):
        return tokenizer_of(read_header(shards(path)[0], identity_only=True))
    data = folder.read(path.name)
    if data is None:
        raise refused(source, "there is no such file")
    return tokenizer_from(data, path.name, folder)


def tokenizer_from(data: bytes, name: str, folder: Folder) -> Tokenizer:
    """Return the tokenizer in the content of a file that is not GGUF; companions come from its folder."""
    place = folder.place(name)
    if name in _COMPANIONS:
        raise refused(place, "holds no vocabulary", f"name the {_COMPANIONS[name]} beside it")
    if data.lstrip()[:1] == b"{":
        return _from_json(data, name, folder)
    if looks_like_ranks(data):
        return from_ranks(data, name, folder, read_settings(folder))
    if looks_like_sentencepiece(data):
        return from_sentencepiece(data, name, folder, read_settings(folder))
    raise refused(place, "no tokenizer is recognised in it", _HINT)


def _from_json(data: bytes, name: str, folder: Folder) -> Tokenizer:
    document = parsed(data, folder.place(name))
    if isinstance(document.get("model"), dict):
        return from_tokenizer_json(document, name, folder, read_settings(folder))
    if name == _CONFIG:
        return _without(name, folder)
    if document and all(isinstance(value, int) for value in document.values()):
        return from_vocab_json(document, name, folder, read_settings(folder))
    raise refused(folder.place(name), "no vocabulary is recognised in it", _HINT)


def _from_folder(folder: DiskFolder, source: str) -> Tokenizer:
    for name in NAMES:
        data = folder.read(name)
        if data is not None:
            return tokenizer_from(data, name, folder)
    if folder.read(_CONFIG) is not None:
        return _without(_CONFIG, folder)
    raise refused(source, "holds no tokenizer", _HINT)


def _from_web(url: str, cache: HeaderCache | None, progress: Progress | None) -> Tokenizer:
    """Files whose names say that they are a tokenizer are fetched whole; of all others the GGUF header is."""
    name = address.file_name(address.download_url(url))
    if name.endswith(_DOCUMENTS):
        from specrules.evidence.tokenizers.web import web_folder

        with web_folder(url) as folder:
            return tokenizer_from(folder.content(), name, folder)
    from specrules.evidence.gguf.remote import fetch_model

    return tokenizer_of(fetch_model(url, identity_only=True, cache=cache, progress=progress))


def _without(name: str, folder: Folder) -> Tokenizer:
    """A model folder without a tokenizer, which heads have."""
    settings = read_settings(folder)
    return Tokenizer(folder.place(name), "config.json", Texts(()), settings.rows, head=head_of(settings))


def _begins_with_magic(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False
