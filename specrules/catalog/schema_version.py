"""The version of the document format that a file is written in."""

from __future__ import annotations

from specrules.catalog.document import Document
from specrules.catalog.wording import shown
from specrules.errors import Problem

NEWEST = 1
KEY = "schema"


def schema_problems(document: Document, newest: int = NEWEST) -> list[Problem]:
    """Return what is wrong with `schema`, at most one problem. A document with one is not worth validating."""
    if KEY not in document.data:
        return [document.problem(f"missing key '{KEY}'", (), f"write '{KEY}: {newest}' at the top")]
    value = document.data[KEY]
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        wanted = "1" if newest == 1 else f"a whole number from 1 to {newest}"
        return [document.problem(f"'{KEY}' must be {wanted}, not {shown(value)}", (KEY,))]
    if value > newest:
        message = f"written for a newer specrules (schema {value}, this one reads {newest})"
        return [document.problem(message, (KEY,))]
    return []
