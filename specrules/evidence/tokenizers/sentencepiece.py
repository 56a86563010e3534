"""`tokenizer.model` of SentencePiece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from specrules.evidence.tokenizers.assemble import Vocabulary, assembled
from specrules.evidence.tokenizers.documents import MAX_TOKENS, Folder, refused
from specrules.evidence.tokenizers.settings import Settings
from specrules.evidence.tokenizers.tokenizer import SPACE_MARK, Tokenizer, TokenType
from specrules.evidence.tokenizers.wire import Field, WireError, fields

# Numbers of the fields in sentencepiece_model.proto.
_PIECES, _TRAINER = 1, 2
_TEXT, _TYPE = 1, 3
_MODEL_TYPE = 3
_BPE = 2
_IDS = {"unk": (40, 0), "bos": (41, 1), "eos": (42, 2), "pad": (43, -1)}
_TYPES = frozenset(TokenType)


def looks_like_sentencepiece(data: bytes) -> bool:
    """Whether a file begins with a piece, as SentencePiece writes it."""
    return data[:1] == b"\x0a" and data[2:3] == b"\x0a"


def from_sentencepiece(data: bytes, name: str, folder: Folder, settings: Settings) -> Tokenizer:
    """Return the tokenizer of a SentencePiece model. EvidenceError where it is none."""
    place = folder.place(name)
    texts: dict[int, bytes] = {}
    types: dict[int, TokenType] = {}
    trainer: dict[int, Field] = {}
    try:
        for number, value in fields(data):
            if number == _PIECES and isinstance(value, bytes):
                token = len(texts)
                if token >= MAX_TOKENS:
                    raise refused(place, f"holds more than {MAX_TOKENS} pieces")
                texts[token], types[token] = _piece(value)
            elif number == _TRAINER and isinstance(value, bytes):
                trainer = dict(fields(value))
    except WireError as error:
        raise refused(place, f"no SentencePiece model: {error}") from None
    if not texts:
        raise refused(place, "no SentencePiece model: it holds no pieces")
    # The converter writes byte-pair models as `llama`; of unigram models it depends on the architecture.
    model = "llama" if trainer.get(_MODEL_TYPE) == _BPE else None
    return assembled(place, "sentencepiece", Vocabulary(texts, types, model), _with_ids(settings, trainer, len(texts)))


def _with_ids(settings: Settings, trainer: Mapping[int, Field], size: int) -> Settings:
    """Special tokens that the files beside it do not name are those that the model was trained with."""
    ids = {name: trainer.get(number, default) for name, (number, default) in _IDS.items()}
    own = {name: token for name, token in ids.items() if isinstance(token, int) and 0 <= token < size}
    return replace(settings, ids=own | dict(settings.ids))


def _piece(data: bytes) -> tuple[bytes, TokenType]:
    text, kind = b"", TokenType.NORMAL
    for number, value in fields(data):
        if number == _TEXT and isinstance(value, bytes):
            text = value
        elif number == _TYPE and isinstance(value, int):
            kind = TokenType(value) if value in _TYPES else TokenType.UNDEFINED
    return text.replace(SPACE_MARK, b" ") if kind is TokenType.USER_DEFINED else text, kind
