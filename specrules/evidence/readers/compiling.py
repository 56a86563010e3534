"""The readers of a program made ready: patterns and expressions compiled, names checked against each other."""

from __future__ import annotations

from collections.abc import Iterable

from specrules.errors import CatalogError, ExpressionError, Problem, did_you_mean
from specrules.evidence.readers.compiled import (
    CompiledCheck,
    CompiledField,
    CompiledPattern,
    CompiledReader,
    CompiledRule,
    LineMatcher,
)
from specrules.evidence.readers.patterns import Pattern, PatternError, PatternSet, Prefixes, literal, loosened
from specrules.expressions import Expression, Type, compile_expression
from specrules.expressions.reader_functions import READER_FUNCTIONS
from specrules.model.fact import FactValue
from specrules.model.program import Program
from specrules.model.reader import LogPattern, Reader, ReaderField
from specrules.model.version import in_range

_TYPES = {"number": Type.NUMBER, "text": Type.STRING, "numbers": Type.NUMBERS, "flag": Type.BOOL}
_COMBINES = {
    "number": ("sum", "last", "first", "max", "min", "mean"),
    "text": ("last", "first", "join"),
    "numbers": ("sum", "last", "first", "mean", "list"),
    "flag": ("any", "last", "first"),
}
_DEFAULTS: dict[str, type] = {"number": float, "text": str, "flag": bool}


_MAX_REMEMBERED = 64
_remembered: dict[tuple[int, str | None], tuple[Program, list[CompiledReader]]] = {}


def compile_readers(engine: Program, version: str | None = None) -> list[CompiledReader]:
    """Return the readers of a program, without readers and patterns that are known not to hold for `version`.

    Raises CatalogError with everything that is wrong in its readers.
    """
    # Programs never change but cannot be hashed, so they are known by identity.
    key = (id(engine), version)
    known = _remembered.get(key)
    if known is None or known[0] is not engine:
        known = (engine, _compile_readers(engine, version))
        if len(_remembered) >= _MAX_REMEMBERED:
            _remembered.clear()
        _remembered[key] = known
    return known[1]


def _compile_readers(engine: Program, version: str | None) -> list[CompiledReader]:
    readers: list[CompiledReader] = []
    problems: list[Problem] = []
    for spec in engine.readers:
        if _holds(engine, version, spec.since, spec.until):
            try:
                readers.append(compile_reader(engine, spec, version))
            except CatalogError as error:
                problems.extend(error.problems)
    if problems:
        raise CatalogError(problems)
    return readers


def compile_reader(engine: Program, spec: Reader, version: str | None = None) -> CompiledReader:
    """Return one reader. Raises CatalogError with everything that is wrong in it."""
    compiler = _Compiler(engine, spec)
    fields = {name: compiler.field(name, field) for name, field in spec.fields.items()}
    wanted = [item for item in spec.patterns if _holds(engine, version, item.since, item.until)]
    patterns = compiler.log_patterns(wanted)
    rules = compiler.rules()
    checks = compiler.checks()
    only = compiler.expression("only", spec.only, Type.BOOL)
    compiler.split()
    compiler.load()
    compiler.sources()
    lines = compiler.matcher(patterns) if spec.kind == "log" and not compiler.problems else None
    if compiler.problems:
        raise CatalogError(compiler.problems)
    present = {name: field for name, field in fields.items() if field is not None}
    derived = tuple(field for field in present.values() if field.value is not None)
    inputs = [field.value.names for field in derived if field.value is not None]
    involved = frozenset().union(*inputs) if all(inputs) else frozenset(present)
    plain = {name for name, field in present.items() if field.weight is None} - involved
    sampled: dict[str, tuple[CompiledRule, ...]] = {}
    for rule in rules:
        if rule.spec.sampled:
            sampled[rule.spec.fact] = (*sampled.get(rule.spec.fact, ()), rule)
    return CompiledReader(
        engine=engine,
        spec=spec,
        fields=present,
        patterns=patterns,
        rules=rules,
        checks=checks,
        lines=lines,
        derived=derived,
        absent={name: value for name, field in present.items() if (value := _absent(field.spec)) is not None},
        plain=frozenset(plain),
        sampled=sampled,
        only=only,
    )


def _absent(spec: ReaderField) -> FactValue | None:
    """Return what the absence of a field means; None for unknown."""
    if spec.default is not None:
        return spec.default
    return False if spec.type == "flag" and spec.combine == "any" else None


def _holds(engine: Program, version: str | None, since: str | None, until: str | None) -> bool:
    try:
        return in_range(version, since, until, engine.version.scheme) is not False
    except ValueError:
        return True


