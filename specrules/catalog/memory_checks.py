"""What must hold inside `rules/memory.yaml` beyond its model: names that are clear, sources, and expressions."""

from __future__ import annotations

from collections.abc import Iterator

from specrules.catalog.document import Loc
from specrules.catalog.places import Locate, relocated
from specrules.errors import ExpressionError, Location, Problem, did_you_mean
from specrules.expressions import Type, compile_expression
from specrules.model.memory import MemoryFile


def memory_problems(memory: MemoryFile, locate: Locate) -> list[Problem]:
    """Every problem of the file that its model cannot see, in order of place."""
    found = [*_names(memory, locate), *_sources(memory, locate), *_expressions(memory, locate)]
    return sorted(found, key=lambda problem: (problem.where or Location(""), problem.message))


def _names(memory: MemoryFile, locate: Locate) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, item in enumerate(memory.architectures):
        for position, name in enumerate(item.names):
            if name in seen:
                where = locate(("architectures", index, "names", position), 0)
                yield Problem(f"the architecture {name!r} is described twice", where)
            seen.add(name)


def _sources(memory: MemoryFile, locate: Locate) -> Iterator[Problem]:
    sources = {source.id for source in memory.sources}
    used: list[tuple[Loc, str]] = [(("draft_length_known",), memory.draft_length_known)]
    for group in ("architectures", "estimates", "remarks"):
        used += [((group, index, "known"), item.known) for index, item in enumerate(getattr(memory, group))]
    for loc, name in used:
        if name not in sources:
            yield Problem(f"no source {name!r} in this file", locate(loc, 0), did_you_mean(name, sources))


def _expressions(memory: MemoryFile, locate: Locate) -> Iterator[Problem]:
    symbols = dict.fromkeys(memory.numbers, Type.NUMBER)
    texts: list[tuple[Loc, str]] = [(("hidden_widths", index), text) for index, text in enumerate(memory.hidden_widths)]
    for index, item in enumerate(memory.architectures):
        if item.recurrent is not None:
            texts.append((("architectures", index, "recurrent", "elements"), item.recurrent.elements))
        for position, kind in enumerate(item.compressed):
            place: Loc = ("architectures", index, "compressed", position)
            texts += [((*place, "width"), kind.width), ((*place, "state"), kind.state)]
    for loc, text in texts:
        try:
            compile_expression(text, symbols, expect=Type.NUMBER)
        except ExpressionError as error:
            yield from relocated(error.problems, text, loc, locate)
