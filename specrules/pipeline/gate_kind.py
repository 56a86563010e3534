"""Whether a file is a case or a deployment, told from its top-level keys before anything is parsed."""

from __future__ import annotations

import os
import re
from pathlib import Path

_ENOUGH = 64 << 10
_CASE_SUFFIXES = (".specrules.yaml", ".specrules.yml")
_KEY = re.compile(r"^(?:\{\s*)?[\"']?(schema|target|drafter|incumbent|measurements)[\"']?[ \t]*:", re.MULTILINE)
_SCHEMA = "schema"


def is_case(path: str | os.PathLike[str]) -> bool:
    """Tell by the name, else by the keys at the margin: `schema`, or two others that only cases have.

    A case with a mistake in it still counts as one, so that the mistake is reported as what it is. A file that cannot
    be read counts as a deployment, whose reader says so, and a pipe too: it can be read only once.
    """
    shown = os.fspath(path)
    if shown.endswith(_CASE_SUFFIXES):
        return True
    if not Path(shown).is_file():
        return False
    try:
        with Path(shown).open("rb") as file:
            text = file.read(_ENOUGH).decode("utf-8", "replace").removeprefix("\ufeff")
    except (OSError, ValueError):
        return False
    found = {match.group(1) for match in _KEY.finditer(text)}
    return _SCHEMA in found or len(found) > 1
