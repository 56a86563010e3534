"""Where the built-in engines, rules, templates and so on are: inside the package, or in the root of a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specrules.errors import CatalogError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_PROJECT = 'name = "specrules"'


def builtin(kind: str) -> Traversable:
    """Return the folder of built-in `engines`, `benches`, `rules`, `templates` or `schemas`.

    A checkout wins over packaged copies: an editable install leaves a snapshot of the data in site-packages that goes
    stale. Raises CatalogError where the folder is missing or empty, so that nothing loaded is never taken for nothing
    found.
    """
    folder = builtin_root().joinpath(kind)
    if not folder.is_dir() or not any(not item.name.startswith(".") for item in folder.iterdir()):
        raise CatalogError(f"the built-in {kind} are missing from {folder}: install specrules again")
    return folder


def builtin_root() -> Traversable:
    """Return the folder that holds the built-in folders. It may lie inside a zip archive."""
    checkout = _checkout()
    if checkout is not None:
        return checkout
    from importlib.resources import files

    return files("specrules").joinpath("_data")


def _checkout() -> Path | None:
    """Return the root of the checkout that this module runs from. Another project's root does not count."""
    root = Path(__file__).resolve().parents[2]
    try:
        lines = (root / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    return root if _PROJECT in lines else None
