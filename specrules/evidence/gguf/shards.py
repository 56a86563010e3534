"""The files of a split model, `NAME-00001-of-00003.gguf`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.gguf.errors import GgufError
from specrules.evidence.gguf.header import Header

NUMBER_KEY = "split.no"
COUNT_KEY = "split.count"
TENSORS_KEY = "split.tensors.count"
_SPLIT = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL | re.ASCII)
#: A model of 1 TB in pieces of 2 GB has 500.
MAX_SHARDS = 2000


def shard_names(name: str) -> tuple[str, ...]:
    """Return the names of all files of a split model, given the name of any; the name alone where it is no split one.

    Raises GgufError for a number that cannot be, such as file 4 of 3, and for more than 2,000 files.
    """
    match = _SPLIT.fullmatch(name)
    if not match:
        return (name,)
    number, count = int(match["number"]), int(match["count"])
    if not 1 <= number <= count:
        raise GgufError(f"there is no file {number} of {count}", name)
    if count > MAX_SHARDS:
        raise GgufError(f"the model has {count} files, and at most {MAX_SHARDS} are read", name)
    return tuple(f"{match['stem']}-{each:05d}-of-{count:05d}.gguf" for each in range(1, count + 1))


def shards(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files of a model in order, given any of them. The first one has the tokenizer.

    Raises EvidenceError that names every file that is missing.
    """
    given = Path(path)
    files = tuple(given.with_name(name) for name in shard_names(given.name))
    missing = [file for file in files if len(files) > 1 and not file.exists()]
    if missing:
        raise EvidenceError(Problem("this file of the split model is missing", Location(str(file))) for file in missing)
    return files


def joined(headers: Sequence[Header], *, whole: bool) -> Header:
    """Return the header of a model from those of its files in order: of all where `whole`, else of the first alone.

    Raises GgufError where the keys about the split contradict the files: another number or count, a count of tensors
    that is not reached, or a tensor that is in two files.
    """
    first = headers[0]
    for number, header in enumerate(headers):
        _check_place(header, number)
        if whole:
            _check_count(header, len(headers))
    if len(headers) == 1:
        return first
    tensors = tuple(tensor for header in headers for tensor in header.tensors)
    promised = first.values.get(TENSORS_KEY)
    if promised is not None and promised != len(tensors):
        raise GgufError(f"{TENSORS_KEY} is {promised}, and the files have {len(tensors)} tensors", first.name)
    seen: dict[str, str] = {}
    for header in headers:
        for tensor in header.tensors:
            if tensor.name in seen:
                raise GgufError(f"the tensor {tensor.name!r} is in {seen[tensor.name]} as well", header.name)
            seen[tensor.name] = header.name
    return replace(first, tensors=tensors, shards=tuple(headers))


def _check_place(header: Header, number: int) -> None:
    place = header.values.get(NUMBER_KEY, number)
    if place != number:
        message = f"{NUMBER_KEY} is {place}, and this is taken for file {number}, counted from 0"
        raise GgufError(message, header.name, None, "keep the names that the split gave, and begin with the first file")


def _check_count(header: Header, count: int) -> None:
    said = header.values.get(COUNT_KEY, 1)
    # Programs that split a model leave 0 or nothing in one that they did not split.
    if said != count and (said, count) != (0, 1):
        message = f"{COUNT_KEY} is {said}, and by its name the model has {count}"
        raise GgufError(message, header.name, None, "a split model is named like model-00001-of-00003.gguf")
