"""Waivers: a finding that somebody answers for until a day."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from specrules.model.base import Day, Identifier, Many, Model, SchemaVersion

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]

_NARROWING = ("target", "drafter", "engine", "files", "inputs")


class Waiver(Model):
    """One rule, for what it is waived, why, by whom and until when. All parts of the scope have to match."""

    rule: Identifier
    target: Text | None = Field(default=None, description="pattern with * and ? for the name of the target")
    drafter: Text | None = Field(default=None, description="pattern for the name of the drafter")
    engine: Text | None = Field(default=None, description="pattern for the id of the engine")
    files: Many[Text] = Field(
        default=(), description="patterns for paths; * stays inside a folder, ** does not; without / any folder"
    )
    reason: Text
    owner: Text
    expires: Day = Field(description="the last day on which it counts, in UTC")
    inputs: Annotated[str, Field(pattern=r"^[0-9a-f]{12,64}$")] | None = Field(
        default=None, description="digest of the inputs as the gate prints it; other inputs end the waiver"
    )
    ticket: Text | None = None

    @model_validator(mode="after")
    def _scoped(self) -> Waiver:
        empty = [name for name in _NARROWING if name in self.model_fields_set and not getattr(self, name)]
        if empty:
            msg = f"{' and '.join(empty)} must not be empty: the waiver would reach further than it says"
            raise ValueError(msg)
        if self.target is None and self.drafter is None and self.engine is None and not self.files:
            raise ValueError("a waiver needs a scope: target, drafter, engine or files")
        return self


class WaiverFile(Model):
    """`.specrules/waivers.yaml`."""

    schema_version: SchemaVersion = Field(alias="schema")
    waivers: Many[Waiver]
