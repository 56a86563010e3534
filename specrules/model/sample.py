"""One measured request, as a line of a samples file: everything raw, so that a verdict can be computed again."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from specrules.model.base import Identifier, Many, Model, Moment, SchemaVersion
from specrules.model.case import Arm


class Sample(Model):
    """A request and what came of it. Times are in milliseconds since it was sent.

    `chunk_ms` holds when each piece of the answer's text came. `response` is the answer without its text: the documents
    of the stream laid over each other. `metrics` are the server's counters right before and after, where they were
    read. A request that failed has an `error`, and whatever came until then.
    """

    schema_version: SchemaVersion = Field(alias="schema")
    what: Literal["sample"]
    arm: Arm
    engine: Identifier
    url: str
    endpoint: Identifier
    prompt: str
    task: str
    order: int = Field(ge=0, description="position in the run")
    repeat: int = Field(default=0, ge=0, description="how often this prompt was sent to this arm before")
    concurrency: int = Field(ge=1)
    temperature: float = Field(ge=0)
    max_tokens: int = Field(ge=1)
    drafter: str | None = Field(default=None, description="what the request asked for, where requests choose")
    own_prompts: bool = Field(default=False, description="the prompt is from a file of the user, none that ships")
    warm_up: bool = False
    started_at: Moment
    chunk_ms: Many[float] = ()
    total_ms: float = Field(ge=0)
    text: str = ""
    response: dict[str, Any] = Field(default_factory=dict)
    metrics_before: str = ""
    metrics_after: str = ""
    error: str = ""

    @property
    def first_ms(self) -> float | None:
        """Time to the first piece of text."""
        return self.chunk_ms[0] if self.chunk_ms else None

    @property
    def decode_ms(self) -> float | None:
        """Time from the first piece of text to the last, as the client saw it."""
        return self.chunk_ms[-1] - self.chunk_ms[0] if len(self.chunk_ms) > 1 else None
