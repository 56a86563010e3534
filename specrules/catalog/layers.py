"""Layers: the places that engines, rules and templates are read from, and which of them counts more."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.datadir import builtin_root
from specrules.catalog.located import MAX_BYTES
from specrules.errors import CatalogError, Location, Problem, did_you_mean

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

KINDS = ("engines", "benches", "rules", "templates")
SUFFIXES = {**dict.fromkeys(("engines", "benches", "rules"), (".yaml", ".yml")), "templates": (".j2",)}
CASE_SUFFIXES = (".test.yaml", ".test.yml")
BUILTIN = "built-in"
PATH_VARIABLE = "SPECRULES_PATH"
PROJECT_FOLDER = ".specrules"
WAIVERS = "waivers.yaml"
MAX_FOLDERS = 8


@dataclass(frozen=True)
class Layer:
    """One place with documents. `origin` stands before file names in messages and is empty for the built-ins.

    `kind` is set where `root` is itself the folder of one kind, or one file of it; otherwise it holds `engines/`,
    `benches/`, `rules/`, `templates/`.
    """

    name: str
    root: Traversable
    origin: str
    kind: str | None = None

    @property
    def is_builtin(self) -> bool:
        """Whether this is what specrules brings along."""
        return self.name == BUILTIN

    def folder(self, kind: str) -> Traversable | None:
        """Return the folder of a kind, or None where the layer has none."""
        if self.kind is not None:
            return self.root if self.kind == kind else None
        folder = self.root.joinpath(kind)
        return folder if folder.is_dir() else None


@dataclass(frozen=True)
class LayerFile:
    """A file of a layer. `name` is its path inside the folder of its kind, with `/`."""

    layer: Layer
    kind: str
    name: str
    file: Traversable

    @property
    def path(self) -> str:
        """The path as messages show it."""
        inside = self.name if self.layer.kind else f"{self.kind}/{self.name}"
        return f"{self.layer.origin.rstrip('/')}/{inside}" if self.layer.origin else inside

    @property
    def is_case(self) -> bool:
        """Whether the file holds cases for the document beside it."""
        return self.name.lower().endswith(CASE_SUFFIXES)

    def read(self) -> bytes:
        """Return the content, at most one byte more than a document may have. Raises CatalogError."""
        try:
            with self.file.open("rb") as stream:
                return stream.read(MAX_BYTES + 1)
        except OSError as error:
            raise CatalogError(_unreadable(self.path, error)) from None


def discover(
    *,
    engines: Sequence[str | os.PathLike[str]] = (),
    benches: Sequence[str | os.PathLike[str]] = (),
    rules: Sequence[str | os.PathLike[str]] = (),
    templates: Sequence[str | os.PathLike[str]] = (),
    builtin: bool = True,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Layer, ...]:
    """Return the layers from low to high.

    Built-in, then the entries of SPECRULES_PATH from left to right, then `.specrules/` of the repository around `cwd`,
    then the folders given for one kind. Raises CatalogError naming every folder that does not exist, holds nothing,
    or is laid out wrongly.
    """
    environ = os.environ if environ is None else environ
    entries = [entry for entry in environ.get(PATH_VARIABLE, "").split(os.pathsep) if entry]
    layers = [Layer(PATH_VARIABLE, Path(entry), entry) for entry in entries]
    here = (cwd or Path.cwd()).resolve()
    project = project_folder(here)
    if project is not None:
        layers.append(Layer(PROJECT_FOLDER, project, os.path.relpath(project, here)))
    for kind, folders in zip(KINDS, (engines, benches, rules, templates), strict=True):
        layers += [Layer(f"--{kind}", Path(folder), os.fspath(folder), kind) for folder in folders]
    problems = [problem for layer in layers for problem in _layout_problems(layer)]
    if problems:
        raise CatalogError(problems)
    return (builtin_layer(), *layers) if builtin else tuple(layers)


def builtin_layer() -> Layer:
    """Return the layer that specrules brings along."""
    return Layer(BUILTIN, builtin_root(), "")


def project_folder(start: Path) -> Path | None:
    """Return the nearest `.specrules/` from `start` up to the root of its git repository; outside one, only at `start`.

    Nothing above the repository counts: on a shared machine anybody might have put it there.
    """
    here = start.resolve()
    above = [here, *here.parents]
    root = next((index for index, folder in enumerate(above) if (folder / ".git").exists()), 0)
    candidates = (folder / PROJECT_FOLDER for folder in above[: root + 1])
    return next((folder for folder in candidates if folder.is_dir()), None)


def files(layer: Layer, kind: str) -> list[LayerFile]:
    """Return the files of a kind in a layer, cases included, by name. Hidden files and folders do not count.

    Raises CatalogError for a folder that cannot be listed, and for built-ins that are missing.
    """
    folder = layer.folder(kind)
    if folder is not None and folder.is_file():
        return [LayerFile(layer, kind, folder.name, folder)]
    found = [] if folder is None else list(_walk(layer, kind, folder, "", MAX_FOLDERS))
    if layer.is_builtin and not found:
        raise CatalogError(f"the built-in {kind} are missing from {layer.root}: install specrules again")
    return sorted(found, key=lambda file: file.name)


def stacks(layers: Iterable[Layer], kind: str) -> dict[str, list[LayerFile]]:
    """Return all files of a kind by name, each with its versions from the lowest layer to the highest.

    This is how templates are looked up: the last version counts. Raises CatalogError like `files`.
    """
    found: dict[str, list[LayerFile]] = {}
    for layer in layers:
        for file in files(layer, kind):
            found.setdefault(file.name, []).append(file)
    return found


def _walk(layer: Layer, kind: str, folder: Traversable, prefix: str, levels: int) -> Iterator[LayerFile]:
    shown = LayerFile(layer, kind, prefix, folder).path
    if not levels:
        raise CatalogError(Problem(f"more than {MAX_FOLDERS} folders deep: a link in a circle?", Location(shown)))
    try:
        items = sorted(folder.iterdir(), key=lambda item: item.name)
    except OSError as error:
        raise CatalogError(_unreadable(shown, error)) from None
    for item in items:
        if item.name.startswith("."):
            continue
        if item.is_dir():
            yield from _walk(layer, kind, item, f"{prefix}{item.name}/", levels - 1)
        elif item.is_file() and item.name.lower().endswith(SUFFIXES[kind]):
            yield LayerFile(layer, kind, prefix + item.name, item)


def _layout_problems(layer: Layer) -> list[Problem]:
    """Return what would make a given folder count for nothing."""
    where = Location(layer.origin)
    try:
        if not layer.root.is_dir():
            return [Problem(f"{layer.name}: no such folder", where)]
        if layer.kind is not None and layer.root.joinpath(layer.kind).is_dir():
            return [Problem(f"{layer.name}: this holds {layer.kind}/, give that folder itself", where)]
        kinds = KINDS if layer.kind is None else (layer.kind,)
        problems = _misspelt_folders(layer) if layer.kind is None else []
        if not _holds_waivers(layer) and not any(not file.is_case for kind in kinds for file in files(layer, kind)):
            prefix = "{kind}/" if layer.kind is None else ""
            wanted = ", ".join(f"{prefix.format(kind=kind)}*{SUFFIXES[kind][0]}" for kind in kinds)
            problems.append(Problem(f"{layer.name}: the folder holds no document", where, f"looked for {wanted}"))
    except OSError as error:
        return [_unreadable(layer.origin, error)]
    except CatalogError as error:
        return list(error.problems)
    return problems


def _holds_waivers(layer: Layer) -> bool:
    """Whether this is the folder of a repository that has waivers in it: it needs no documents then."""
    return layer.name == PROJECT_FOLDER and layer.root.joinpath(WAIVERS).is_file()


def _misspelt_folders(layer: Layer) -> list[Problem]:
    names = sorted(item.name for item in layer.root.iterdir() if item.name not in KINDS and item.is_dir())
    where = Location(layer.origin)
    return [
        Problem(f"{layer.name}: folder {name!r} is not read", where, hint)
        for name in names
        if (hint := did_you_mean(name, KINDS))
    ]


def _unreadable(path: str, error: OSError) -> Problem:
    return Problem(f"cannot be read: {error.strerror or error}", Location(path))
