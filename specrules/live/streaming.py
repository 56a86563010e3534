"""Answers that come piece by piece: server-sent events, or one JSON document per line, each with its time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from specrules.live.failures import LiveError, one_line

DONE = "[DONE]"
_LONGEST_LINE = 16 << 20


@dataclass(slots=True)
class Documents:
    """The JSON documents of a stream, with the time at which each was complete.

    `ended` is set once the server says with `[DONE]` that nothing follows. Times are those of `clock`, in seconds.
    """

    pieces: Iterator[bytes]
    kind: str
    place: str
    clock: Callable[[], float] = time.perf_counter
    ended: bool = False
    _data: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[tuple[float, Any]]:
        """Yield each document. LiveError for what is no JSON, and for the error that a server sends in the stream."""
        for at, line in self._lines():
            text = self._event(line) if self.kind == "events" else line.strip() or None
            if text is None:
                continue
            if text == DONE:
                self.ended = True
                continue
            yield at, self._parsed(text)

    def _event(self, line: str) -> str | None:
        """Take a line of an event stream; return the data of the event that an empty line ends."""
        if not line:
            data, self._data = "\n".join(self._data), []
            return data or None
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        elif name == "error":  # llama.cpp before 2025 sent its errors under a field of their own
            self._data.append(json.dumps({"error": value.strip()}))
        elif line[:1] in {"{", "<"}:
            # No stream at all: the whole answer, or a page.
            self._data.append(line)
        return None

    def _parsed(self, text: str) -> Any:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise LiveError(f"the stream holds what is no JSON: {one_line(text)}", self.place) from None
        error = document.get("error") if isinstance(document, dict) else None
        if error:
            said = error.get("message", error) if isinstance(error, dict) else error
            raise LiveError(f"the server ended the stream with an error: {one_line(str(said))}", self.place)
        return document

    def _lines(self) -> Iterator[tuple[float, str]]:
        rest = b""
        for piece in self.pieces:
            at = self.clock()
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > _LONGEST_LINE:
                raise LiveError(f"a line of the stream is longer than {_LONGEST_LINE >> 20} MiB", self.place)
            for line in lines:
                yield at, line.rstrip(b"\r").decode("utf-8", errors="replace")
        at = self.clock()
        if rest.strip():
            yield at, rest.decode("utf-8", errors="replace")
        if self.kind == "events" and self._data:
            yield at, ""


def laid_over(base: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Return one document laid over another: later values win, but nothing and empty lists replace nothing."""
    result = dict(base)
    for key, value in later.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = laid_over(old, value)
        elif key not in result or (value is not None and value != []):
            result[key] = value
    return result
