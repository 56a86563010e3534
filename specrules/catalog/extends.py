"""`extends: ID`: a document as another one with some keys changed, each value with the file it comes from.

Mappings merge, lists and scalars replace, `null` deletes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from specrules.catalog.document import Document, Loc, Spot, dotted
from specrules.errors import CatalogError, Problem, did_you_mean

EXTENDS = "extends"
OVERRIDES = "overrides"
MAX_DEPTH = 8

FindParent = Callable[[Document, str], Document | None]
"""The document that `extends: ID` means in the given document, or None where there is none."""


def resolve(
    document: Document,
    parent: FindParent,
    name: Callable[[Document], str] = lambda document: document.path,
    known: Iterable[str] = (),
) -> Document:
    """Return the document with all that it extends merged in, without `extends` and `overrides`.

    `name` gives a document's id for messages, `known` the ids that may have been meant. Raises CatalogError for an
    unknown parent, a circle, more than 8 levels, and a `null` that deletes nothing.
    """
    chain = [document]
    while EXTENDS in chain[-1].data:
        child = chain[-1]
        target = child.data[EXTENDS]
        if not isinstance(target, str) or not target:
            raise CatalogError(child.problem(f"'{EXTENDS}' must be the id of a document", (EXTENDS,)))
        above = parent(child, target)
        if above is None:
            hint = did_you_mean(target, (item for item in known if item != target))
            raise CatalogError(child.problem(f"extends {target!r}: no such document to build on", (EXTENDS,), hint))
        route = [*chain, above]
        if any(above is earlier for earlier in chain):
            raise CatalogError(document.problem(f"extends itself: {_route(route, name)}", (EXTENDS,)))
        if len(chain) > MAX_DEPTH:
            raise CatalogError(
                document.problem(f"extends more than {MAX_DEPTH} levels: {_route(route, name)}", (EXTENDS,))
            )
        chain.append(above)
    merged = _without_directives(chain.pop())
    for child in reversed(chain):
        merged = merge(merged, _without_directives(child))
    if merged.problems:
        raise CatalogError(merged.problems)
    return merged


def merge(base: Document, change: Document) -> Document:
    """Return `base` changed by `change`. Problems: each `null` that has nothing to delete."""
    problems: list[Problem] = [*base.problems, *change.problems]
    data, root = _merge(base.data, base.root, change, (), problems)
    return Document(change.source, data, root, tuple(problems))


def _merge(
    below: dict[str, Any], spots: Spot, change: Document, loc: Loc, problems: list[Problem]
) -> tuple[dict[str, Any], Spot]:
    """Merge the mapping at `loc` of `change` over `below`."""
    above, above_spot = change.value(loc), change.spot(loc)
    data = dict(below)
    children = dict(_mapping(spots))
    for key, value in above.items():
        spot = _mapping(above_spot)[key]
        if value is None:
            if key not in below:
                known = did_you_mean(key, below)
                message = f"'{dotted((*loc, key))}' is empty, which deletes it, but what is extended does not have it"
                problems.append(change.problem(message, (*loc, key), known, at_key=True))
            data.pop(key, None)
            children.pop(key, None)
        elif isinstance(value, dict) and isinstance(data.get(key), dict):
            data[key], children[key] = _merge(data[key], children[key], change, (*loc, key), problems)
        else:
            data[key], children[key] = value, spot
    merged = Spot(above_spot.source, above_spot.start, children)
    merged.key = above_spot.key
    return data, merged


def _mapping(spot: Spot) -> dict[str, Spot]:
    return spot.children if isinstance(spot.children, dict) else {}


def _without_directives(document: Document) -> Document:
    data = {key: value for key, value in document.data.items() if key not in (EXTENDS, OVERRIDES)}
    children = {key: spot for key, spot in _mapping(document.root).items() if key in data}
    return Document(document.source, data, Spot(document.source, document.root.start, children), document.problems)


def _route(chain: list[Document], name: Callable[[Document], str]) -> str:
    return " -> ".join(name(item) for item in chain)
