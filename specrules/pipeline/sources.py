"""Where the models and tokenizers that a user names are read from: the disk, and the web where the command says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from specrules.errors import EvidenceError, Problem, UserError

if TYPE_CHECKING:
    from specrules.evidence.gguf import Header, HeaderCache, Progress, Watch
    from specrules.evidence.tokenizers import Tokenizer

T = TypeVar("T")

SUFFIX = ".gguf"


@dataclass(frozen=True, slots=True)
class Sources:
    """How files are read. Paths count from `folder`; addresses are fetched where `web` is true and refused otherwise.

    `cache` keeps headers from the web, and `watch` shows how far the reading of one has come.
    """

    folder: Path = field(default_factory=Path)
    web: bool = False
    cache: HeaderCache | None = None
    watch: Watch | None = None

    def tokenizer(self, name: str) -> Tokenizer:
        """Return the tokenizer of a file, a folder or an address. Raises EvidenceError."""
        from specrules.evidence.tokenizers import load_tokenizer

        place = self._place(name)
        with self._watched(name) as progress:
            return load_tokenizer(place, cache=self.cache, progress=progress)

    def model(self, name: str) -> Header:
        """Return the header of a model, of all its files where it is split. Raises EvidenceError."""
        from specrules.evidence.gguf import load_model

        place = self._place(name)
        with self._watched(name) as progress:
            return load_model(place, cache=self.cache, progress=progress)

    def _place(self, name: str) -> str:
        from specrules.evidence.gguf import is_url

        if not is_address(name):
            return str(self.folder / name)
        if not is_url(name):
            raise EvidenceError(f"{shown(name)}: only http and https addresses can be read")
        if not self.web:
            message = f"{shown(name)} is an address, and nothing is fetched unless --fetch says so"
            raise EvidenceError(Problem(message, hint="say --fetch, or name a file"))
        return name

    def _watched(self, name: str) -> AbstractContextManager[Progress | None]:
        return self.watch(shown(name)) if self.watch is not None and is_address(name) else nullcontext()


def is_address(name: str) -> bool:
    """Say whether a name is an address of any kind and no path."""
    return "://" in name


def is_gguf(name: str) -> bool:
    """Say whether a path or an address, whatever its query, names a GGUF file."""
    return (name.partition("?")[0].partition("#")[0] if is_address(name) else name).endswith(SUFFIX)


def shown(name: str) -> str:
    """Return what may be shown of a name: of an address neither user nor password nor query."""
    if not is_address(name):
        return name
    from specrules.evidence.gguf.address import shown as without_secrets

    try:
        return without_secrets(name)
    except ValueError:
        return name.partition("://")[0] + "://..."


def each(read: Callable[[str], T], names: Iterable[str]) -> list[T]:
    """Return what every name gives. Raises EvidenceError with the problems of all."""
    found: list[T] = []
    problems: list[Problem] = []
    for name in names:
        try:
            found.append(read(name))
        except UserError as error:
            problems += error.problems
    if problems:
        raise EvidenceError(problems)
    return found
