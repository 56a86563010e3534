"""Rules that are asked of a deployment as a whole, or of one thing after the other."""

from __future__ import annotations

import pytest

from specrules.decide import compile_rules
from specrules.decide.items import judge
from specrules.errors import LoadError
from specrules.expressions import Type
from specrules.model.deployment import Place
from specrules.model.item import Item

from .shipped import locator, rule, rule_file

SYMBOLS = {"rate": Type.NUMBER, "claim.holds": Type.BOOL, "claim.kind": Type.STRING, "setting.name": Type.STRING}
WHOLE = Place(path="f", line=1)
EACH = {
    "each": "claims",
    "clean": "Nothing holds.",
    "applies": 'claim.kind == "start"',
    "require": "not claim.holds",
    "message": "{{ claim.kind }} {{ claim.holds }}",
    "fix": "Change it.",
}


def compiled(**fields):
    (one,) = compile_rules([(rule_file(rule(**fields)), locator("f"))], SYMBOLS)
    return one


def item(key, line, kind="start", *, holds, **fields):
    return Item({"claim.kind": kind, "claim.holds": holds}, key, Place(path="f", line=line), **fields)


def asked(items, values=None, places=None, **fields):
    return judge(compiled(**{**EACH, **fields}), values or {}, items, places or {}, WHOLE)


def test_a_rule_of_the_whole_stands_where_the_first_input_of_its_condition_was_set():
    one = compiled(require="rate > 1", message="{{ rate }}")
    (found,) = judge(one, {"rate": 0.5}, (), {"rate": Place(path="f", line=7)}, WHOLE)
    assert (found.outcome, found.message, found.place.line, found.key, found.observed) == (
        "fail",
        "0.5",
        7,
        "",
        "0.5 > 1",
    )
    (elsewhere,) = judge(one, {"rate": 2}, (), {}, WHOLE)
    assert (elsewhere.outcome, elsewhere.place, elsewhere.fix) == ("pass", WHOLE, "")


def test_every_item_that_fails_is_told_at_its_own_place():
    items = (item("a", 3, holds=True), item("b", 4, holds=False), item("c", 5, holds=True, fix="Drop c."))
    found = asked(items)
    assert [(one.outcome, one.key, one.place.line, one.fix) for one in found] == [
        ("fail", "a", 3, "Change it."),
        ("fail", "c", 5, "Drop c."),
    ]


def test_items_that_cannot_be_judged_are_told_together_with_what_would_settle_them():
    unknown = [item(key, line, holds=None, missing=frozenset({f"--{key}"})) for key, line in (("a", 3), ("b", 4))]
    (found,) = asked((*unknown, item("c", 5, holds=False)))
    assert (found.outcome, found.key, found.place.line) == ("unknown", "", 3)
    assert found.missing == ("--a", "--b")
    (alone,) = asked(unknown[:1])
    assert (alone.key, alone.missing) == ("a", ("--a",))


def test_many_unknown_items_are_counted():
    unknown = tuple(Item({"claim.kind": "start", "claim.holds": None}, str(at), WHOLE) for at in range(5))
    (found,) = judge(compiled(**{**EACH, "message": "{{ rate }} {{ claim.kind }}"}), {}, unknown, {}, WHOLE)
    assert found.message == "? start"
    texts = tuple(item(str(at), 1, holds=None) for at in range(5))
    named = [Item({**one.values, "setting.name": one.key}, one.key, WHOLE) for one in texts]
    symbols = {**SYMBOLS, "claim.id": Type.STRING}
    fields = {**EACH, "message": "{{ claim.id }}"}
    (ruled,) = compile_rules([(rule_file(rule(**fields)), locator("f"))], symbols)
    (told,) = judge(ruled, {}, [Item({**one.values, "claim.id": one.key}, one.key, WHOLE) for one in named], {}, WHOLE)
    assert told.message == "0; 1; 2; and 2 more"


def test_where_nothing_is_found_the_rule_says_once_what_it_checked():
    (found,) = asked((item("a", 3, holds=False), item("b", 4, "other", holds=True)))
    assert (found.outcome, found.message, found.observed) == ("pass", "Nothing holds.", "holds for 1 of 2")
    assert (found.place, found.fix, found.key) == (WHOLE, "", "")


@pytest.mark.parametrize("items", [(), (item("a", 3, "other", holds=True),)])
def test_a_rule_that_checked_nothing_does_not_pass(items):
    (found,) = asked(items)
    assert (found.outcome, found.observed) == ("not-applicable", "")


def test_the_condition_of_an_item_is_shown_behind_the_rules():
    conditions = {"claim.holds": ("given.draft", "true"), "claim.other": ("x", "y")}
    (found,) = asked((item("a", 3, holds=True, conditions=conditions),))
    assert found.expression == "not claim.holds where claim.holds = given.draft"
    assert found.observed == "not true where claim.holds = true"


def test_an_unknown_may_weigh_less_than_a_failure():
    light = {"severity": "block", "unknown": "info"}
    (unknown,) = asked((item("a", 3, holds=None),), **light)
    (failed,) = asked((item("a", 3, holds=True),), **light)
    assert (unknown.severity, failed.severity) == ("info", "block")


def test_the_same_key_twice_is_told_apart_and_the_same_thing_once():
    again = (item("a", 3, holds=True), item("a", 4, holds=True), item("a", 4, holds=True))
    assert [(one.key, one.place.line) for one in asked(again)] == [("a", 3), ("a#2", 4)]


def test_a_value_of_the_wrong_type_is_an_error_and_never_passes():
    (found,) = asked((item("a", 3, holds="yes"),))
    assert (found.outcome, found.severity) == ("error", "block")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"require": "claim.holds"}, "unknown name 'claim.holds'"),
        ({**EACH, "each": "settings"}, "unknown name 'claim.kind'"),
        ({**EACH, "clean": ""}, "a rule with `each` needs `clean`: what was checked, said where nothing was found"),
        ({"clean": "Nothing."}, "`clean` belongs to rules with `each`"),
    ],
)
def test_what_is_refused_at_load(fields, problem):
    with pytest.raises(LoadError) as caught:
        compiled(**fields)
    assert caught.value.problems[0].message == problem
