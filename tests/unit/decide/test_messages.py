from __future__ import annotations

import pytest

from specrules.decide.messages import LazyMessage, compile_message
from specrules.expressions import Unknown

NAMES = frozenset({"rate", "engine.id", "engine.methods", "drafter.fits", "a.b.c"})


def render(text, outcome="pass", **values):
    message, problems = compile_message(text, NAMES)
    assert problems == []
    return message.render({name.replace("__", "."): value for name, value in values.items()}, outcome)


def refused(text):
    message, problems = compile_message(text, NAMES)
    assert message is None
    (problem,) = problems
    return problem


def test_values_look_alike_without_a_filter():
    assert render("{{ rate }} {{ drafter.fits }}", rate=25.0, drafter__fits=True) == "25 true"
    assert render("{{ engine.methods }}", engine__methods=("x", "y")) == "x, y"
    assert render("{{ engine.methods }}", engine__methods=["x", None]) == "x, ?"
    assert render("{{ a.b.c | percent }}", a__b__c=0.413) == "41.3 %"


def test_unknown_is_a_question_mark():
    assert render('{{ rate }} {{ rate | num("ms") }} {{ engine.id }}', rate=Unknown(frozenset({"x"}))) == "? ? ms ?"


def test_known_and_outcome_choose_the_words():
    text = '{% if outcome == "fail" %}bad{% elif rate is known %}{{ rate }}{% else %}none{% endif %}'
    assert render(text, "fail", rate=1) == "bad"
    assert render(text, "pass", rate=2) == "2"
    assert render(text, "unknown") == "none"


def test_a_message_is_one_line():
    assert render("  a\n\n b {{ engine.id }}\n", engine__id="x\r\n y\tz") == "a b x y z"


def test_names_are_attributes_even_where_a_mapping_has_methods():
    message, _ = compile_message("{{ engine.items }} {{ engine.keys }}", frozenset({"engine.items", "engine.keys"}))
    assert message.render({"engine.items": 3.0}, "pass") == "3 ?"
    assert message.names == {"engine.items", "engine.keys"}


def test_values_are_not_templates():
    assert render("{{ engine.id }}", engine__id="{{ rate }}") == "{{ rate }}"


@pytest.mark.parametrize(
    ("text", "message", "column", "hint"),
    [
        ("Is {{ rat }}", "unknown name 'rat' in the message", 7, "did you mean 'rate'?"),
        ("{{ engine.idd }}", "unknown name 'engine.idd' in the message", 4, "did you mean 'engine.id'?"),
        ("{{ a.b }}", "unknown name 'a.b' in the message", 4, "did you mean 'a.b.c'?"),
        ("{{ rate.x }}", "unknown name 'rate.x' in the message", 4, "did you mean 'rate'?"),
        ("{{ rate | nun }}", "unknown filter 'nun' in the message", 11, "did you mean 'num'?"),
        ("{{ rate | replace }}", "unknown filter 'replace' in the message", 11, "there are num, percent, plural, join"),
        ("{% if rate is odd %}{% endif %}", "unknown test 'odd' in the message", 15, "there are known"),
        ("{{ 2 * rate }}", "a message does no arithmetic", 1, "give the result a name under `let`"),
        ("{{ engine.id[0] }}", "a message has names, filters and `if`, and no getitem", 1, ""),
        ("{{ engine.id() }}", "a message has names, filters and `if`, and no call", 1, ""),
        ("{% for x in engine.methods %}{% endfor %}", "a message has names, filters and `if`, and no for", 1, ""),
        ("{% set x = rate %}", "a message has names, filters and `if`, and no assign", 1, ""),
        ("{% include 'x' %}", "a message has names, filters and `if`, and no include", 1, ""),
        ("{{ 'x'.y }}", "a field can only be read from a declared name", 1, ""),
        ("{{ lipsum }}", "unknown name 'lipsum' in the message", 4, ""),
    ],
)
def test_everything_else_is_refused(text, message, column, hint):
    problem = refused(text)
    assert (problem.message, problem.where.column, problem.hint) == (message, column, hint)


def test_places_count_lines():
    where = refused("first\n  {{ nope }}").where
    assert (where.line, where.column) == (2, 6)


def test_a_template_that_does_not_parse():
    assert refused("{{ rate").message.startswith("the message does not parse: ")


def test_a_message_must_render_while_everything_is_unknown():
    problem = refused("{% if rate > 3 %}much{% endif %}")
    assert problem.message.startswith("the message cannot be rendered while its inputs are unknown: ")
    assert problem.hint == "put `{% if NAME is known %}` around it"
    assert refused('{% if outcome == "fail" %}{{ engine.methods | join }}{% endif %}').hint == problem.hint
    assert render("{% if rate is known and rate > 3 %}much{% endif %}", rate=4) == "much"


def test_a_lazy_message_is_compiled_when_it_is_rendered() -> None:
    lazy = LazyMessage("{{ rate }} of {{ limit }}", frozenset({"rate", "limit"}))
    assert lazy.render({"rate": 2.0}, "pass") == "2 of ?"
    with pytest.raises(ValueError, match="unknown name 'rat' in the message"):
        LazyMessage("{{ rat }}", frozenset({"rate"})).render({}, "pass")
