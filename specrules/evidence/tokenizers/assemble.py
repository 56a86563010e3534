"""A vocabulary and its added tokens as the list of texts and types that llama.cpp's converter writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from specrules.evidence.tokenizers.ggml_defaults import FAMILIES, UNSTATED, Additions, additions
from specrules.evidence.tokenizers.settings import Added, Settings
from specrules.evidence.tokenizers.texts import Texts
from specrules.evidence.tokenizers.tokenizer import SPACE_MARK, Form, Head, Tokenizer, TokenType, looks_special, padding


@dataclass(frozen=True)
class Vocabulary:
    """What a vocabulary file says: texts by id, types by id where they are not plain, and the kind of model."""

    texts: Mapping[int, bytes]
    types: Mapping[int, TokenType]
    model: str | None
    merges: Texts | None = None


def assembled(
    source: str,
    form: Form,
    vocabulary: Vocabulary,
    settings: Settings,
    *,
    added: Iterable[Added] = (),
    adds: Additions = UNSTATED,
    notes: tuple[str, ...] = (),
) -> Tokenizer:
    """Put a tokenizer together. `added` are added tokens of the vocabulary's own file, which count more than others.

    Ids without a token get a padding text up to the rows of the model; tokens beyond its rows are left out.
    """
    by_id = {item.id: item for item in settings.added} | {item.id: item for item in added}
    count = max((*vocabulary.texts, *by_id), default=-1) + 1
    size = count if settings.rows is None else settings.rows
    remarks = list(notes)
    if settings.rows is None:
        remarks.append("how many rows the model has is not known: there is no config.json with vocab_size beside it")
    elif count > size:
        remarks.append(f"{count - size} tokens lie beyond the {size} rows of the model and were left out")
    texts = [padding(token) for token in range(size)]
    types = bytearray([TokenType.UNUSED]) * size
    for token, text in vocabulary.texts.items():
        if token < size:
            texts[token] = text
            types[token] = vocabulary.types.get(token, TokenType.NORMAL)
    for token, item in by_id.items():
        if token < size:
            kind = TokenType.CONTROL if item.special or looks_special(encoded(item.text)) else TokenType.USER_DEFINED
            if vocabulary.types.get(token) is not TokenType.UNKNOWN:
                types[token] = kind
            texts[token] = _converted(item.text, kind)
    special_ids = _special_ids(settings, texts)
    for token in special_ids.values():
        if types[token] == TokenType.NORMAL:
            types[token] = TokenType.CONTROL
    model = vocabulary.model
    flags = Additions(
        adds.bos if adds.bos is not None else settings.adds.get("bos"),
        adds.eos if adds.eos is not None else settings.adds.get("eos"),
    )
    flags = additions(model, None, flags, pre_known=False)
    return Tokenizer(
        source=source,
        form=form,
        texts=Texts(texts),
        rows=settings.rows,
        model=model,
        family=None if model is None else FAMILIES.get(model, model),
        types=bytes(types),
        merges=vocabulary.merges,
        add_bos=flags.bos,
        add_eos=flags.eos,
        special_ids=special_ids,
        head=head_of(settings),
        notes=tuple(remarks),
    )


def head_of(settings: Settings) -> Head | None:
    """A head with a reduced vocabulary, where config.json says that there is one."""
    return None if settings.draft_rows is None else Head(settings.draft_rows, settings.draft_table)


def encoded(text: str) -> bytes:
    """UTF-8, with half surrogate pairs as JSON can hold them."""
    return text.encode("utf-8", "surrogatepass")


def _converted(text: str, kind: TokenType) -> bytes:
    """The converter writes spaces in user-defined tokens as spaces."""
    data = encoded(text)
    return data.replace(SPACE_MARK, b" ") if kind is TokenType.USER_DEFINED else data


def _special_ids(settings: Settings, texts: list[bytes]) -> dict[str, int]:
    """Ids by the text of special tokens, else as config.json states them."""
    found = {name: token for name, token in settings.ids.items() if token < len(texts)}
    wanted = {encoded(text) for text in settings.texts.values()}
    first = {text: token for token, text in reversed(list(enumerate(texts))) if text in wanted} if wanted else {}
    named = {name: first.get(encoded(text)) for name, text in settings.texts.items()}
    return found | {name: token for name, token in named.items() if token is not None}
