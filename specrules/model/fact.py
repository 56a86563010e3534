"""Facts: named values with provenance, and what happens where two sources disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from specrules.model.base import Many, Model
from specrules.model.quantity import Distribution, Provenance

FactValue = float | bool | str | tuple[float, ...]


class Fact(Model):
    """A named value. The name ends in its unit (`_ms`, `_tok_s`, `_gib`) where it has one."""

    name: str
    value: FactValue
    unit: str = ""
    low: float | None = None
    high: float | None = None
    distribution: Distribution = "interval"
    samples: Many[float] = ()
    provenance: Provenance = Provenance()
    formula: str = Field(default="", description="for derived facts: as symbols")
    substituted: str = ""


class Disagreement(Model):
    """Two sources that state different values of one fact. The first is the one that is used."""

    name: str
    used: Fact
    other: Fact

    def describe(self) -> str:
        """One sentence that names both values and both places."""
        return (
            f"{self.name} is {_show(self.used)} according to {self.used.provenance.source or 'the case'}, "
            f"but {_show(self.other)} according to {self.other.provenance.source or 'the case'}"
        )


def _show(fact: Fact) -> str:
    if isinstance(fact.value, bool):
        return "true" if fact.value else "false"
    if isinstance(fact.value, tuple):
        return "(" + ", ".join(f"{item:.4g}" for item in fact.value) + ")"
    text = f"{fact.value:.6g}" if isinstance(fact.value, float) else repr(fact.value)
    return f"{text} {fact.unit}".strip()


class Facts(Mapping[str, Fact]):
    """The facts of one case by name, in the order in which they became known. A missing name is unknown."""

    def __init__(self, facts: Mapping[str, Fact] | None = None) -> None:
        self._facts: dict[str, Fact] = dict(facts or {})

    def __getitem__(self, name: str) -> Fact:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def value(self, name: str) -> FactValue | None:
        """The value of a fact, or None where it is unknown."""
        fact = self._facts.get(name)
        return None if fact is None else fact.value

    def number(self, name: str) -> float | None:
        """The value of a numeric fact, or None where it is unknown or no number."""
        value = self.value(name)
        return value if isinstance(value, float) else None

    def extended(self, facts: Mapping[str, Fact]) -> Facts:
        """A copy with more facts. Names that are already known keep their fact."""
        return Facts({**facts, **self._facts})
