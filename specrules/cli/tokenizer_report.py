"""A compared pair of tokenizers as Markdown and as JSON."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from specrules.evidence.tokenizers import Comparison, Kind, Tokenizer
from specrules.pipeline.tokenizer import EngineAnswer, Pair
from specrules.report.markdown import Markdown, code, escape

_SHORT = 16
_MEANING: dict[Kind, str] = {
    "identical": "Every id has the same text on both sides.",
    "identical_ids_pre_differs": "Every id has the same text on both sides; text is split differently ({unequal}).",
    "prefix_padding_only": "Every common id has the same text; one side has rows without a token behind it.",
    "prefix_added_tokens": "One side has {added} tokens that the other has not; all others are the same.",
    "special_differ": "{differing} special ids have another text; all others are the same.",
    "partial": "{differing} of {common} common ids have another text: {share} are the same.",
    "different": "Two vocabularies: {differing} of {common} common ids have another text.",
    "mapped_d2t": "The head drafts from {rows} rows and brings a table from them to the target's ids.",
    "no_tokenizer": "{which} has no tokenizer, as heads have none: there is nothing to compare.",
}


def as_json(pair: Pair) -> str:
    """Return everything that was found as JSON."""
    found = pair.comparison
    first = found.first
    data: dict[str, Any] = {
        "schema": 1,
        "kind": found.kind,
        "meaning": _meaning(found),
        "target": _side(found.target),
        "drafter": _side(found.drafter),
        "common": found.common,
        "differing": found.differing,
        "differing_special": found.differing_special,
        "added": found.added,
        "share": found.share,
        "shared_texts": found.shared_texts,
        "last_differing_id": found.last_differing_id,
        "first_difference": None
        if first is None
        else {
            "id": first.id,
            "target": _text(first.target),
            "drafter": _text(first.drafter),
            "target_type": first.target_type.name.lower(),
            "drafter_type": first.drafter_type.name.lower(),
        },
        "unequal": list(found.unequal),
        "not_compared": list(found.not_compared),
        "specials": [{"name": item.name, "target": item.target, "drafter": item.drafter} for item in found.specials],
        "engines": [_engine(answer) for answer in pair.answers],
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def as_markdown(pair: Pair) -> str:
    """Return a page: the class of the pair, both sides, and the answer of every engine."""
    found = pair.comparison
    lines = [f"# Tokenizers: {escape(found.kind)}", "", escape(_meaning(found)), ""]
    lines += _table(("", "target", "drafter"), _rows(found))
    remarks = list(_remarks(found))
    if remarks:
        lines += ["", *(f"- {remark}" for remark in remarks)]
    if pair.answers:
        lines += ["", "## What engines do with this pair", ""]
        lines += _table(("engine", "methods", "answer", "why"), map(_engine_row, pair.answers))
    if found.drafter.head is not None or not found.drafter.exists:
        lines += ["", "A head takes the target's tokenizer, and engines compare none for its methods."]
    return "\n".join(lines)


def _meaning(found: Comparison) -> str:
    head = found.head
    return _MEANING[found.kind].format(
        unequal=", ".join(found.unequal),
        added=found.added,
        differing=found.differing,
        common=found.common,
        share="" if found.share is None else f"{100 * found.share:.4g} %",
        rows="?" if head is None or head.rows is None else head.rows,
        which="The drafter" if found.target.exists else "The target",
    )


def _rows(found: Comparison) -> Iterator[tuple[str, ...]]:
    sides = (found.target, found.drafter)
    yield "file", *(code(side.source) for side in sides)
    yield "read from", *(escape(side.form) for side in sides)
    yield "model", *(escape(side.model or "?") for side in sides)
    yield "pre-tokenizer", *(escape(side.pre or "?") for side in sides)
    yield "ids", *(str(len(side.texts)) for side in sides)
    yield "rows of the model", *("?" if side.rows is None else str(side.rows) for side in sides)
    yield "types", *(escape(_counts(side) or "?") for side in sides)
    yield "merges", *("?" if side.merges is None else str(len(side.merges)) for side in sides)
    for name in ("bos", "eos"):
        yield f"adds {name.upper()}", *(_added(side, name) for side in sides)
    yield "sha256 of all texts", *(code(_digest(side) or "none") for side in sides)
    yield "seed hash (first 2000 texts, proves nothing)", *(code(side.seed_hash or "none") for side in sides)


def _remarks(found: Comparison) -> Iterator[str]:
    first = found.first
    if first is not None:
        target, drafter = code(_visible(first.target)), code(_visible(first.drafter))
        kinds = f"{first.target_type.name.lower()}, {first.drafter_type.name.lower()}"
        yield f"The first id that differs is {first.id}: {target} and {drafter} ({escape(kinds)})."
    if found.differing and found.shared_texts is not None:
        yield f"The target has {100 * found.shared_texts:.4g} % of the drafter's texts, under whatever id."
    for item in found.specials:
        yield escape(f"{item.name}: {_value(item.target)} and {_value(item.drafter)}")
    if found.unequal and found.kind != "identical_ids_pre_differs":
        yield f"Differs beside ids: {escape(', '.join(found.unequal))}"
    if found.not_compared:
        yield f"Known on one side only: {escape(', '.join(found.not_compared))}"
    head = found.head
    if head is not None and not head.table:
        rows = "fewer" if head.rows is None else str(head.rows)
        yield f"The drafter drafts from {rows} rows; without the table d2t engines take them for the first ids."
    for name, side in (("target", found.target), ("drafter", found.drafter)):
        yield from (escape(f"{name}: {note}") for note in side.notes)


def _engine_row(answer: EngineAnswer) -> tuple[str, ...]:
    why = escape(answer.reason)
    if answer.log_text:
        why = Markdown(f"{why}; it logs {code(answer.log_text)}")
    methods = Markdown(", ".join(code(name) for name in answer.methods))
    return escape(f"{answer.title} {answer.version}"), methods, escape(answer.answer.replace("-", " ")), why


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = tuple(head)
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _side(side: Tokenizer) -> dict[str, Any]:
    merges, head = side.merges, side.head
    return {
        "source": side.source,
        "form": side.form,
        "model": side.model,
        "family": side.family,
        "pre": side.pre,
        "ids": len(side.texts),
        "rows": side.rows,
        "types": side.type_counts,
        "merges": None if merges is None else {"count": len(merges), "sha256": merges.sha256},
        "add_bos": side.add_bos,
        "add_eos": side.add_eos,
        "special_ids": dict(side.special_ids),
        "sha256": side.texts.sha256 if side.exists else None,
        "seed_hash": side.seed_hash,
        "head": None if head is None else {"rows": head.rows, "table": head.table},
        "notes": list(side.notes),
    }


def _engine(answer: EngineAnswer) -> dict[str, Any]:
    return {
        "engine": answer.engine,
        "version": answer.version,
        "methods": list(answer.methods),
        "answer": answer.answer,
        "drafts": answer.drafts,
        "check": answer.check,
        "reason": answer.reason,
        "log_text": answer.log_text,
        "unchecked": answer.unchecked,
    }


def _added(side: Tokenizer, name: str) -> str:
    adds = side.add_bos if name == "bos" else side.add_eos
    token = side.special_ids.get(name)
    said = "?" if adds is None else "yes" if adds else "no"
    if token is None or not 0 <= token < len(side.texts):
        return said
    return f"{said} ({token} {code(_visible(side.texts[token]))})"


def _counts(side: Tokenizer) -> str:
    return ", ".join(f"{count} {name.replace('_', '-')}" for name, count in side.type_counts.items())


def _digest(side: Tokenizer) -> str:
    return side.texts.sha256[:_SHORT] if side.exists else ""


def _value(value: int | bool) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _visible(data: bytes) -> str:
    """The text with everything in it visible: spaces as open boxes, controls and marks by their number."""
    return "".join(_shown(char) for char in _text(data)) or "(empty)"


def _shown(char: str) -> str:
    if char == " ":
        return "\u2423"
    if unicodedata.category(char) in {"Cc", "Cf", "Zs", "Zl", "Zp"}:
        return f"\\u{ord(char):04x}"
    return char
