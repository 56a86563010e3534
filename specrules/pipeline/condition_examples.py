"""The examples beside the conditions of an engine file, run."""

from __future__ import annotations

from specrules.catalog.catalogue import Catalog
from specrules.catalog.loaded import Loaded
from specrules.derive.condition_examples import failing_examples
from specrules.errors import Problem
from specrules.model.engine import Engine


def condition_problems(loaded: Loaded[Engine], catalog: Catalog) -> list[Problem]:
    """Return every example that does not give what it says, at its place."""
    failing = failing_examples(loaded.model, catalog.condition_symbols)
    return [Problem(message, loaded.locate(route)) for route, message in failing]
