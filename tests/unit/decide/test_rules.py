from __future__ import annotations

import pytest

from specrules.decide import compile_rules
from specrules.errors import LoadError

from .shipped import SYMBOLS, compiled, locator, rule, rule_file


def problems(*rules):
    with pytest.raises(LoadError) as caught:
        compiled(*rules)
    return caught.value.problems


def only(*rules):
    (problem,) = problems(*rules)
    return problem


def place(problem):
    return str(problem.where).removeprefix("f:rules.")


def test_expression_errors_are_placed_by_field_and_column():
    problem = only(rule(require="rate > 1 and drafter.fitz"))
    assert problem.message == "unknown name 'drafter.fitz'"
    assert problem.hint == "did you mean 'drafter.fits'?"
    assert place(problem) == "0.require:7:14"
    assert problem.excerpt == ""


def test_columns_count_over_line_ends():
    assert place(only(rule(require="(rate > 1\n  and nope)"))) == f"0.require:7:{len('(rate > 1 ') + 7}"


def test_all_problems_of_all_files_come_at_once():
    first = rule_file(rule(id="one", applies="rate", require="limit", message="{{ nope }}"))
    second = rule_file(rule(id="two", require="rate +"), part="b")
    with pytest.raises(LoadError) as caught:
        compile_rules([(first, locator("f")), (second, locator("g"))], SYMBOLS)
    assert [str(one.where) for one in caught.value.problems] == [
        "f:rules.0.applies:7:1",
        "f:rules.0.require:7:1",
        "f:rules.0.message:7:4",
        "g:rules.0.require:7:7",
    ]


def test_no_rules_at_all_is_an_error():
    with pytest.raises(LoadError, match="there are no rules"):
        compile_rules([], SYMBOLS)
    with pytest.raises(LoadError, match="there are no rules"):
        compile_rules([(rule_file(), locator("f"))], SYMBOLS)


def test_ids_are_unique_over_files():
    with pytest.raises(LoadError) as caught:
        compile_rules([(rule_file(rule()), locator("f")), (rule_file(rule(), part="b"), locator("g"))], SYMBOLS)
    (problem,) = caught.value.problems
    assert problem.message == "the rule id 'r' is used twice"
    assert str(problem.where) == "g:rules.0.id:7"
    assert problem.hint == "first at f:rules.0.id:7"


def test_let_reads_the_names_before_it():
    assert len(compiled(rule(let={"twice": "2 * rate", "more": "twice + limit"}, require="more > twice"))) == 1


@pytest.mark.parametrize("text", ["2 * later", "2 * self_"])
def test_let_reads_neither_later_names_nor_itself(text):
    problem = only(rule(let={"self_": text, "later": "rate"}, require="self_ > later"))
    assert problem.message == f"unknown name {text.removeprefix('2 * ')!r}"
    assert problem.hint == "a name under `let` may read the inputs and the names before it"
    assert place(problem) == "0.let.self_:7:5"


def test_what_reads_a_broken_let_is_not_reported_again():
    problem = only(rule(let={"x": "nope", "y": "x + 1"}, require="y > x", message="{{ x }} {{ y }}"))
    assert problem.message == "unknown name 'nope'"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("rate", "it would hide inputs"),
        ("engine", "it would hide inputs"),
        ("policy", "it would hide inputs"),
        ("min", "it is a word of the expression language"),
        ("known", "it is a word of the expression language"),
        ("and", "it is a word of the expression language"),
        ("outcome", "messages read the outcome of the rule by it"),
        ("a.b", "it has to be one word of lower-case letters, digits and underscores"),
        ("Big", "it has to be one word of lower-case letters, digits and underscores"),
    ],
)
def test_let_hides_nothing(name, reason):
    problem = only(rule(let={name: "1 + 1"}))
    assert problem.message == f"{name!r} cannot be a name under `let`: {reason}"
    assert place(problem) == f"0.let.{name}:7"


def test_known_is_for_rules_that_do_not_block():
    assert len(
        compiled(rule(severity="warn", applies="known(rate)"), rule(id="s", severity="info", require="known(rate)"))
    )
    for field in (
        {"require": "known(rate)"},
        {"applies": "known(rate)"},
        {"let": {"x": "known(rate)"}, "require": "x"},
    ):
        assert "known() is not allowed here" in only(rule(**field)).message


def test_rules_are_ordered_by_part_and_then_as_written():
    files = [
        (rule_file(rule(id="e1"), rule(id="e2"), part="e"), locator("f")),
        (rule_file(rule(id="a1")), locator("g")),
    ]
    rules = compile_rules(files, SYMBOLS)
    assert rules.ids == ("a1", "e1", "e2")
    assert [one.part for one in rules] == ["a", "e", "e"]
    assert rules.get("e2").where == locator("f")(("rules", 1, "id"), 0)
    assert rules.get("nope") is None
