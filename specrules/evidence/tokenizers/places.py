"""Where tokenizer files are: a folder on disk, or an address and what lies beside it."""

from __future__ import annotations

from pathlib import Path

from specrules.evidence.source import unreadable
from specrules.evidence.tokenizers.documents import MAX_DOCUMENT, refused


class DiskFolder:
    """A folder on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def place(self, name: str) -> str:
        """Return the path of a file."""
        return str(self._path / name)

    def read(self, name: str, first: int | None = None) -> bytes | None:
        """Return the content of a file, or its first bytes, or None where there is none.

        Raises EvidenceError for one of more than 128 MiB, unless its first bytes are wanted, and for no regular file.
        """
        path = self._path / name
        try:
            if path.exists() and not path.is_file():
                # Opening a pipe would wait for someone to write to it.
                raise refused(self.place(name), "cannot be read: it is not a regular file")
            with path.open("rb") as file:
                data = file.read(MAX_DOCUMENT + 1 if first is None else first)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise unreadable(error, self.place(name)) from None
        if len(data) > MAX_DOCUMENT:
            raise refused(self.place(name), f"the file is larger than {MAX_DOCUMENT >> 20} MiB")
        return data
