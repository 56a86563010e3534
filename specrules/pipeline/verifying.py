"""An engine's file against what the engine itself prints."""

from __future__ import annotations

from dataclasses import dataclass

from specrules.errors import Problem, UsageError
from specrules.evidence.help.drift import Drift, drift, scope_size
from specrules.evidence.help.help_source import help_source
from specrules.evidence.help.help_text import read_options
from specrules.model.engine import Engine


@dataclass(frozen=True, slots=True)
class Verified:
    """What was compared with what, and every difference."""

    source: str
    compared: int
    drift: tuple[Drift, ...]


def verify_help(engine: Engine, source: str) -> Verified:
    """Compare an engine's flags with a help text: a file, a program, a URL, or `-`.

    UsageError where the engine's file declares no scope or the program cannot be run, EvidenceError where the text is
    not of the declared shape.
    """
    if engine.help is None:
        raise UsageError(
            Problem(
                f"the file of {engine.title} does not say how its help text is read",
                hint="add 'help' to the engine file",
            )
        )
    text = help_source(source, engine.help.arguments)
    found = read_options(text, engine.help)
    return Verified(text.name, scope_size(engine, engine.help, found), drift(engine, engine.help, found))
