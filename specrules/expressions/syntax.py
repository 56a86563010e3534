"""From text to tree: the part of Python's grammar that expressions may use, and how much of it.

Python's own parser does the work, so precedence is the one that readers know. What it returns is translated node class
by node class; a class that is not named here is refused, which covers whatever later versions of Python add.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Iterator

from specrules.errors import ExpressionError, Problem
from specrules.expressions import tree
from specrules.expressions.source import Source, shorten

MAX_LENGTH = 1000
MAX_NODES = 200
MAX_DEPTH = 32

KNOWN = "known"

_PARSING = threading.Lock()
"""Python 3.11 counts the depth of a tree once for all threads, and every version keeps one list of warning filters: two
threads that parse at once can end in a SystemError, or with filters that nobody set."""

_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
}
_REFUSED: dict[type[ast.AST], str] = {
    ast.Attribute: "a field can only be read from a declared name",
    ast.Await: "`await` is not part of the expression language",
    ast.BinOp: "only the operators + - * / are part of the expression language",
    ast.Dict: "a mapping is not part of the expression language",
    ast.DictComp: "a comprehension is not part of the expression language",
    ast.GeneratorExp: "a comprehension is not part of the expression language",
    ast.JoinedStr: "an f-string is not part of the expression language",
    ast.Lambda: "`lambda` is not part of the expression language",
    ast.ListComp: "a comprehension is not part of the expression language",
    ast.NamedExpr: "assignment is not part of the expression language",
    ast.Set: "a set is not part of the expression language",
    ast.SetComp: "a comprehension is not part of the expression language",
    ast.Slice: "a slice is not part of the expression language",
    ast.Starred: "unpacking with * is not part of the expression language",
    ast.Subscript: "an index in brackets is not part of the expression language",
    ast.Tuple: "a tuple is not part of the expression language",
    ast.UnaryOp: "of the signs only the minus is part of the expression language",
    ast.Yield: "`yield` is not part of the expression language",
    ast.YieldFrom: "`yield` is not part of the expression language",
}
_REFUSED_HINTS: dict[type[ast.AST], str] = {
    ast.Set: "write a list in square brackets",
    ast.Tuple: "write a list in square brackets",
    ast.NamedExpr: "compare with ==",
}
_FOREIGN_OPERATORS = (
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("!", "write `not`"),
    ("?", "write `a if c else b`"),
    ("=", "compare with =="),
)
# Operators and contexts are part of the node that holds them.
_UNCOUNTED = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)

_QUOTE_AFTER = re.compile(r"""\s*(?:rb|br|rf|fr|rt|tr|[rbuft])?["']""", re.IGNORECASE)
_TOKEN = re.compile(
    r"""(?P<triple>\"{3}|'{3})
    | (?P<string>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
    | (?P<open>["'])
    | (?P<comment>\#)
    | (?P<backslash>\\)""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:[\\'"nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(?P<other>.))""")


def parse(source: Source) -> tuple[tree.Node, list[Problem]]:
    """Return the tree of an expression, with `Broken` nodes where something was refused, and these refusals.

    ExpressionError where there is no tree to go on with: text that does not parse, or that exceeds a limit.
    """
    if len(source.text) > MAX_LENGTH:
        message = f"the expression has {len(source.text)} characters, more than the {MAX_LENGTH} allowed"
        raise ExpressionError(source.problem(0, message))
    if not source.code:
        raise ExpressionError(source.problem(0, "the expression is empty"))
    problems = list(_refuse_text(source))
    if problems:
        raise ExpressionError(problems)
    body = _parse_python(source)
    _check_size(source, body)
    translator = _Translator(source)
    return translator.translate(body), translator.problems


