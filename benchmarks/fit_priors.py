"""Fit the priors of `rules/priors.yaml` on the casebook.

    python benchmarks/fit_priors.py            writes rules/priors.yaml
    python benchmarks/fit_priors.py --check    says whether the file is what the casebook gives

A prior has to hold what the next source will measure, so its interval adds up how unsurely the middle is known, how
much sources differ and how much measurements of one source differ. A source with forty rows counts little more than one
with four. `fitted` gives the same from any rows: leaving a source out is calling it without that source's rows.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path

import yaml
from casebook_rows import Row, read_rows
from mixed_model import Expected
from prior_models import (
    FREE,
    KINDS,
    OFFSET,
    TASKS,
    Acceptance,
    Measured,
    Simple,
    Slope,
    by_source,
    depth_shares,
    draft_costs,
    either,
    usable,
    verify_slopes,
)

from specrules.model.prior import Prior, PriorFile

ROOT = Path(__file__).parents[1]
CASEBOOK = ROOT / "benchmarks" / "data" / "casebook.yaml"
PRIORS = ROOT / "rules" / "priors.yaml"
FITTED_ON = date(2026, 11, 29)
END = 1.6449
"""Standard deviations from the median to an end of a 90 % interval."""
REACHES = {"first": (None, 2), "middle": (3, 8), "long": (9, None)}
"""Draft lengths of block drafters that a slope is for, least and most."""
SLOPE_ENDS = (1.5, 0.55)
"""What the deviation counts for towards the low and the high end of a round's slope. Most sources lie close together
and a few far above, further than any interval that still says something: the high end holds the former."""
ACCEPTANCE_ENDS = (1.5, 1.5)
"""The same for acceptance. Rows that state no tokens per round scatter more than those that do, and show it in their
speedup alone: with these ends their intervals hold as many speedups as they should."""
CLASSES = ("mtp-head", "eagle-head", "block", "model")
OTHERS = ("parallel-model",)
"""Classes that no source measured and whose rounds are like those of the others, which those of trees are not."""
_AS_ANY = "no row is of this class: what the others do, whichever of them it is like"
TARGETS = {"dense": ("dense", "hybrid"), "moe": ("moe", "hybrid-moe")}
_NAMES = {"mtp-head": "mtp", "eagle-head": "eagle"}
_FEWEST = 3
"""Sources that a prior of its own for a task or a group of hardware takes."""
_LEAST_SLOPE = 0.01
_HEAD = """\
# yaml-language-server: $schema=../schemas/priors.json
# What is believed before anything was measured, fitted on public measurements by benchmarks/fit_priors.py and not
# written by hand. Specific ones stand first. `low` and `high` are for a source that nobody has seen; sources name what
# each was fitted on, and benchmarks/README.md says how they do on sources that were left out.
"""


def fitted(rows: Iterable[Row]) -> PriorFile:
    """The priors that these rows give."""
    items = usable(rows)
    acceptance = Acceptance(items)
    priors = [
        *_acceptances(acceptance),
        *_slopes(Slope(items, acceptance)),
        *_verify_slopes(verify_slopes(items)),
        *_draft_costs(draft_costs(items)),
        *_coverages(items),
        *_depth_shares(depth_shares(items)),
    ]
    return PriorFile(
        schema=1,
        id="priors",
        fitted_by="benchmarks/fit_priors.py",
        fitted_on=FITTED_ON,
        priors=tuple(priors),
    )


def _acceptances(model: Acceptance) -> Iterator[Prior]:
    for drafter in (*CLASSES, "ngram"):
        for task in (*TASKS, None):
            rows = model.rows(drafter, task)
            found = model.expected(drafter, task)
            if found is None or (task is not None and len(by_source(rows)) < _FEWEST):
                continue
            yield _acceptance(
                found,
                rows,
                id=_id("acceptance", drafter, task),
                drafter_classes=FREE if drafter == "ngram" else (drafter,),
                tasks=() if task is None else (task,),
            )
    anything = either([model.expected(drafter, None) for drafter in CLASSES])
    if anything is not None:
        yield _acceptance(anything, model.rows(None), id="acceptance-other", drafter_classes=OTHERS, note=_AS_ANY)


def _acceptance(found: Expected, rows: Sequence[Measured], **where: object) -> Prior:
    low, high = ACCEPTANCE_ENDS
    ends = (found.mean - END * low * found.deviation, found.mean, found.mean + END * high * found.deviation)
    values = [1 / (1 + math.exp(-end)) for end in ends]
    return _prior("conditional_acceptance", "logit-normal", values, rows, **where)


def _slopes(model: Slope) -> Iterator[Prior]:
    for drafter in CLASSES:
        reaches: tuple[str | None, ...] = (*REACHES, None) if drafter == "block" else (None,)
        for kind in (*KINDS, None):
            for reach in reaches:
                yield from _slopes_of(model, drafter, kind, reach)
    for kind in (*KINDS, None):
        anything = either([model.expected(drafter, kind, None, "middle") for drafter in CLASSES])
        if anything is not None:
            yield _slope(
                anything,
                model.rows(None, kind, None, None),
                id=_id("slope", "other", kind),
                drafter_classes=OTHERS,
                target_kinds=() if kind is None else TARGETS[kind],
                note=_AS_ANY,
            )


def _slopes_of(model: Slope, drafter: str, kind: str | None, reach: str | None) -> Iterator[Prior]:
    machines = sorted({item.hardware for item in model.rows(None, kind, None, None) if item.hardware is not None})
    least, most = (None, None) if reach is None else REACHES[reach]
    for hardware in (*machines, None) if kind is not None else (None,):
        rows = model.rows(drafter, kind, hardware, reach)
        if hardware is not None and len(by_source(model.rows(None, kind, hardware, None))) < _FEWEST:
            continue
        found = model.expected(drafter, kind, hardware, reach)
        if found is None or (hardware is not None and not rows):
            continue
        yield _slope(
            found,
            rows or model.rows(drafter, None, None, reach),
            id=_id("slope", drafter, kind, reach, hardware),
            drafter_classes=(drafter,),
            target_kinds=() if kind is None else TARGETS[kind],
            hardware=() if hardware is None else (hardware,),
            min_draft_length=least,
            max_draft_length=most,
        )


def _slope(found: Expected, rows: Sequence[Measured], **where: object) -> Prior:
    low, high = SLOPE_ENDS
    return _prior("round_slope", "lognormal", _ends(found, low, high, OFFSET), rows, **where)


def _verify_slopes(model: Simple) -> Iterator[Prior]:
    for kind in KINDS:
        found = model.expected(kind)
        if found is not None:
            ends = _ends(found, 1, 1, OFFSET)
            where = {"id": _id("verify", kind), "target_kinds": TARGETS[kind]}
            yield _prior("verify_slope", "lognormal", ends, model.rows(kind), **where)
    anything = either([model.expected(kind) for kind in KINDS])
    if anything is not None:
        yield _prior("verify_slope", "lognormal", _ends(anything, 1, 1, OFFSET), model.rows(None), id="verify")


def _draft_costs(model: Simple) -> Iterator[Prior]:
    for drafter in CLASSES:
        found = model.expected(drafter)
        if found is not None:
            classes = ("mtp-head", "eagle-head") if drafter == "mtp-head" else (drafter,)
            where = {"id": _id("price", drafter), "drafter_classes": classes}
            yield _prior("draft_cost", "lognormal", _ends(found, 1, 1, 0), model.rows(drafter), **where)


def _coverages(items: Sequence[Measured]) -> Iterator[Prior]:
    rows = [item for item in items if item.drafter in FREE]
    note = "no source counts the rounds that draft: as wide as what their speedups leave open"
    where = {"id": "coverage", "drafter_classes": FREE, "note": note}
    yield _prior("coverage", "logit-normal", [0.05, 0.3, 0.9], rows, **where)


def _depth_shares(model: Simple) -> Iterator[Prior]:
    for fixed, classes in (("heads", ("mtp-head", "eagle-head")), ("block", ("block",))):
        found = model.expected(fixed)
        if found is not None and len(by_source(model.rows(fixed))) >= _FEWEST:
            ends = [max(0.0, found.mean + END * side * found.deviation) for side in (-1, 0, 1)]
            where = {"id": _id("depth-share", fixed), "drafter_classes": classes}
            yield _prior("depth_share", "normal", ends, model.rows(fixed), **where)


def _ends(found: Expected, low: float, high: float, offset: float) -> list[float]:
    """Low end, median and high end of exp(x) - offset, none of them below the least slope where there is an offset."""
    points = (found.mean - END * low * found.deviation, found.mean, found.mean + END * high * found.deviation)
    least = _LEAST_SLOPE if offset else 0.0
    return [max(math.exp(point) - offset, least) for point in points]


def _prior(quantity: str, shape: str, ends: Sequence[float], rows: Sequence[Measured], **where: object) -> Prior:
    low, mid, high = (float(f"{end:.3g}") for end in ends)
    counts = by_source(rows)
    return Prior.model_validate(
        {
            "quantity": quantity,
            "shape": shape,
            "low": low,
            "mid": mid,
            "high": high,
            "rows": sum(counts.values()),
            "sources": tuple(counts),
            **where,
        }
    )


def _id(*parts: str | None) -> str:
    return "-".join(_NAMES.get(part, part) for part in parts if part is not None)


def written(file: PriorFile) -> str:
    """The document, the same for the same priors."""
    data = file.model_dump(by_alias=True, mode="json", exclude_defaults=True)
    data["fitted_on"] = file.fitted_on
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=118)
    return _HEAD + text


def differences(shipped: PriorFile, fresh: PriorFile) -> list[str]:
    """What differs by more than another machine's rounding makes it differ."""
    if [prior.id for prior in shipped.priors] != [prior.id for prior in fresh.priors]:
        return ["they hold different priors"]
    found = []
    for ours, theirs in zip(shipped.priors, fresh.priors, strict=True):
        for name in Prior.model_fields:
            old, new = getattr(ours, name), getattr(theirs, name)
            close = isinstance(old, float) and isinstance(new, float) and math.isclose(old, new, rel_tol=0.006)
            if old != new and not close:
                found.append(f"{ours.id}: {name} is {old}, the casebook gives {new}")
    return found


def main() -> int:
    """Write the priors, or check them."""
    parser = argparse.ArgumentParser(description="Fit the priors on the casebook.")
    parser.add_argument("--check", action="store_true", help="compare the shipped file and write nothing")
    asked = parser.parse_args()
    rows, _ = read_rows(CASEBOOK)
    fresh = fitted(rows)
    if not asked.check:
        PRIORS.write_text(written(fresh), encoding="utf-8")
        print(f"{PRIORS.relative_to(ROOT)}: {len(fresh.priors)} priors from {len(rows)} rows")
        return 0
    shipped = PriorFile.model_validate(yaml.safe_load(PRIORS.read_text(encoding="utf-8")))
    found = differences(shipped, fresh)
    print("\n".join(found) or f"{PRIORS.relative_to(ROOT)} is what the casebook gives")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
