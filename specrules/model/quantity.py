"""Numbers with unit, spread and provenance."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeGuard

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from specrules.model.base import Many, Model, Moment

ProvenanceKind = Literal["measured", "reported", "from-file", "catalogue", "derived", "assumed"]
Unit = Literal["ms", "tok/s", "GiB", "tokens", "rounds", "ratio", "rows", "days", "count", "share", "usd", ""]


Distribution = Literal["interval", "uniform", "normal", "lognormal", "logit-normal"]
"""How a value may lie around its middle. `interval`: low and high are the ends of a 90 % interval of a skewed normal,
on the scale that keeps the value in its range; `uniform`: between low and high and nowhere else; `normal`, `lognormal`
and `logit-normal`: low and high are the 90 % interval of that distribution."""


class Provenance(Model):
    """Where a value comes from: how it is known, which command, file:line or URL said so, and when it was observed."""

    kind: ProvenanceKind = "reported"
    source: str = ""
    observed_at: Moment | None = None


def _value_or_spread(schema: dict[str, Any]) -> None:
    """Say in the schema what `Quantity` accepts: the value may follow from an interval or from samples."""
    del schema["required"]
    schema["anyOf"] = [{"required": names} for names in (["value"], ["low", "high"], ["samples"])]


class Quantity(Model):
    """A number with its unit, an optional spread and its provenance.

    `low` and `high` are a 90 % interval unless `distribution` says otherwise. Where only an interval is given the value
    is its middle; where only samples are given it is their mean and the interval stays unknown.
    """

    model_config = ConfigDict(json_schema_extra=_value_or_spread)

    value: float
    unit: Unit = ""
    low: float | None = None
    high: float | None = None
    distribution: Distribution = "interval"
    samples: Many[float] = ()
    kind: ProvenanceKind = "reported"
    source: str = ""
    observed_at: Moment | None = None

    @model_validator(mode="before")
    @classmethod
    def _value_from_spread(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("value") is not None:
            return data
        for spread in (data.get("samples"), [data.get("low"), data.get("high")]):
            if _numbers(spread):
                return data | {"value": sum(spread) / len(spread)}
        return data

    @model_validator(mode="after")
    def _ordered(self) -> Quantity:
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if not low <= self.value <= high:
            msg = f"the interval {self.low} to {self.high} does not hold the value {self.value:g}"
            raise ValueError(msg)
        return self

    @property
    def provenance(self) -> Provenance:
        """The provenance part alone."""
        return Provenance(kind=self.kind, source=self.source, observed_at=self.observed_at)


def _numbers(items: Any) -> TypeGuard[list[float]]:
    return (
        isinstance(items, list | tuple)
        and len(items) > 0
        and all(isinstance(item, int | float) and not isinstance(item, bool) for item in items)
    )


def _in_unit(unit: Unit) -> BeforeValidator:
    """Accept a plain number under a key that names its unit, or a mapping whose unit agrees with the key."""

    def read(data: Any) -> Any:
        if isinstance(data, int | float) and not isinstance(data, bool):
            return {"value": data, "unit": unit}
        if isinstance(data, dict):
            stated = data.get("unit", unit)
            if stated != unit:
                msg = f"the unit here is {unit!r}, not {stated!r}: convert the number or use another key"
                raise ValueError(msg)
            return data | {"unit": unit}
        return data

    return BeforeValidator(read, json_schema_input_type=float | Quantity)


def _between(low: float, high: float | None, *, above: bool = False) -> Any:
    def check(quantity: Quantity) -> Quantity:
        for number in (quantity.value, quantity.low, quantity.high, *quantity.samples):
            if number is None:
                continue
            if number < low or (above and number == low) or (high is not None and number > high):
                wanted = f"between {low:g} and {high:g}" if high is not None else f"above {low:g}"
                msg = f"{number:g} is out of range: it must be {wanted}"
                raise ValueError(msg)
        return quantity

    return AfterValidator(check)


Milliseconds = Annotated[Quantity, _in_unit("ms"), _between(0, None)]
PositiveMilliseconds = Annotated[Quantity, _in_unit("ms"), _between(0, None, above=True)]
TokensPerSecond = Annotated[Quantity, _in_unit("tok/s"), _between(0, None, above=True)]
Gibibytes = Annotated[Quantity, _in_unit("GiB"), _between(0, None)]
Factor = Annotated[Quantity, _in_unit("ratio"), _between(1, None)]
TokensPerRound = Annotated[Quantity, _in_unit("tokens"), _between(1, None)]
Tokens = Annotated[Quantity, _in_unit("tokens"), _between(0, None)]
Share = Annotated[Quantity, _in_unit("share"), _between(0, 1)]
DraftLength = Annotated[int, Field(ge=1, le=1024)]
