from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, Field, HttpUrl, RootModel, model_validator

from specrules.catalog.located import load_document
from specrules.catalog.validate import check, validate
from specrules.errors import LoadError
from specrules.model.base import Day, Many, Model
from specrules.model.case import Case


class Quantity(Model):
    value: float
    unit: str = ""


class Ratio(Model):
    kind: Literal["ratio"]
    ratio: float
    depth: int = Field(alias="K")


class Counts(Model):
    kind: Literal["counts"]
    counts: dict[str, int]


class Rule(Model):
    id: str = Field(min_length=1, max_length=8, pattern="^[a-z]+$")
    require: str
    severity: Literal["block", "warn"] = "block"
    limit: float | Quantity | None = None
    acceptance: Annotated[Ratio | Counts, Field(discriminator="kind")] | None = None
    refs: Many[HttpUrl] = Field((), max_length=2)
    on: bool = False
    count: Annotated[int, Field(gt=0, le=9)] = 1
    since: Day | None = None
    depth: Literal["auto"] | int = "auto"
    by_width: dict[int, float] = Field(default_factory=dict)
    shape: dict[str, float | tuple[float, ...]] = Field(default_factory=dict)
    anything: Any = None

    @model_validator(mode="after")
    def _named(self) -> Rule:
        if self.id == "bad":
            raise ValueError("no rule may be called bad")
        return self


class RuleFile(Model):
    schema_version: Literal[1] = Field(alias="schema")
    rules: Many[Rule]


def found(rule: str) -> list[str]:
    """Problems of a one-rule file as `line:column message (hint)`. The rule's own text begins at line 3."""
    text = f"schema: 1\nrules:\n- {{id: a, require: x, {rule}}}\n"
    _, problems = check(load_document(text, "r.yaml"), RuleFile)
    return [problem.render().splitlines()[0].removeprefix("r.yaml:") for problem in problems]


START = 3 + len("{id: a, require: x, ")


def column(offset: int) -> str:
    """The place `offset` characters into what was given to `found`."""
    return f"3:{START + offset}"


def test_a_fitting_document_gives_the_model() -> None:
    text = "schema: 1\nrules: [{id: a, require: x, limit: 3, since: 2026-08-01, by_width: {'2': 1}, refs: ['http://a.b/']}]"
    rule = validate(load_document(text, "r.yaml"), RuleFile).rules[0]
    assert (rule.limit, rule.since, rule.by_width) == (3.0, dt.date(2026, 8, 1), {2: 1.0})
    assert isinstance(rule.refs, tuple)


def test_unknown_and_missing_keys_with_line_and_caret() -> None:
    text = "schema: 1\nrules:\n  - id: a\n    requires: x\n  -\n    require: y\nrule: []\n"
    with pytest.raises(LoadError) as raised:
        validate(load_document(text, "rules/vram.yaml"), RuleFile)
    assert str(raised.value) == (
        "rules/vram.yaml:3:5: missing key 'rules[0].require'\n"
        "      - id: a\n"
        "        ^\n"
        "rules/vram.yaml:4:5: unknown key 'rules[0].requires' (did you mean 'require'?)\n"
        "        requires: x\n"
        "        ^\n"
        "rules/vram.yaml:6:5: missing key 'rules[1].id'\n"
        "        require: y\n"
        "        ^\n"
        "rules/vram.yaml:7:1: unknown key 'rule' (did you mean 'rules'?)\n"
        "    rule: []\n"
        "    ^"
    )


