"""Functions that readers may call beside those of all expressions."""

from __future__ import annotations

import pytest

from specrules.expressions import Type, compile_expression, is_unknown
from specrules.expressions.reader_functions import READER_FUNCTIONS

SYMBOLS = {"v": Type.NUMBERS, "w": Type.NUMBERS, "n": Type.NUMBER}


def value(text, **given):
    return compile_expression(text, SYMBOLS, expect=None, functions=READER_FUNCTIONS).evaluate(given)


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("count(v)", {"v": (4.0, 4.0)}, 2),
        ("mean(v)", {"v": (1.0, 2.0, 6.0)}, 3),
        ("over(1000, v)", {"v": (4.0, 8.0)}, (250, 125)),
        ("distinct(v)", {"v": (8.0, 1.0, 8.0, 2.0)}, (1, 2, 8)),
        ("means_by(v, w)", {"v": (2.0, 1.0, 2.0), "w": (10.0, 7.0, 14.0)}, (7, 12)),
        ("lows_by(v, w)", {"v": (2.0, 1.0, 2.0), "w": (10.0, 7.0, 14.0)}, (7, 10)),
        ("highs_by(v, w)", {"v": (2.0, 1.0, 2.0), "w": (10.0, 7.0, 14.0)}, (7, 14)),
        ("histogram(v, 1)", {"v": (1.0, 3.0, 1.0)}, (2, 0, 1)),
        ("histogram(v, 0)", {"v": (0.0, 2.0)}, (1, 0, 1)),
        ("survivors(v)", {"v": (69.0, 44.0, 36.0, 78.0)}, (158 / 227, 114 / 227, 78 / 227)),
    ],
)
def test_what_they_give(text, given, wanted):
    assert value(text, **given) == pytest.approx(wanted)


def test_the_error_of_a_mean_is_students():
    # Five repeats of llama-bench: t(4) = 2.132 at 95 %, standard deviation 6.889 (recording llama.cpp-b11434-pair).
    repeats = (72.7884, 62.8912, 76.7126, 80.49, 77.954)
    assert value("mean_error(v)", v=repeats) == pytest.approx(2.132 * 6.889229 / 5**0.5, rel=1e-4)
    many = (1.0, 2.0) * 50
    assert value("mean_error(v)", v=many) == pytest.approx(1.645 * (100 / 99 / 4) ** 0.5 / 10, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("mean(v)", {"v": ()}),
        ("mean_error(v)", {"v": (3.0,)}),
        ("over(1000, v)", {"v": (4.0, 0.0)}),
        ("means_by(v, w)", {"v": (1.0,), "w": (1.0, 2.0)}),
        ("histogram(v, 1)", {"v": (0.0,)}),
        ("histogram(v, 0)", {"v": (1.5,)}),
        ("histogram(v, 0)", {"v": (1e9,)}),
        ("survivors(v)", {"v": (0.0, 0.0)}),
    ],
)
def test_what_has_no_answer_is_unknown(text, given):
    assert is_unknown(value(text, **given))
