"""One request that generates, timed as its client sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from specrules.evidence.readers.json_document import values
from specrules.live.failures import LiveError, ServerGoneError
from specrules.live.http import Server
from specrules.live.streaming import Documents, laid_over
from specrules.model.serving import Generation

_WHOLE = ("choices[].message.content", "choices[].text", "content", "message.content", "text")
_BIG = ("generation_settings", "prompt", "context")
"""Keys of answers that repeat the request. They are not kept."""


@dataclass(slots=True)
class Exchanged:
    """What came of a request. Times are in milliseconds since it was sent; `error` is empty where all of it came."""

    text: str = ""
    chunk_ms: list[float] = field(default_factory=list)
    total_ms: float = 0.0
    response: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    is_gone: bool = False


def exchange(
    server: Server, generation: Generation, body: Mapping[str, Any], clock: Callable[[], float] = time.perf_counter
) -> Exchanged:
    """Send a request and read its stream to the end. Failures become `error`; what came until then is kept."""
    result = Exchanged()
    start = clock()
    try:
        with server.streamed(generation.path, body) as answer:
            documents = Documents(answer.pieces, generation.stream, answer.place, clock)
            is_whole = _take(documents, generation, result, start)
            if not is_whole and not documents.ended:
                raise ServerGoneError("the stream broke off before its end", answer.place)
    except LiveError as error:
        result.error = error.problems[0].message
        result.is_gone = isinstance(error, ServerGoneError)
    result.total_ms = (clock() - start) * 1000
    if not result.error and not result.chunk_ms:
        result.error = "the answer holds no text" if not _not_streamed(result.response) else "the server did not stream"
    return result


def _take(documents: Documents, generation: Generation, result: Exchanged, start: float) -> bool:
    """Read every document; return whether one of them ended the answer."""
    is_whole = False
    for at, document in documents:
        if not isinstance(document, dict):
            continue
        piece = "".join(_texts(document, generation.text))
        if piece:
            result.text += piece
            result.chunk_ms.append(round((at - start) * 1000, 3))
        result.response = laid_over(result.response, {key: document[key] for key in document if key not in _BIG})
        is_whole = is_whole or any(found for path in generation.done for _, found in values(document, path))
    return is_whole


def _texts(document: dict[str, Any], paths: tuple[str, ...]) -> list[str]:
    return [found for path in paths for _, found in values(document, path) if isinstance(found, str)]


def _not_streamed(response: dict[str, Any]) -> bool:
    return any(isinstance(found, str) and found for path in _WHOLE for _, found in values(response, path))
