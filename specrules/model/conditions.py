"""What a measurement was taken under. A verdict holds for these conditions and for no others."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specrules.model.base import Model

Prompts = Literal["traffic", "dataset", "random-tokens", "repeated-text"]


class Conditions(Model):
    """Concurrency, context and temperature of a measurement, and what its prompts were.

    What is not stated is unknown: the measurement is then taken to be of the workload, and the report says that nobody
    said so.
    """

    concurrency: float | None = Field(default=None, ge=1, description="sequences at once; a mean where it varied")
    context_tokens: float | None = Field(default=None, ge=0, description="tokens before each generated one, on average")
    temperature: float | None = Field(default=None, ge=0)
    prompts: Prompts | None = Field(
        default=None,
        description="the workload's own traffic, a public data set, random tokens, or text that repeats itself",
    )