class _Compiler:
    """Compiles the parts of one reader and collects what is wrong with them."""

    def __init__(self, engine: Program, spec: Reader) -> None:
        self.spec = spec
        self.place = f"engine {engine.id!r}, reader {spec.id!r}"
        self.problems: list[Problem] = []
        self.symbols = {name: _TYPES[field.type] for name, field in spec.fields.items()}

    def report(self, part: str, message: str, hint: str = "") -> None:
        """Record a problem of one part of the reader."""
        self.problems.append(Problem(f"{self.place}, {part}: {message}", hint=hint))

    def expression(
        self, part: str, text: str | None, expect: Type | None = None, known: Iterable[str] | None = None
    ) -> Expression | None:
        """Compile an expression over the fields, or over those in `known`."""
        if text is None:
            return None
        symbols = self.symbols if known is None else {name: self.symbols[name] for name in known}
        try:
            return compile_expression(text, symbols, expect=expect, functions=READER_FUNCTIONS)
        except ExpressionError as error:
            for item in error.problems:
                self.report(part, f"{item.message} in `{text}`", item.hint)
            return None

    def pattern(self, part: str, text: str) -> Pattern | None:
        """Compile a regular expression."""
        try:
            return Pattern(text)
        except PatternError as error:
            self.report(part, f"{error} in {text!r}")
            return None

    def field(self, name: str, field: ReaderField) -> CompiledField | None:
        """Compile a field and check how it combines."""
        part = f"field {name!r}"
        if field.combine not in _COMBINES[field.type]:
            self.report(part, f"a field of type {field.type} combines by {', '.join(_COMBINES[field.type])}")
        if field.default is not None and type(field.default) is not _DEFAULTS.get(field.type):
            self.report(part, f"the default {field.default!r} is no {field.type}")
        if field.weight is not None and field.combine != "mean":
            self.report(part, "only a mean has a weight")
        if field.when is not None and field.value is None:
            self.report(part, "`when` goes with `value`")
        names = list(self.symbols)
        before = names[: names.index(name)]
        others = [other for other in names if other != name]
        return CompiledField(
            name=name,
            spec=field,
            value=self.expression(part, field.value, _entry(field), before),
            when=self.expression(part, field.when, Type.BOOL, before),
            weight=self.expression(part, field.weight, Type.NUMBER, others),
            match=None if field.match is None else self.pattern(part, field.match),
        )

    def log_patterns(self, wanted: Iterable[LogPattern]) -> tuple[CompiledPattern, ...]:
        """Compile the line shapes and check their groups against the fields."""
        compiled = []
        for spec in wanted:
            part = f"pattern {spec.id!r}"
            pattern = self.pattern(part, spec.pattern)
            if pattern is None:
                continue
            for group in (*pattern.groups, *spec.sets):
                if group not in self.symbols and group not in spec.key:
                    self.report(part, f"{group!r} is no field of the reader", did_you_mean(group, self.symbols))
            for group in spec.key:
                if group not in pattern.groups:
                    self.report(part, f"the key {group!r} is no group of the pattern")
            kept = tuple(group for group in pattern.groups if group in self.symbols)
            compiled.append(CompiledPattern(spec, pattern, kept))
        return tuple(compiled)

    def rules(self) -> tuple[CompiledRule, ...]:
        """Compile the fact rules."""
        compiled = []
        for spec in self.spec.facts:
            part = f"fact {spec.fact!r}"
            value = self.expression(part, spec.value)
            when = self.expression(part, spec.when, Type.BOOL)
            low = self.expression(part, spec.low, Type.NUMBER)
            high = self.expression(part, spec.high, Type.NUMBER)
            samples = self.expression(part, spec.samples, Type.NUMBERS)
            if (spec.low is None) is not (spec.high is None):
                self.report(part, "an interval has both `low` and `high`")
            if value is not None:
                compiled.append(CompiledRule(spec, value, when, low, high, samples))
        return tuple(compiled)

    def load(self) -> None:
        """Record a count of sequences that is no metric of this reader."""
        name = self.spec.load
        if name is not None and (name not in self.spec.fields or self.spec.fields[name].metric is None):
            self.report("load", f"{name!r} is no metric of the reader", did_you_mean(name, self.symbols))

    def split(self) -> None:
        """Record fields that cannot tell runs apart: they are not declared, or no single numbers or texts."""
        for name in self.spec.split:
            field = self.spec.fields.get(name)
            if field is None:
                self.report("split", f"{name!r} is no field of the reader", did_you_mean(name, self.symbols))
            elif field.type == "numbers":
                self.report("split", f"{name!r} is a list and tells no runs apart")

    def checks(self) -> tuple[CompiledCheck, ...]:
        """Compile the consistency checks."""
        compiled = []
        for spec in self.spec.checks:
            require = self.expression(f"check {spec.id!r}", spec.require, Type.BOOL)
            if require is not None:
                compiled.append(CompiledCheck(spec, require))
        return tuple(compiled)

    def sources(self) -> None:
        """Record fields that nothing can ever fill."""
        given = {name for item in self.spec.patterns for name in (*_groups(item.pattern), *item.sets)}
        for name, field in self.spec.fields.items():
            has_source = {
                "log": name in given,
                "prometheus": field.metric is not None,
                "json": field.path is not None,
                "table": field.column is not None,
            }[self.spec.kind]
            if not has_source and field.value is None:
                what = {
                    "log": "no pattern gives it",
                    "prometheus": "it names no metric",
                    "json": "it names no path",
                    "table": "it names no column",
                }
                self.report(f"field {name!r}", what[self.spec.kind])

    def matcher(self, patterns: tuple[CompiledPattern, ...]) -> LineMatcher | None:
        """Compile what is looked for in lines."""
        strips = [strip for text in self.spec.strip if (strip := self.pattern("strip", text)) is not None]
        first = tuple(strip for strip in strips if not strip.text.startswith("^"))
        prefixes = tuple(strip for strip in strips if strip.text.startswith("^"))
        suspects = [literal(text) for text in self.spec.suspects]
        shapes = [item.pattern.text for item in patterns]
        for item in patterns:
            self.pattern(f"pattern {item.spec.id!r}", loosened(item.pattern.text))
        if self.problems:
            return None
        return LineMatcher(
            first=first,
            first_set=PatternSet(strip.text for strip in first),
            prefixes=Prefixes(prefixes),
            shapes=PatternSet([*shapes, *suspects]),
            # A removal may bring together what belongs to a pattern, so a line with one always matters.
            screen=(*shapes, *suspects, *(strip.text for strip in first)),
        )


def _entry(field: ReaderField) -> Type:
    """Return the type of one occurrence of a field: a list is made of single numbers."""
    return Type.NUMBER if field.combine == "list" else _TYPES[field.type]


def _groups(pattern: str) -> tuple[str, ...]:
    try:
        return Pattern(pattern).groups
    except PatternError:
        return ()
