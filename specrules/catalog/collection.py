"""All documents of one kind, from all layers: which counts under which id, and what it overrides."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from specrules.catalog.digest import FileDigest, file_digest
from specrules.catalog.document import Document, Loc
from specrules.catalog.extends import EXTENDS, OVERRIDES, resolve
from specrules.catalog.layers import Layer, LayerFile, files
from specrules.catalog.located import read_document
from specrules.catalog.schema_version import NEWEST, schema_problems
from specrules.errors import CatalogError, LoadError, Problem, UserError, did_you_mean

IdOf = Callable[[Mapping[str, Any]], Any]
"""Gives the id of a document from its data; anything but text that is not empty means that it has none."""

ID = "id"


@dataclass(frozen=True)
class Override:
    """A document that counts instead of others with its id. Paths as shown in messages; `over` from low to high."""

    id: str
    path: str
    layer: str
    over: tuple[str, ...]
    of_builtin: bool


@dataclass(frozen=True)
class Collection:
    """The documents of a kind that count, by id in the order they were first met, with all they extend merged in.

    `files` are all documents that were read, also those that are overridden; `cases` the files with cases beside them.
    """

    documents: Mapping[str, Document]
    files: tuple[LayerFile, ...]
    cases: tuple[LayerFile, ...]
    overrides: tuple[Override, ...]
    digests: tuple[FileDigest, ...]

    @property
    def overridden_builtins(self) -> tuple[Override, ...]:
        """Built-in documents that another layer replaces or changes."""
        return tuple(item for item in self.overrides if item.of_builtin)


def collect(
    layers: Sequence[Layer], kind: str, id_of: IdOf, *, newest: int = NEWEST, named: bool = False
) -> Collection:
    """Return all documents of a kind.

    `named` says that built-in files are named after their ids, as the tests see to. As long as no other layer has a
    document of the kind, each is then read when it is first asked for, with the errors that it has.

    Raises LoadError with all problems of all files where a file cannot be read, does not load, is of a newer schema or
    has no id; otherwise CatalogError where ids clash, a document is overridden without saying so, `extends` leads
    nowhere, or there is no document at all.
    """
    found, cases = _files(layers, kind)
    if named and found and all(file.layer.is_builtin for _, file in found):
        unread = _Unread({PurePosixPath(file.name).stem: file for _, file in found}, newest)
        return Collection(unread, tuple(file for _, file in found), tuple(cases), (), tuple(_digests(found, kind)))
    shelf = _Shelf(id_of)
    problems: list[Problem] = []
    for rank, file in found:
        try:
            content = file.read()
        except CatalogError as error:
            problems.extend(error.problems)
            continue
        read = _read_builtin if file.layer.is_builtin else read_document
        document = read(content, file.path, file.layer.name)
        found_here = document.problems or schema_problems(document, newest) or shelf.add(document, rank)
        problems.extend(found_here)
    if problems:
        raise LoadError(problems)
    if not found:
        places = ", ".join(layer.origin or layer.name for layer in layers)
        raise CatalogError(f"no {kind} found in {places or 'no layer'}")
    documents = shelf.resolved()
    overrides = tuple(shelf.overrides(layers))
    digests = tuple(_digests(found, kind))
    return Collection(documents, tuple(file for _, file in found), tuple(cases), overrides, digests)


class _Unread(Mapping[str, Document]):
    """Built-in documents by id, each read when it is first asked for."""

    def __init__(self, files: Mapping[str, LayerFile], newest: int) -> None:
        self._files = files
        self._newest = newest

    def __getitem__(self, name: str) -> Document:
        file = self._files[name]
        document = _read_builtin(file.read(), file.path, file.layer.name)
        problems = document.problems or schema_problems(document, self._newest)
        if problems:
            raise LoadError(problems)
        return document

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _digests(found: Iterable[tuple[int, LayerFile]], kind: str) -> Iterator[FileDigest]:
    for rank, file in found:
        yield file_digest(f"{rank}:{file.layer.name}/{kind}/{file.name}", file.read())


@functools.lru_cache(maxsize=128)
def _read_builtin(content: bytes, path: str, layer: str) -> Document:
    """Return a built-in document. They are kept, since a program that judges many cases reads them every time."""
    return read_document(content, path, layer)


def _files(layers: Iterable[Layer], kind: str) -> tuple[list[tuple[int, LayerFile]], list[LayerFile]]:
    documents: list[tuple[int, LayerFile]] = []
    cases: list[LayerFile] = []
    for rank, layer in enumerate(layers):
        for file in files(layer, kind):
            if file.is_case:
                cases.append(file)
            else:
                documents.append((rank, file))
    return documents, cases


@dataclass
class _Shelf:
    """Documents by id and rank of their layer."""

    id_of: IdOf
    by_id: dict[str, dict[int, list[Document]]] = field(default_factory=dict)
    rank_of: dict[Document, int] = field(default_factory=dict)

    def add(self, document: Document, rank: int) -> list[Problem]:
        """Put a document under its id. One that only extends another takes the id from there."""
        name = self.name(document)
        if not isinstance(name, str) or not name:
            if ID not in document.data:
                return [document.problem(f"missing key '{ID}'")]
            number = isinstance(name, int | float)
            message = f"'{ID}' must be text" if number else f"'{ID}' must be text that is not empty"
            return [document.problem(message, (ID,), "put it in quotes" if number else "")]
        self.by_id.setdefault(name, {}).setdefault(rank, []).append(document)
        self.rank_of[document] = rank
        return []

    def name(self, document: Document) -> Any:
        """Return the id of a document, as far as its own file says."""
        own = self.id_of(document.data)
        return document.data.get(EXTENDS) if own is None and ID not in document.data else own

    def parent(self, child: Document, target: str) -> Document | None:
        """Return the highest document of an id that is not above `child`, and below it where both have the same id.

        So a file never changes what a document of a lower layer means, except by overriding that very id.
        """
        highest = self.rank_of[child] - (1 if target == self.name(child) else 0)
        ranks = [rank for rank in self.by_id.get(target, {}) if rank <= highest]
        return self.by_id[target][max(ranks)][0] if ranks else None

    def resolved(self) -> dict[str, Document]:
        """Return the document that counts for each id. Raises CatalogError with the problems of all ids."""
        problems: list[Problem] = []
        documents: dict[str, Document] = {}
        for name, by_rank in self.by_id.items():
            problems += self._clashes(name, by_rank)
        if problems:
            raise CatalogError(problems)
        for name, by_rank in self.by_id.items():
            try:
                documents[name] = resolve(by_rank[max(by_rank)][0], self.parent, self._shown, self.by_id)
            except UserError as error:
                problems.extend(error.problems)
        if problems:
            raise CatalogError(dict.fromkeys(problems))
        return documents

    def overrides(self, layers: Sequence[Layer]) -> Iterable[Override]:
        """Yield what counts instead of something in a lower layer."""
        for name, by_rank in self.by_id.items():
            *lower, top = sorted(by_rank)
            if lower:
                winner = by_rank[top][0]
                over = tuple(by_rank[rank][0].path for rank in lower)
                yield Override(name, winner.path, winner.layer, over, any(layers[rank].is_builtin for rank in lower))

    def _clashes(self, name: str, by_rank: dict[int, list[Document]]) -> Iterable[Problem]:
        lowest = min(by_rank)
        for rank, documents in by_rank.items():
            first, *others = documents
            for other in others:
                yield other.problem(f"id {name!r} is already taken by {first.position(_id_loc(first))}", _id_loc(other))
            stated = first.data.get(OVERRIDES, False)
            if not isinstance(stated, bool):
                yield first.problem(f"'{OVERRIDES}' must be true or false", (OVERRIDES,))
            elif rank > lowest and not stated and first.data.get(EXTENDS) != name:
                below = by_rank[max(other for other in by_rank if other < rank)][0]
                message = f"id {name!r} is taken by {below.layer} {below.position(_id_loc(below))}"
                hint = f"add 'overrides: true', or 'extends: {name}' to change it"
                yield first.problem(message, _id_loc(first), hint)
            elif rank == lowest and stated:
                hint = did_you_mean(name, (item for item in self.by_id if item != name))
                yield first.problem(f"overrides {name!r}, which no layer below has", _id_loc(first), hint)

    def _shown(self, document: Document) -> str:
        return f"{self.name(document)} ({document.path})"


def _id_loc(document: Document) -> Loc:
    """Return the route to what gives a document its id."""
    return (ID,) if ID in document.data else (EXTENDS,)
