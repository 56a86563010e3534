"""The text of a Prometheus dump: series of the metrics that a reader wants, and what their types are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specrules.errors import EvidenceError, Problem
from specrules.evidence.readers.compiled import CompiledField
from specrules.evidence.source import Source

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_TYPE = re.compile(r"# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (\w+)")
_SUFFIXES = ("_total", "_sum", "_count", "_bucket")
_COUNTERS = ("counter", "histogram", "summary")
# What printf's %g shows without being asked for more.
_SHORT_DIGITS = 6
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One sample of a metric, and how its value was printed."""

    metric: str
    labels: Labels
    value: float
    line: int
    printed: str = ""

    @property
    def name(self) -> str:
        """The metric with its labels, as dumps write it."""
        inside = ",".join(f'{name}="{value}"' for name, value in self.labels)
        return f"{self.metric}{{{inside}}}" if inside else self.metric


@dataclass(frozen=True, slots=True)
class Dump:
    """The wanted series of one file, and the type of each metric where the file states it."""

    source: Source
    series: Mapping[str, Sequence[Series]]
    types: Mapping[str, str]
    warnings: tuple[Problem, ...]

    def of(self, metric: str | None) -> Sequence[Series]:
        """Return the samples of a metric."""
        return self.series.get(metric or "", ())

    def type_of(self, metric: str) -> str | None:
        """Return the stated type of a metric: parts of histograms are named after them, and counters get a suffix."""
        bases = (metric.removesuffix(suffix) for suffix in _SUFFIXES if metric.endswith(suffix))
        return next((self.types[name] for name in (metric, *bases) if name in self.types), None)

    def is_counter(self, field: CompiledField) -> bool:
        """Tell whether a field counts up since the server started.

        What the engine's file says counts first, since dumps give the type counter to maxima too; then the stated type;
        a field without either counts up if its series are added up.
        """
        if field.spec.kind is not None:
            return field.spec.kind == "counter"
        stated = self.type_of(field.spec.metric or "")
        if stated is None or stated in {"untyped", "unknown"}:
            return field.spec.combine == "sum"
        return stated in _COUNTERS

    @property
    def is_short(self) -> bool:
        """Whether all values have six digits or less, as if printed with %g: larger ones were rounded then."""
        return all(_digits(item.printed) <= _SHORT_DIGITS for found in self.series.values() for item in found)


def parse_dump(source: Source, wanted: set[str]) -> Dump:
    """Return the series of the wanted metrics. EvidenceError for a line of one that is not in the exposition format."""
    from prometheus_client.parser import text_string_to_metric_families

    lines, warnings = source.complete_lines()
    series: dict[str, list[Series]] = {}
    types: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        stated = _TYPE.match(line)
        if stated:
            types[stated[1]] = stated[2]
        name = _NAME.match(line)
        if name is None or name[0] not in wanted:
            continue
        # A line at a time: the parser knows no line numbers, and a metric's other lines do not change its value.
        try:
            samples = [sample for family in text_string_to_metric_families(line) for sample in family.samples]
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            message = f"this is not a sample of {name[0]} in the exposition format: {error}"
            raise EvidenceError(Problem(message, source.at(number))) from None
        printed = line[max(name.end(), line.rfind("}") + 1) :].split()
        for sample in samples:
            labels = tuple(sorted(sample.labels.items()))
            item = Series(sample.name, labels, _float(sample.value), number, printed[0] if printed else "")
            series.setdefault(sample.name, []).append(item)
    return Dump(source, series, types, warnings)


def step_of(item: Series, *, is_short: bool) -> float:
    """Return how far apart two values lie that print differently: 0 for a value that was printed in full."""
    if not is_short or not item.value or not math.isfinite(item.value):
        return 0.0
    # Trailing zeros are not printed, so that a value of a million and one looks like one of a million.
    if "e" not in item.printed.lower() and _digits(item.printed) < _SHORT_DIGITS:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(item.value))) - _SHORT_DIGITS + 1)
    return 0.0 if step == 1 else step


def _digits(printed: str) -> int:
    mantissa = re.split("[eE]", printed.lstrip("+-"))[0]
    digits = mantissa.replace(".", "").lstrip("0")
    return len(digits) if digits.isdigit() else 0


def _float(value: float) -> float:
    """Return a sample's value; the parser gives integers of any size."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
