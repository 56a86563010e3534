from __future__ import annotations

import subprocess
import sys

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.exceptions import SecurityError

from specrules.templating import environment, num, percent, plural


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "?"),
        (0, "0"),
        (-0.0, "0"),
        (25, "25"),
        (25.0, "25"),
        (0.748569, "0.7486"),
        (-0.5, "-0.5"),
        (66.79641, "66.8"),
        (999.96, "1000"),
        (1234.5678, "1235"),
        (151936, "151936"),
        (9_999_999, "9999999"),
        (10_000_000, "1e7"),
        (12_345_678, "1.235e7"),
        (0.0001, "0.0001"),
        (0.00012347, "0.0001235"),
        (0.00009, "9e-5"),
        (-0.0000123456, "-1.235e-5"),
        (0.1 + 0.2, "0.3"),
    ],
)
def test_numbers(value, text):
    assert num(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (25, "tok/s", "25 tok/s"),
        (None, "ms", "? ms"),
        (1, "tokens", "1 token"),
        (2, "tokens", "2 tokens"),
        (1.0, "days", "1 day"),
        (1, "ms", "1 ms"),
        (0, "rows", "0 rows"),
    ],
)
def test_numbers_with_units(value, unit, text):
    assert num(value, unit) == text


@given(st.floats(min_value=-1e12, max_value=1e12))
def test_numbers_stay_close_and_plain(value):
    text = num(value)
    assert float(text) == pytest.approx(value, rel=6e-4)
    assert not (text.startswith("-") and float(text) == 0)
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        assert "e" not in text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (None, "? %"),
        (0.05, "5 %"),
        (0.7754, "77.5 %"),
        (1, "100 %"),
        (0, "0 %"),
        (0.00041, "0.041 %"),
        (12.5, "1250 %"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text


def test_plural():
    assert [plural(count, "line") for count in (0, 1, 3, None)] == ["0 lines", "1 line", "3 lines", "? lines"]
    assert plural(2, "entry", "entries") == "2 entries"


def render(text, **names):
    return environment().from_string(text).render(names)


def test_filters_and_blocks():
    text = "{% if x is known %}\n  {{ x | num('ms') }}\n  {% endif %}\n{{ y | percent }} {{ z | plural('row') }}"
    assert render(text, x=1.5, y=0.5, z=1) == "  1.5 ms\n50 % 1 row"
    assert render("{{ x is known }}", x=None) == "False"


def test_undefined_names_are_errors():
    with pytest.raises(jinja2.UndefinedError):
        render("{{ nope }}")


@pytest.mark.parametrize("text", ["{{ x.append(1) }}", "{{ x.__class__.__mro__ }}", "{{ ''.__class__ }}"])
def test_templates_neither_change_nor_reach_out(text):
    with pytest.raises(SecurityError):
        render(text, x=[])


def test_finalize_and_escaping():
    made = environment(jinja2.DictLoader({"t": "{{ x }}"}), lambda value: "-" if value is None else value)
    assert made.get_template("t").render(x=None) == "-"
    assert made.get_template("t").render(x="<b>") == "<b>"
    assert environment(autoescape=True).from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"


def test_importing_does_not_load_jinja():
    code = "import sys, specrules.templating, specrules.decide; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
