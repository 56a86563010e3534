"""A model and where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from specrules.catalog.document import Document, Loc
from specrules.catalog.scalars import expression_location
from specrules.errors import Location

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Loaded(Generic[M]):
    """A model with the document it came from."""

    model: M
    document: Document

    def locate(self, loc: Loc, column: int = 0) -> Location:
        """The place of a value, or of a column inside the text found there."""
        return expression_location(self.document, loc, column) if column else self.document.position(loc)
