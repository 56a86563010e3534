"""What is wrong with a GGUF file, and at which byte."""

from __future__ import annotations

from specrules.errors import EvidenceError, Location, Problem


class GgufError(EvidenceError):
    """A GGUF header cannot be read. `offset` is the byte at which the fault lies; None where no byte is at fault."""

    def __init__(self, message: str, name: str, offset: int | None = None, hint: str = "") -> None:
        self.offset = offset
        text = message if offset is None else f"byte {offset}: {message}"
        super().__init__(Problem(text, Location(name) if name else None, hint))
