"""What all documents share: closed, frozen, strictly typed models."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict

T = TypeVar("T")

Many = Annotated[tuple[T, ...], Strict(False)]
"""A YAML list, kept as a tuple. Strictness stays on for its elements."""

Day = Annotated[date, Strict(False)]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("this time lies outside the years 1 to 9999") from None


Moment = Annotated[datetime, Strict(False), AfterValidator(_in_utc)]
"""A day or a time of day, in UTC where no zone is given."""

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=64)]
DottedName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$", max_length=96)]
ExpressionText = Annotated[str, Field(min_length=1, max_length=1000)]
SchemaVersion = Literal[1]

Part = Literal["a", "b", "c", "d", "e"]
PARTS: tuple[Part, ...] = ("a", "b", "c", "d", "e")


class Model(BaseModel):
    """A value of the domain: unknown keys are refused, NaN and infinity too, nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
