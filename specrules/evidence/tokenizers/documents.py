"""JSON files beside and of a tokenizer, of limited size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from specrules.errors import EvidenceError, Location, Problem

MAX_DOCUMENT = 128 << 20
MAX_TOKENS = 1 << 21


class Folder(Protocol):
    """Where a file and its companions are: a folder, or an address that ends in a slash."""

    def place(self, name: str) -> str:
        """Return what a file is called in messages."""

    def read(self, name: str, first: int | None = None) -> bytes | None:
        """Return the content of a file, or its first bytes, or None where there is no such file.

        Raises EvidenceError where it cannot be read or is too large.
        """


def parsed(data: bytes, place: str) -> dict[str, Any]:
    """Return a JSON object. EvidenceError for anything else, with its place."""
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise refused(place, f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise EvidenceError(Problem(f"not JSON: {error.msg}", Location(place, error.lineno, error.colno))) from None
    except (RecursionError, ValueError):
        raise refused(place, "JSON that is nested too deeply or holds numbers of too many digits") from None
    if not isinstance(value, dict):
        raise refused(place, "a JSON object is expected")
    return value


def companion(folder: Folder, name: str) -> dict[str, Any]:
    """Return a JSON object beside a tokenizer; empty where there is no such file."""
    data = folder.read(name)
    return {} if data is None else parsed(data, folder.place(name))


def part(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an object inside an object; empty where there is none."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def listed(document: Mapping[str, Any], key: str, place: str) -> list[Any]:
    """Return a list inside an object; empty where there is none. EvidenceError for anything else under its name."""
    value = document.get(key)
    if value is not None and not isinstance(value, list):
        raise refused(place, f"{key} is no list")
    return value or []


def token_id(value: object, place: str) -> int:
    """Return an id. EvidenceError for what is none, and for one so large that no vocabulary has it."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MAX_TOKENS:
        raise refused(place, f"{value!r} is no token id")
    return value


def refused(place: str, message: str, hint: str = "") -> EvidenceError:
    """Return the error for a file that is no tokenizer or a broken one."""
    return EvidenceError(Problem(message, Location(place), hint))
