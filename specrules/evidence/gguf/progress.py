"""How far the reading of a remote header has come, on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self, TextIO

#: Called with the bytes that have come and the bytes that the header seems to have.
Progress = Callable[[int, int], None]
#: Gives what is called while the header of this name is read.
Watch = Callable[[str], AbstractContextManager[Progress]]

_WIDTH = 24


class ProgressBar:
    """A bar on one line of a terminal that is gone when the work is done; nothing where the stream is no terminal.

    As a context manager it wipes the line at the end.
    """

    def __init__(self, stream: TextIO, title: str) -> None:
        self._stream = stream
        self._title = title
        self._on = stream.isatty()
        self._last = ""

    def __call__(self, received: int, expected: int) -> None:
        """Draw the line anew, if it has changed."""
        expected = max(received, expected, 1)
        done = _WIDTH * received // expected
        line = (
            f"{self._title} [{'#' * done}{'.' * (_WIDTH - done)}] {received / 1e6:.1f} of about {expected / 1e6:.1f} MB"
        )
        if self._on and line != self._last:
            self._write("\r" + line.ljust(len(self._last)))
            self._last = line

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wipe the line."""
        if self._last:
            self._write("\r" + " " * len(self._last) + "\r")
            self._last = ""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._on = False
