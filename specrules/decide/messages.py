"""The message of a rule: a small part of Jinja over the declared names.

Messages come from users' files too, so they get names, filters, `if` and comparisons, and nothing that loops, calls or
allocates. Arithmetic belongs into `let`, where an unknown stays an unknown.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from specrules import templating
from specrules.errors import Location, Problem, did_you_mean
from specrules.expressions import is_unknown
from specrules.model.rule import RuleOutcome

if TYPE_CHECKING:
    from jinja2 import Template, nodes
    from jinja2.sandbox import SandboxedEnvironment

OUTCOME = "outcome"
"""Name by which a message reads the outcome of its own rule."""

_FILTERS = ("num", "percent", "plural", "join")
_TESTS = ("known",)
_JUDGED: tuple[RuleOutcome, ...] = ("pass", "fail", "unknown", "not-applicable")


class Message:
    """A compiled message. `names` are the inputs and lets that it reads."""

    def __init__(self, template: Template, names: frozenset[str]) -> None:
        self.names = names
        self._template = template

    def render(self, values: Mapping[str, object], outcome: RuleOutcome) -> str:
        """Return the text on one line, with `?` for what is unknown. Raises what the template raises."""
        context: dict[str, Any] = {OUTCOME: outcome}
        for name in self.names:
            value = values.get(name)
            _put(context, name.split("."), None if is_unknown(value) else value)
        return " ".join(self._template.render(context).split())


class LazyMessage:
    """A message that is compiled when it is first rendered: shipped ones are checked by the tests, not by every run."""

    def __init__(self, text: str, names: frozenset[str]) -> None:
        self._text = text
        self._names = names

    def render(self, values: Mapping[str, object], outcome: RuleOutcome) -> str:
        """Return the text on one line, with `?` for what is unknown. Raises what the template raises."""
        message, problems = compile_message(self._text, self._names)
        if message is None:
            raise ValueError("; ".join(problem.message for problem in problems))
        return message.render(values, outcome)


@functools.lru_cache(maxsize=256)
def compile_message(text: str, names: frozenset[str]) -> tuple[Message | None, list[Problem]]:
    """Compile a message over the names that it may read; problems have places within `text`.

    Messages are kept, since Jinja takes longer to compile them than everything else in a rule together.

    A message that cannot be rendered while everything is unknown is refused: it would be missing just when it is
    needed.
    """
    import jinja2

    made = _environment()
    try:
        tree = made.parse(text)
    except jinja2.TemplateSyntaxError as error:
        return None, [Problem(f"the message does not parse: {error.message}", Location("", error.lineno, 1))]
    reader = _Reader(text, names)
    reader.read_all(tree.body)
    if reader.problems:
        return None, reader.problems
    try:
        message = Message(made.from_string(tree), frozenset(reader.found))
        for outcome in _JUDGED:
            message.render({}, outcome)
    except Exception as error:  # whatever a filter or a comparison says about None
        problem = Problem(f"the message cannot be rendered while its inputs are unknown: {error}", hint=_GUARD)
        return None, [problem]
    return message, []


_GUARD = "put `{% if NAME is known %}` around it"


def _put(context: dict[str, Any], route: list[str], value: object) -> None:
    """Put a value under its dotted name, as attributes: a mapping would answer `engine.items` with its method."""
    *above, last = route
    if not above:
        context[last] = value
        return
    space = context.setdefault(above[0], SimpleNamespace())
    for step in above[1:]:
        if not hasattr(space, step):
            setattr(space, step, SimpleNamespace())
        space = getattr(space, step)
    setattr(space, last, value)


@functools.cache
def _environment() -> SandboxedEnvironment:
    return templating.environment(finalize=_text)


def _text(value: object) -> object:
    """Return what a message prints for a value that went through no filter."""
    match value:
        case None:
            return templating.UNKNOWN
        case bool():
            return "true" if value else "false"
        case int() | float():
            return templating.num(value)
        case tuple() | list():
            return ", ".join(str(_text(entry)) for entry in value)
    return value


class _Reader:
    """Walks the tree of a message, collects the names it reads and refuses what has no place in it."""

    def __init__(self, text: str, names: frozenset[str]) -> None:
        self.text = text
        self.names = names
        self.found: set[str] = set()
        self.problems: list[Problem] = []

    def read_all(self, found: list[nodes.Node]) -> None:
        for node in found:
            self.read(node)

    def read(self, node: nodes.Node) -> None:
        from jinja2 import nodes

        match node:
            case nodes.Name() | nodes.Getattr():
                self._name(node)
            case nodes.Filter():
                self._member("filter", node.name, _FILTERS, node.lineno)
                self.read_all(list(node.iter_child_nodes()))
            case nodes.Test():
                self._member("test", node.name, _TESTS, node.lineno)
                self.read_all(list(node.iter_child_nodes()))
            case (
                nodes.Output()
                | nodes.TemplateData()
                | nodes.If()
                | nodes.CondExpr()
                | nodes.Compare()
                | nodes.Operand()
                | nodes.And()
                | nodes.Or()
                | nodes.Not()
                | nodes.Const()
                | nodes.Keyword()
            ):
                self.read_all(list(node.iter_child_nodes()))
            case nodes.BinExpr():
                self._refuse(node.lineno, "a message does no arithmetic", "give the result a name under `let`")
            case _:
                what = type(node).__name__.lower()
                self._refuse(node.lineno, f"a message has names, filters and `if`, and no {what}")

    def _name(self, node: nodes.Node) -> None:
        name = _dotted(node)
        if name is None:
            self._refuse(node.lineno, "a field can only be read from a declared name")
        elif name in self.names:
            self.found.add(name)
        elif name != OUTCOME:
            inside = sorted(known for known in self.names if known.startswith(f"{name}."))
            hint = f"did you mean {inside[0]!r}?" if len(inside) == 1 else did_you_mean(name, self.names)
            self._unknown("name", name, node.lineno, hint)

    def _member(self, what: str, name: str, known: tuple[str, ...], line: int) -> None:
        if name not in known:
            self._unknown(what, name, line, did_you_mean(name, known) or f"there are {', '.join(known)}")

    def _unknown(self, what: str, word: str, line: int, hint: str) -> None:
        self.problems.append(Problem(f"unknown {what} {word!r} in the message", self._place(word, line), hint))

    def _refuse(self, line: int, message: str, hint: str = "") -> None:
        self.problems.append(Problem(message, Location("", line, 1), hint))

    def _place(self, word: str, line: int) -> Location:
        """Return where a word stands first in its line; the tree only knows the line."""
        shown = self.text.splitlines()[line - 1]
        found = re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", shown)
        return Location("", line, found.start() + 1 if found else 1)


def _dotted(node: nodes.Node) -> str | None:
    """Return the name that a chain of fields spells, None where it does not start at a name."""
    from jinja2 import nodes

    parts: list[str] = []
    while isinstance(node, nodes.Getattr):
        parts.append(node.attr)
        node = node.node
    return ".".join([node.name, *reversed(parts)]) if isinstance(node, nodes.Name) else None