@pytest.mark.parametrize(
    ("rule", "offset", "message"),
    [
        ("count: abc", 7, "'rules[0].count' must be a whole number, not 'abc'"),
        ("count: 012", 7, "'rules[0].count' must be a whole number, not '012' (write 12)"),
        ("count: 1_000", 7, "'rules[0].count' must be a whole number, not '1_000' (write 1000)"),
        ("count: 1e3", 7, "'rules[0].count' must be a whole number, not '1e3' (write 1000)"),
        ("count: '5'", 7, "'rules[0].count' must be a whole number, not '5' (leave out the quotes)"),
        ("count: 1.50", 7, "'rules[0].count' must be a whole number, not 1.50"),
        ("count: true", 7, "'rules[0].count' must be a whole number, not true"),
        ("count: ~", 7, "'rules[0].count' must be a whole number, but it is empty"),
        ("count: 0", 7, "'rules[0].count' must be greater than 0, not 0"),
        ("count: 10", 7, "'rules[0].count' must be at most 9, not 10"),
        ("limit: 1e3", 7, "'rules[0].limit' must be a number or a mapping, not '1e3' (write 1.0e3)"),
        ("limit: .nan", 7, "'rules[0].limit' must be a number or a mapping, not '.nan'"),
        ("limit: [1]", 7, "'rules[0].limit' must be a number or a mapping, not a list"),
        ("limit: {value: 1:30}", 15, "'rules[0].limit.value' must be a number, not '1:30'"),
        ("limit: {value: -1e-3}", 15, "'rules[0].limit.value' must be a number, not '-1e-3' (write -1.0e-3)"),
        ("limit: {unit: ms}", 7, "missing key 'rules[0].limit.value'"),
        ("limit: {value: 1, units: ms}", 18, "unknown key 'rules[0].limit.units' (did you mean 'unit'?)"),
        (
            "limit: {value: 1, unit: 1.10}",
            24,
            "'rules[0].limit.unit' must be text, not 1.10 (put it in quotes: \"1.10\")",
        ),
        ("on: no", 4, "'rules[0].on' must be true or false, not 'no' (write false)"),
        ("on: True", 4, "'rules[0].on' must be true or false, not 'True' (write true)"),
        ("on: 1", 4, "'rules[0].on' must be true or false, not 1"),
        (
            "severity: blok",
            10,
            "'rules[0].severity' must be one of 'block' or 'warn', not 'blok' (did you mean 'block'?)",
        ),
        ("depth: aut", 7, "'rules[0].depth' must be 'auto' or a whole number, not 'aut' (did you mean 'auto'?)"),
        ("since: 2026-13-01", 7, "'rules[0].since' must be a date such as 2026-08-01, not '2026-13-01'"),
        ("refs: x", 6, "'rules[0].refs' must be a list, not 'x'"),
        ("refs: ['http://a', b]", 19, "'rules[0].refs[1]' must be a URL, not 'b'"),
        ("by_width: {'2': 1, x: 2}", 19, "key 'rules[0].by_width.x' must be a whole number, not 'x'"),
        ("by_width: {'2': x}", 16, "'rules[0].by_width.2' must be a number, not 'x'"),
        ("shape: {a: [1, b]}", 15, "'rules[0].shape.a[1]' must be a number, not 'b'"),
        ("shape: {a: b}", 11, "'rules[0].shape.a' must be a number or a list, not 'b'"),
        ("acceptance: 3", 12, "'rules[0].acceptance' must be a mapping, not 3"),
        ("acceptance: {ratio: 1}", 12, "missing key 'rules[0].acceptance.kind'"),
        (
            "acceptance: {kind: rati}",
            19,
            "'rules[0].acceptance.kind' must be one of 'ratio', 'counts', not 'rati' (did you mean 'ratio'?)",
        ),
        ("acceptance: {kind: ratio, ratio: 1}", 12, "missing key 'rules[0].acceptance.K'"),
        ("acceptance: {kind: ratio, ratio: x, K: 1}", 33, "'rules[0].acceptance.ratio' must be a number, not 'x'"),
        (
            "acceptance: {kind: counts, counts: {a: 1.5}}",
            39,
            "'rules[0].acceptance.counts.a' must be a whole number, not 1.5",
        ),
        (
            "acceptance: {kind: counts, counts: {}, ratio: 1}",
            39,
            "unknown key 'rules[0].acceptance.ratio' (known here: counts, kind)",
        ),
    ],
)
def test_words_and_places(rule: str, offset: int, message: str) -> None:
    assert found(rule) == [f"{column(offset)}: {message}"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{id: '', require: x}", "3:8: 'rules[0].id' must not be empty"),
        ("{id: abcdefghi, require: x}", "3:8: 'rules[0].id' must have at most 8 characters"),
        ("{id: A, require: x}", "3:8: 'rules[0].id' must match ^[a-z]+$, not 'A'"),
        ("{id: bad, require: x}", "3:3: rules[0]: no rule may be called bad"),
        ("5", "3:3: 'rules[0]' must be a mapping, not 5"),
        (
            "{id: a, require: x, refs: ['http://a', 'http://b', 'http://c']}",
            "3:29: 'rules[0].refs' must have at most 2 entries, not 3",
        ),
    ],
)
def test_words_about_the_rule_as_a_whole(text: str, message: str) -> None:
    _, problems = check(load_document(f"schema: 1\nrules:\n- {text}\n", "r.yaml"), RuleFile)
    assert [problem.render().splitlines()[0] for problem in problems] == [f"r.yaml:{message}"]


def test_all_problems_in_order_of_place() -> None:
    assert [item.split(": ")[0] for item in found("on: 1, nope: 2, limit: {value: x}, count: 0")] == [
        column(4), column(7), column(31), column(42)
    ]  # fmt: skip


def test_problems_at_the_root() -> None:
    class Pair(Model):
        a: int = 0
        b: int = 0

        @model_validator(mode="after")
        def _ordered(self) -> Pair:
            if self.a > self.b:
                raise ValueError("a is above b")
            return self

    _, problems = check(load_document("# x\na: 2\nb: 1\n", "f"), Pair)
    assert [str(problem.where) + problem.message for problem in problems] == ["f:2:1a is above b"]