def _refuse_text(source: Source) -> Iterator[Problem]:
    """Refuse what Python's parser would pass over in silence or complain about in a way that depends on its version."""
    unprintable = [i for i, char in enumerate(source.text) if not (char.isprintable() or char in "\n\t")]
    for offset in unprintable:
        yield source.problem(offset, f"the character U+{ord(source.text[offset]):04X} has no place in an expression")
    if unprintable:
        return
    for token in _TOKEN.finditer(source.text):
        if token["open"]:
            return
        if token["triple"]:
            # What follows could be read in two ways.
            yield source.problem(token.start(), "triple quotes are not part of the expression language")
            return
        if token["comment"]:
            # In a folded YAML text a comment would swallow the rest of the rule.
            message = "a comment is not part of the expression language"
            yield source.problem(token.start(), message, "everything after # would be ignored")
            return
        if token["backslash"]:
            yield source.problem(token.start(), "a backslash is only allowed within a string")
            continue
        for escape in _ESCAPE.finditer(source.text, token.start(), token.end()):
            if escape["other"]:
                offset = escape.start()
                yield source.problem(
                    offset, f"the escape \\{escape['other']} is not known", "double it for a backslash"
                )
        if _QUOTE_AFTER.match(source.text, token.end()):
            yield source.problem(token.start(), "two strings follow each other", "is a comma missing between them?")


def _parse_python(source: Source) -> ast.expr:
    try:
        with _PARSING, warnings.catch_warnings():
            # `1if a else b` and the like earn a warning at parse time, which a strict caller has turned into an error.
            warnings.simplefilter("ignore")
            try:
                return ast.parse(source.code, "<expression>", "eval").body
            except SystemError:  # Python 3.11, where the collector ran code that builds a tree of its own meanwhile
                return ast.parse(source.code, "<expression>", "eval").body
    except SyntaxError as error:
        offset = source.offset_of_error(error.lineno, error.offset)
        hint = _syntax_hint(source.text, offset)
        raise ExpressionError(source.problem(offset, f"the expression does not parse: {error.msg}", hint)) from None
    except (ValueError, MemoryError, RecursionError):
        raise ExpressionError(source.problem(0, "the expression is nested too deeply to be parsed")) from None


def _syntax_hint(text: str, offset: int) -> str:
    if text[offset:].startswith("\n") and text[offset:].strip():
        return "put brackets around an expression that goes over several lines"
    around = re.sub("[=!<>]=", "", text[max(offset - 1, 0) : offset + 2])
    return next((hint for sign, hint in _FOREIGN_OPERATORS if sign in around), "")


