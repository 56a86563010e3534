"""How a running engine is asked: requests that generate, tokenise and score, and how a server is started.

Bodies are JSON text in which `{name}` stands for a whole JSON value: `{"prompt": {prompt}, "n": {max_tokens}}`.
Paths into answers are dotted, `[]` stands for every entry of a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from specrules.model.base import Identifier, Many
from specrules.model.claim import Claim

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
WORDS = frozenset({"prompt", "messages", "ids", "text", "max_tokens", "temperature", "model"})
"""What bodies may hold. Messages are a list of role and content, ids a list of token ids."""


def filled_body(body: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object that a body is once its placeholders are filled in.

    Raises ValueError for a placeholder without a value, and where no JSON object comes out.
    """
    unknown = [name for name in PLACEHOLDER.findall(body) if name not in values]
    if unknown:
        raise ValueError(f"{{{unknown[0]}}} stands for nothing; known are {', '.join(sorted(values)) or 'none'}")
    try:
        parsed = json.loads(PLACEHOLDER.sub(lambda match: json.dumps(values[match[1]]), body))
    except ValueError as error:
        raise ValueError(f"no JSON once it is filled in: {error}") from None
    if not isinstance(parsed, dict):
        raise ValueError("no JSON object once it is filled in")
    return parsed


class Call(Claim):
    """A request and where the result stands in its answer."""

    path: str = Field(pattern=r"^/")
    body: str
    result: str = Field(description="path of the result in the answer")

    @field_validator("body")
    @classmethod
    def _is_json(cls, body: str) -> str:
        return _checked(body)


class Generation(Claim):
    """A request that generates and streams what it generates, one JSON document per event or per line.

    `text` are paths of new text in one document, reasoning included. The documents of one answer are laid over each
    other, later ones winning; that is what the JSON readers get.
    """

    id: Identifier
    path: str = Field(pattern=r"^/")
    takes: Literal["messages", "prompt"]
    body: str
    text: Many[str]
    done: Many[str] = Field(description="paths; the stream is whole once a document has something true at one of them")
    stream: Literal["events", "lines"] = Field(default="events", description="server-sent events, or JSON per line")

    @field_validator("body")
    @classmethod
    def _is_json(cls, body: str) -> str:
        return _checked(body)


class PromptScores(Call):
    """A request that says of every token of its prompt whether it is the model's first choice.

    `result` leads to a list with an entry per prompt token, None for the first. `rank-by-id`: an entry maps token ids
    to objects with a `rank`, 1 being the first choice; `top-lists`: an entry is a list of [log probability, id, ..],
    the first choice first.
    """

    shape: Literal["rank-by-id", "top-lists"]


class Server(Claim):
    """The command that starts a server on this machine, for scripts.

    {target}, {port}, {concurrency} and {settings} are filled in. `drafting` are flags, as patterns, that mean nothing
    without a drafter, so that a server with drafting off is started without them.
    """

    command: str
    drafting: Many[str] = ()
    settings: Literal["flags", "environment", "elsewhere"] = Field(
        default="flags", description="where the lines of switch_on go: into {settings}, before the command, or a file"
    )


class Serving(Claim):
    """What a running server of this engine answers."""

    health: str | None = Field(default=None, description="path that answers 200 once requests are served")
    metrics: str | None = Field(default=None, description="path of the metrics that the readers know")
    metrics_off: str = Field(default="", description="what to do where the metrics are not served")
    models: str | None = Field(default=None, description="path that lists the served models")
    model_id: str = Field(default="data[].id", description="where in that list their names stand")
    generate: Many[Generation] = ()
    tokenize: Call | None = Field(default=None, description="{text} to token ids")
    chat_ids: Call | None = Field(default=None, description="{messages} to the token ids of the whole prompt")
    template: Call | None = Field(default=None, description="{messages} to the text of the whole prompt")
    extend: Call | None = Field(default=None, description="greedy continuation of {ids}, as token ids")
    score: PromptScores | None = None
    server: Server | None = None


def _checked(body: str) -> str:
    filled_body(body, dict.fromkeys(WORDS, 0))
    return body
