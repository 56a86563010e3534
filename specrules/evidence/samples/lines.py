"""The lines of a samples file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from specrules.errors import EvidenceError, Location, Problem
from specrules.evidence.source import Source
from specrules.model.sample import Sample

MARK = '"what":"sample"'
_HEAD = 256


def is_samples_file(path: str) -> bool:
    """Tell whether a file begins with a sample. False for what cannot be opened, and for standard input."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return MARK in file.read(_HEAD).decode("utf-8", errors="replace").replace(" ", "")
    except OSError:
        return False


def written(sample: Sample) -> str:
    """Return a sample as a line. The mark comes first, so that the file can be told by its head."""
    data = sample.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps({"what": "sample"} | data, ensure_ascii=False, separators=(",", ":"))


def read_lines(source: Source) -> tuple[tuple[Sample, ...], tuple[Problem, ...]]:
    """Return the samples of a file, and a warning where the last line was cut while it was written.

    Raises EvidenceError with every line that is no sample.
    """
    samples: list[Sample] = []
    problems: list[Problem] = []
    lines = source.text.split("\n")
    warnings: list[Problem] = list(source.warnings)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            samples.append(Sample.model_validate_json(line))
        except ValidationError as error:
            at = Location(source.name, number)
            if number == len(lines):
                warnings.append(Problem("the last line was cut while it was written, and was left out", at))
            else:
                problems.append(Problem(f"no sample: {_first(error)}", at))
    if problems:
        raise EvidenceError(problems)
    return tuple(samples), tuple(warnings)


def arms_of(samples: tuple[Sample, ...]) -> tuple[str, ...]:
    """Return the arms that were measured, in the order in which they first occur."""
    return tuple(dict.fromkeys(sample.arm for sample in samples))


def counted(samples: tuple[Sample, ...], arm: str) -> Iterator[Sample]:
    """Yield the samples of an arm that count: no warm-up, and nothing that failed."""
    return (item for item in samples if item.arm == arm and not item.warm_up and not item.error)


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else str(first["msg"])
