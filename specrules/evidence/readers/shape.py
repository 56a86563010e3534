"""What the beginning of a large file says about its kind. A small file is simply tried as every kind."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from specrules.evidence.readers import json_document
from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.json_document import Document

_SAMPLE = re.compile(r"#|[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{.*\})? +[-+]?(?:[\d.]|Inf|NaN)\S*(?: +-?\d+)? *$")
_LINES = 200
# A value that is cut at the end of the head is reported a little before it.
_REACH = 16


def may_be_structured(head: str, readers: Sequence[CompiledReader]) -> bool:
    """Tell whether a file that begins so may be a metrics dump or a JSON document that one of the readers knows."""
    return may_be_dump(head, readers) or may_be_document(head, readers)


def may_be_dump(head: str, readers: Sequence[CompiledReader]) -> bool:
    """Tell whether most of the first lines are samples or comments, or a metric that a reader requires is there."""
    wanted = {name for reader in readers if reader.spec.kind == "prometheus" for name in reader.spec.requires}
    if any(head.startswith(name) or f"\n{name}" in head for name in wanted):
        return True
    lines = [line for line in head.split("\n", 4 * _LINES)[: 4 * _LINES] if line.strip()][:_LINES]
    return bool(wanted) and 2 * sum(1 for line in lines if _SAMPLE.match(line)) > len(lines)


def may_be_document(head: str, readers: Sequence[CompiledReader]) -> bool:
    """Tell whether the head is the beginning of one JSON value, or JSON lines with a record that a reader knows."""
    wanted = [reader for reader in readers if reader.spec.kind == "json"]
    text = head.lstrip()
    if not wanted or not text.startswith(("{", "[")):
        return False
    try:
        json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string") or error.pos >= len(text) - _REACH
    except (ValueError, RecursionError):
        return False
    lines = json_document.parse_lines(head.rpartition("\n")[0])
    return lines is not None and any(_knows(reader, lines) for reader in wanted)


def _knows(reader: CompiledReader, document: Document) -> bool:
    return any(
        all(any(True for _ in json_document.values(item, path)) for path in reader.spec.requires)
        for _, item in json_document.records(reader.spec.records, document)
    )
