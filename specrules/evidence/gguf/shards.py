"""The files of a split model, `NAME-00001-of-00003.gguf`."""

from __future__ import annotations

import os
import re
from pathlib import Path

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.gguf.errors import GgufError

_SPLIT = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)


def shard_names(name: str) -> tuple[str, ...]:
    """Return the names of all files of a split model, given the name of any; the name alone where it is no split one.

    Raises GgufError for a number that cannot be: file 4 of 3, or file 0.
    """
    match = _SPLIT.fullmatch(name)
    if not match:
        return (name,)
    number, count = int(match["number"]), int(match["count"])
    if not 1 <= number <= count:
        raise GgufError(f"there is no file {number} of {count}", name)
    return tuple(f"{match['stem']}-{each:05d}-of-{count:05d}.gguf" for each in range(1, count + 1))


def shards(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files of a model in order, given any of them. The first one has the tokenizer.

    Raises EvidenceError that names every file that is missing.
    """
    given = Path(path)
    files = tuple(given.with_name(name) for name in shard_names(given.name))
    missing = [file for file in files if len(files) > 1 and not file.exists()]
    if missing:
        message = "this file of the split model is missing"
        raise EvidenceError(Problem(message, Location(str(file))) for file in missing)
    return files
