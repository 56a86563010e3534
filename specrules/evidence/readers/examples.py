"""The examples of a program's readers: what they must give, and whether they do."""

from __future__ import annotations

from collections.abc import Mapping

from specrules.errors import CatalogError, EvidenceError, Problem
from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.compiling import compile_reader
from specrules.evidence.readers.detect import Candidate
from specrules.evidence.readers.facts import state_facts
from specrules.evidence.readers.fields import FieldError
from specrules.evidence.readers.log import line_values, match_line, matcher_of
from specrules.evidence.readers.patterns import Screen
from specrules.evidence.readers.runs import chosen
from specrules.evidence.readers.stream import plain
from specrules.evidence.source import source_from_bytes
from specrules.model.fact import FactValue
from specrules.model.program import Program
from specrules.model.reader import DocumentExample, LogExample, LogPattern

# Examples are written with six digits or more.
_TOLERANCE = 1e-5


def check_examples(engine: Program) -> list[Problem]:
    """Return what is wrong with the readers of a program, and every example that does not give exactly what it states.

    The line of a pattern must be taken by that very pattern and give exactly the stated fields; a document must be
    recognised by its reader, before every other of the program, and give exactly the stated facts.
    """
    problems: list[Problem] = []
    readers: list[CompiledReader] = []
    for spec in engine.readers:
        try:
            readers.append(compile_reader(engine, spec))
        except CatalogError as error:
            problems.extend(error.problems)
    for reader in readers:
        place = f"engine {engine.id!r}, reader {reader.spec.id!r}"
        screen = Screen(matcher_of(reader).screen if reader.spec.kind == "log" else ())
        for pattern in reader.spec.patterns:
            for number, line in enumerate(pattern.examples, start=1):
                where = f"{place}, pattern {pattern.id!r}, example {number}"
                problems += [Problem(f"{where}: {message}") for message in _check_line(reader, screen, pattern, line)]
        for number, document in enumerate(reader.spec.examples, start=1):
            where = f"{place}, example {number}"
            problems += [Problem(f"{where}: {message}") for message in _check_document(reader, readers, document)]
    return problems


def _check_line(reader: CompiledReader, screen: Screen, pattern: LogPattern, example: LogExample) -> list[str]:
    found = match_line(reader, example.line)
    if found is None:
        return ["no pattern takes the line"]
    taken, groups = found
    if taken.spec.id != pattern.id:
        return [f"the pattern {taken.spec.id!r} takes the line first"]
    block = plain(example.line.encode(errors="replace") + b"\n")
    if not any(True for _ in screen.lines(block, 1)):
        return ["the line is not found among others: a removal from its beginning changes more than the beginning"]
    try:
        return _differences("field", example.fields, line_values(reader, taken, groups))
    except FieldError as error:
        return [str(error)] if example.fields else []


def _check_document(reader: CompiledReader, readers: list[CompiledReader], example: DocumentExample) -> list[str]:
    try:
        source = source_from_bytes("example", example.text.encode(errors="replace"))
        found = Candidate(source).recognise(readers)
    except EvidenceError as error:
        return [problem.render() for problem in error.problems]
    if found is None:
        return ["no reader recognises the text"]
    if found.reader is not reader:
        return [f"the reader {found.reader.spec.id!r} takes the text"]
    try:
        run = chosen(found.runs, example.where, source)
    except EvidenceError as error:
        return [problem.render() for problem in error.problems]
    stated = {fact.name: fact.value for fact, _ in state_facts(run, source.name)}
    return _differences("fact", example.facts, stated)


def _differences(kind: str, wanted: Mapping[str, FactValue], got: Mapping[str, FactValue]) -> list[str]:
    messages = [f"the {kind} {name} is missing, wanted {wanted[name]!r}" for name in wanted if name not in got]
    messages += [f"the {kind} {name} is not stated, found {got[name]!r}" for name in got if name not in wanted]
    messages += [
        f"the {kind} {name} is {got[name]!r}, not {wanted[name]!r}"
        for name in wanted
        if name in got and not _same(wanted[name], got[name])
    ]
    return messages


def _same(wanted: FactValue, got: FactValue) -> bool:
    if isinstance(wanted, tuple) and isinstance(got, tuple):
        return len(wanted) == len(got) and all(map(_same, wanted, got))
    if isinstance(wanted, bool) or isinstance(got, bool):
        return wanted is got
    if isinstance(wanted, float | int) and isinstance(got, float | int):
        return abs(wanted - got) <= _TOLERANCE * max(abs(wanted), abs(got))
    return wanted == got
