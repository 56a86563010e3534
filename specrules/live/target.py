"""What is measured: an arm, the server that stands for it, and how it is asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from specrules.catalog.prompts import Ask
from specrules.errors import Problem, UsageError, did_you_mean
from specrules.live.http import Server
from specrules.model.case import Arm
from specrules.model.engine import Engine, RequestDrafter
from specrules.model.serving import PLACEHOLDER, Generation, filled_body


@dataclass(frozen=True, slots=True)
class Target:
    """An arm. `drafter` is what its requests ask for, where the engine lets requests choose."""

    arm: Arm
    server: Server
    engine: Engine
    generation: Generation
    model: str | None = None
    drafter: RequestDrafter | None = None

    def body(self, ask: Ask, max_tokens: int, temperature: float) -> dict[str, Any]:
        """Return the body of a request."""
        values: dict[str, Any] = {"max_tokens": max_tokens, "temperature": temperature, "model": self.model or ""}
        values["messages"] = ask.messages
        values["prompt"] = f"{ask.system}\n\n{ask.text}" if ask.system else ask.text
        body = filled_body(self.generation.body, values)
        more = json.loads(self.drafter.body) if self.drafter is not None and self.drafter.body else {}
        return body | more


def generation_of(engine: Engine, endpoint: str | None, place: str) -> Generation:
    """Return the request to generate with: the one that is named, else the first of the engine's file.

    UsageError where the engine's file knows none, or none of that name.
    """
    known = engine.serving.generate if engine.serving is not None else ()
    if not known:
        hint = "describe it under serving.generate"
        raise UsageError(Problem(f"{place}: the file of {engine.title} does not say how it is asked", hint=hint))
    if endpoint is None:
        return known[0]
    names = [item.id for item in known]
    if endpoint not in names:
        message = f"{engine.title} has no endpoint {endpoint!r}; known are {', '.join(names)}"
        raise UsageError(Problem(message, hint=did_you_mean(endpoint, names)))
    return next(item for item in known if item.id == endpoint)


def needs_model(generation: Generation) -> bool:
    """Tell whether a request has to name the model."""
    return "model" in PLACEHOLDER.findall(generation.body)


def request_drafter(engine: Engine, name: str | None, place: str) -> RequestDrafter:
    """Return the drafter that requests can ask for by this name; None stands for drafting off.

    UsageError where requests cannot choose on this engine, or not that.
    """
    choices = [item for item in engine.request_drafters if item.body is not None]
    if not choices:
        hint = "give a second URL: a server with drafting off, or with the candidate"
        raise UsageError(Problem(f"{place}: requests to {engine.title} cannot choose a drafter", hint=hint))
    found = [item for item in choices if (item.method is None if name is None else item.name == name)]
    if not found:
        names = [item.name for item in choices]
        message = f"{engine.title} knows no drafter {name!r}; requests can ask for {', '.join(names)}"
        raise UsageError(Problem(message, hint=did_you_mean(name or "", names)))
    return found[0]