def test_names_come_through_root_models_aliases_and_base_classes() -> None:
    class Base(BaseModel):
        model_config = {"extra": "forbid"}
        inherited: int = 0

    class Leaf(Base):
        spelled: int = Field(0, validation_alias="as-written")

    class Leaves(RootModel[dict[str, list[Leaf]]]):
        pass

    class Top(Base):
        leaves: Leaves

    _, problems = check(load_document("leaves: {x: [{as_written: 1, inherit: 2}]}", "f"), Top)
    assert [problem.hint for problem in problems] == ["did you mean 'as-written'?", "did you mean 'inherited'?"]


def test_the_case_model_reads_naturally() -> None:
    text = """\
schema: 1
target: {name: x, step_ms: abc}
drafter:
  name: d
  clas: model
engine: 5
workload: {concurrency: 0}
measurements:
  verify_curve: [{width: 1, ms: 0}]
"""
    _, problems = check(load_document(text, "c.yaml"), Case)
    assert [problem.render().splitlines()[0] for problem in problems] == [
        "c.yaml:2:28: 'target.step_ms' must be a number or a mapping, not 'abc'",
        "c.yaml:4:3: missing key 'drafter.class'",
        "c.yaml:5:3: unknown key 'drafter.clas' (did you mean 'class'?)",
        "c.yaml:6:9: 'engine' must be text or a mapping, not 5",
        "c.yaml:7:25: 'workload.concurrency' must be at least 1, not 0",
        "c.yaml:9:33: measurements.verify_curve[0].ms: 0 is out of range: it must be above 0",
    ]


def test_two_missing_keys_of_one_mapping_are_both_reported() -> None:
    class Top(Model):
        inner: Rule

    _, problems = check(load_document("inner: {on: true}", "f"), Top)
    assert [problem.message for problem in problems] == ["missing key 'inner.id'", "missing key 'inner.require'"]


class Scale(Model):
    factor: float
    steps: Many[int | Literal["all"]] = ()


def test_of_a_union_only_the_branch_that_was_meant_is_reported() -> None:
    class Top(Model):
        limits: dict[str, float | Quantity | Scale | list[float | Quantity]]

    text = """\
limits:
  a: {value: 1, factr: 2}
  b: {factor: 1, steps: [1, alle], valu: 3}
  c: [1, {value: x}, {value: 2, units: ms}, nope]
  d: nope
"""
    _, problems = check(load_document(text, "f"), Top)
    assert [problem.render().splitlines()[0] for problem in problems] == [
        "f:2:17: unknown key 'limits.a.factr' (known here: unit, value)",
        "f:3:29: 'limits.b.steps[1]' must be a whole number or 'all', not 'alle' (did you mean 'all'?)",
        "f:3:36: unknown key 'limits.b.valu' (known here: factor, steps)",
        "f:4:18: 'limits.c[1].value' must be a number, not 'x'",
        "f:4:33: unknown key 'limits.c[2].units' (did you mean 'unit'?)",
        "f:4:45: 'limits.c[3]' must be a number or a mapping, not 'nope'",
        "f:5:6: 'limits.d' must be a number or a mapping or a list, not 'nope'",
    ]


def test_what_a_validator_accepts_before_it_converts_is_named() -> None:
    def split(data: Any) -> Any:
        return data.split() if isinstance(data, str) else data

    class Top(Model):
        words: Annotated[list[str], BeforeValidator(split, json_schema_input_type=str | list[str])]
        plain: Annotated[list[Quantity], BeforeValidator(split)] = Field(default_factory=list)

    assert validate(load_document("words: a b", "f"), Top).words == ["a", "b"]
    _, problems = check(load_document("words: 5\nplain: [{value: 1, unti: ms}]", "f"), Top)
    assert [problem.render().splitlines()[0] for problem in problems] == [
        "f:1:8: 'words' must be text or a list, not 5",
        "f:2:20: unknown key 'plain[0].unti' (did you mean 'unit'?)",
    ]


VALUES = st.sampled_from(
    ["1", "-1", "1.5", "x", "true", "", "[]", "[1, x]", "{}", "{value: x}", "{kind: ratio}", "'é'"]
)
KEYS = st.sampled_from([*Rule.model_fields, "nope", "kind", "value", "K"])


@given(st.dictionaries(KEYS, VALUES, max_size=5))
@settings(max_examples=200, deadline=None)
def test_every_problem_has_a_place_and_plain_words(rule: dict[str, str]) -> None:
    text = "schema: 1\nrules:\n- x: 1\n" + "".join(f"  {key}: {value}\n" for key, value in rule.items())
    document = load_document(text, "f.yaml")
    model, problems = check(document, RuleFile)
    assert model is None
    assert problems == sorted(problems, key=lambda problem: (problem.where, problem.message))
    for problem in problems:
        assert problem.where is not None
        assert 3 <= problem.where.line <= 3 + len(rule)
        assert problem.excerpt == document.source_line(problem.where.line)
        assert not any(
            jargon in problem.message for jargon in ("Input", "valid", "Extra", "Field", "_type", "permitted")
        )
