"""Every error that specrules raises on purpose.

    SpecrulesError
    +-- UserError               the user's files, options or environment are at fault: exit code 2, no traceback
        +-- LoadError           a YAML document that does not parse or does not fit its model
        +-- ExpressionError     an expression that is refused at load
        +-- EvidenceError       a log, metrics dump or response that cannot be read
        +-- CatalogError        an engine, rule, drafter class or template that does not exist or clashes
        +-- UsageError          an option or path that makes no sense

Anything else that escapes is a bug in specrules. A `UserError` carries every problem that was found, not only the
first, and each problem knows its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file. `line` and `column` are 1-based; 0 means the file as a whole."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.path
        return f"{self.path}:{self.line}:{self.column}" if self.column else f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, where it is, and what was probably meant."""

    message: str
    where: Location | None = None
    hint: str = ""
    excerpt: str = field(default="", compare=False)

    def render(self) -> str:
        """`file:line:col: message (did you mean 'x'?)`, then the source line with a caret where it is known."""
        head = f"{self.where}: {self.message}" if self.where else self.message
        if self.hint:
            head += f" ({self.hint})"
        if not self.excerpt or self.where is None or not self.where.column:
            return head
        shown = self.excerpt.replace("\t", " ")
        return f"{head}\n    {shown}\n    {' ' * (self.where.column - 1)}^"


class SpecrulesError(Exception):
    """Base of all errors that specrules raises on purpose."""


class UserError(SpecrulesError):
    """The user's input is at fault. `problems` holds all of them, in order of place."""

    def __init__(self, problems: str | Problem | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = Problem(problems)
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(problem.render() for problem in self.problems))


class LoadError(UserError):
    """A YAML document does not parse or does not fit its model."""


class ExpressionError(UserError):
    """An expression is refused at load."""


class EvidenceError(UserError):
    """A log, metrics dump or response cannot be read as evidence."""


class CatalogError(UserError):
    """An engine, rule, drafter class or template does not exist or clashes with another."""


class UsageError(UserError):
    """An option or a path makes no sense."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for the known name closest to `word`, or an empty string."""
    import difflib

    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""
