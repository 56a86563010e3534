"""What a case states that cannot be, beyond what each of its values allows by itself."""

from __future__ import annotations

from collections.abc import Iterator

from specrules.derive.acceptance import from_statement
from specrules.model.case import Case

Path = tuple[str | int, ...]


def impossible(case: Case) -> Iterator[tuple[Path, str]]:
    """Yield the path and the fault of every statement of the measurements that no run can have given."""
    yield from _acceptance(case)
    points = [(point.width, point.batch, point.context_tokens) for point in case.measurements.verify_curve]
    for index, point in enumerate(points):
        if points.count(point) > 1:
            yield ("measurements", "verify_curve", index, "width"), f"width {point[0]} stands twice: give one time"
    yield from _conditions(case)
    slope = case.measurements.round_slope
    if slope is not None and not 0 <= slope[0] <= slope[1]:
        wanted = "a round is no shorter than a plain step, and the low end comes first"
        yield ("measurements", "round_slope"), f"{slope[0]:g} to {slope[1]:g} is no slope of a round: {wanted}"


def _conditions(case: Case) -> Iterator[tuple[Path, str]]:
    """Evidence files of one arm whose stated conditions differ: their numbers would be taken for one run's."""
    seen: dict[tuple[str, str], object] = {}
    for index, item in enumerate(case.evidence):
        for key, value in item.conditions:
            if value is None or seen.setdefault((item.arm, key), value) == value:
                continue
            shown = f"{value:g}" if isinstance(value, float) else value
            message = f"{key} {shown} is not that of an earlier file of the arm {item.arm!r}: leave one of them out"
            yield ("evidence", index, "conditions", key), message


def _acceptance(case: Case) -> Iterator[tuple[Path, str]]:
    both = {
        ("measurements", "acceptance"): case.measurements.acceptance,
        ("measurements", "candidate", "acceptance"): case.measurements.candidate.acceptance,
    }
    for path, stated in both.items():
        if stated is None:
            continue
        try:
            from_statement(stated)
        except ValueError as error:
            yield path, f"acceptance of kind {stated.kind!r}: {error}"
