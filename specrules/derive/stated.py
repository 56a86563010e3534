"""The case as facts: every stated value under its name, with its place as provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pydantic import BaseModel

from specrules.model.case import Case
from specrules.model.fact import Fact
from specrules.model.quantity import Provenance, Quantity

Place = Callable[[tuple[str | int, ...]], str]
"""Maps a path inside the case to `file:line`."""

_GROUPS: Mapping[tuple[str, ...], str] = {
    ("target",): "target",
    ("target", "tokenizer"): "target.tokenizer",
    ("drafter",): "drafter",
    ("drafter", "tokenizer"): "drafter.tokenizer",
    ("drafter", "tokenizer_pair"): "tokenizers",
    ("workload",): "workload",
    ("incumbent",): "incumbent",
    ("measurements", "off"): "off",
    ("measurements", "candidate"): "candidate",
    ("measurements", "conditions"): "measurements",
    ("measurements", "off", "conditions"): "off",
    ("measurements", "candidate", "conditions"): "candidate",
    ("incumbent", "conditions"): "incumbent",
}
_RENAMED = {"drafter.drafter_class": "drafter.kind"}
_MEASUREMENTS = {"restore_ms": "restore.ms", "synthetic_zero_tok_s": "candidate.synthetic_zero_tok_s"}


def stated_facts(case: Case, place: Place) -> dict[str, Fact]:
    """Every scalar and quantity that the case states. Lists and acceptance keep their place in the case itself."""
    facts: dict[str, Fact] = {}
    for path, prefix in _GROUPS.items():
        group: BaseModel = case
        for key in path:
            group = getattr(group, key)
        for key, value in _fields(group):
            name = f"{prefix}.{key}"
            fact = _fact(_RENAMED.get(name, name), value, place((*path, key)))
            if fact is not None:
                facts[fact.name] = fact
    for index, item in enumerate(case.evidence):
        for key, value in _fields(item.conditions):
            fact = _fact(f"{item.arm}.{key}", value, place(("evidence", index, "conditions", key)))
            if fact is not None:
                facts.setdefault(fact.name, fact)
    for key, name in _MEASUREMENTS.items():
        quantity = getattr(case.measurements, key)
        if quantity is not None:
            facts[name] = _quantity_fact(name, quantity, place(("measurements", key)))
    return facts


def _fields(group: BaseModel) -> Iterator[tuple[str, object]]:
    for key in type(group).model_fields:
        value = getattr(group, key)
        if value is not None:
            yield key, value


def _fact(name: str, value: object, source: str) -> Fact | None:
    if isinstance(value, Quantity):
        return _quantity_fact(name, value, source)
    if isinstance(value, bool | str):
        return Fact(name=name, value=value, provenance=Provenance(source=source))
    if isinstance(value, int | float):
        return Fact(name=name, value=float(value), provenance=Provenance(source=source))
    return None


def _quantity_fact(name: str, quantity: Quantity, source: str) -> Fact:
    return Fact(
        name=name,
        value=quantity.value,
        unit=quantity.unit,
        low=quantity.low,
        high=quantity.high,
        distribution=quantity.distribution,
        samples=quantity.samples,
        provenance=Provenance(
            kind=quantity.kind,
            source=f"{quantity.source} ({source})" if quantity.source else source,
            observed_at=quantity.observed_at,
        ),
    )
