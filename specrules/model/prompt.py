"""Prompts to measure with, by task."""

from __future__ import annotations

from pydantic import Field

from specrules.model.base import Identifier, Many, Model, SchemaVersion


class Prompt(Model):
    """One request: what the user says, and what the system says before it."""

    id: Identifier
    text: str = Field(min_length=1, max_length=1 << 20)
    system: str = ""


class PromptFile(Model):
    """A set of prompts of one kind of use."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    task: Identifier
    title: str
    prompts: Many[Prompt] = Field(min_length=1)