def _check_size(source: Source, body: ast.expr) -> None:
    """Count nodes and depth without recursion: the tree may be as deep as its text is long."""
    count = 0
    stack: list[tuple[ast.AST, int]] = [(body, 1)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if depth > MAX_DEPTH:
            raise ExpressionError(source.problem(0, f"the expression is nested more than {MAX_DEPTH} levels deep"))
        if _dotted(node) is None and _signed(node) is None:
            children = (child for child in ast.iter_child_nodes(node) if not isinstance(child, _UNCOUNTED))
            stack.extend((child, depth + 1) for child in children)
    if count > MAX_NODES:
        raise ExpressionError(source.problem(0, f"the expression has {count} parts, more than the {MAX_NODES} allowed"))


def _dotted(node: ast.AST) -> str | None:
    """Return the name that a chain of attributes spells, None where it does not start at a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _signed(node: ast.AST) -> ast.Constant | None:
    """Return the constant behind a minus sign: the pair is one literal."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return node.operand
    return None


class _Translator:
    """Turns `ast` nodes into the tree and collects what it has to refuse on the way."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def translate(self, node: ast.expr) -> tree.Node:
        start, end = self.source.span(node)
        name = _dotted(node)
        if name is not None:
            return tree.Name(start, end, name)
        match node:
            case ast.Constant():
                return self._constant(start, end, node)
            case ast.UnaryOp(op=ast.USub()):
                return self._minus(start, end, node)
            case ast.UnaryOp(op=ast.Not()):
                return tree.Negation(start, end, self.translate(node.operand))
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                left, right = self.translate(node.left), self.translate(node.right)
                return tree.Arithmetic(start, end, _ARITHMETIC[type(node.op)], left, right)
            case ast.BoolOp():
                operator = "and" if isinstance(node.op, ast.And) else "or"
                return tree.Junction(start, end, operator, self._all(node.values))
            case ast.Compare():
                return self._comparison(start, end, node)
            case ast.IfExp():
                test, then, other = self._all([node.test, node.body, node.orelse])
                return tree.Conditional(start, end, test, then, other)
            case ast.List():
                return tree.Items(start, end, self._all(node.elts))
            case ast.Call():
                return self._call(start, end, node)
        return self._refused(start, end, node)

    def _all(self, nodes: list[ast.expr]) -> tuple[tree.Node, ...]:
        return tuple(self.translate(node) for node in nodes)

    def _broken(
        self, start: int, end: int, message: str, hint: str = "", parts: tuple[tree.Node, ...] = ()
    ) -> tree.Broken:
        self.problems.append(self.source.problem(start, message, hint))
        return tree.Broken(start, end, parts)

    def _refused(self, start: int, end: int, node: ast.expr) -> tree.Broken:
        """Refuse a node, and keep those of its parts that are plain expressions for the check."""
        message = _REFUSED.get(type(node), "this is not part of the expression language")
        parts: tuple[tree.Node, ...] = ()
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Tuple | ast.Set | ast.Attribute):
            parts = self._all([child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)])
        return self._broken(start, end, message, _REFUSED_HINTS.get(type(node), ""), parts)

    def _constant(self, start: int, end: int, node: ast.Constant) -> tree.Node:
        value = node.value
        if isinstance(value, str):
            return tree.String(start, end, value)
        if value is None:
            return self._broken(start, end, "None is not a value: what is not known stays unknown by itself")
        if isinstance(value, bool):
            return self._broken(start, end, *no_truth_literal(str(value)))
        if isinstance(value, int | float):
            return self._number(start, end, value)
        return self._broken(start, end, "a literal is a number or a text in quotes")

    def _number(self, start: int, end: int, value: float) -> tree.Node:
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if number in {float("inf"), float("-inf")}:
            return self._broken(start, end, "the number is beyond the range of a float")
        if number != value:
            return self._broken(start, end, "the integer has more digits than a float can hold")
        return tree.Number(start, end, number + 0.0)

    def _minus(self, start: int, end: int, node: ast.UnaryOp) -> tree.Node:
        constant = _signed(node)
        value = constant.value if constant is not None else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(start, end, -value)
        return tree.Minus(start, end, self.translate(node.operand))

    def _comparison(self, start: int, end: int, node: ast.Compare) -> tree.Node:
        operands = self._all([node.left, *node.comparators])
        operators = [_COMPARISONS.get(type(operator)) for operator in node.ops]
        if None in operators:
            message = "`is` is not part of the expression language"
            return self._broken(start, end, message, "compare with == or !=", operands)
        return tree.Comparison(start, end, operands, tuple(operator for operator in operators if operator))

    def _call(self, start: int, end: int, node: ast.Call) -> tree.Node:
        for keyword in node.keywords:
            place = self.source.span(keyword)
            what = f"{keyword.arg}=" if keyword.arg else "**"
            self._broken(*place, f"arguments go by position, without `{what}`")
        arguments = self._all(node.args)
        if not isinstance(node.func, ast.Name):
            dotted = _dotted(node.func)
            what = f"`{shorten(dotted)}`" if dotted else "this"
            return self._broken(start, end, f"{what} cannot be called", "functions have plain names", arguments)
        if node.keywords:
            return tree.Broken(start, end, arguments)
        if node.func.id != KNOWN:
            return tree.Call(start, end, node.func.id, arguments)
        if len(arguments) == 1 and isinstance(arguments[0], tree.Name):
            return tree.Known(start, end, arguments[0])
        return self._broken(start, end, "known() takes one declared name", parts=arguments)


def no_truth_literal(word: str) -> tuple[str, str]:
    """Return message and hint for a truth value written down."""
    return f"{word} cannot be written as a value", "write the condition itself, or `not` before it"
