"""The seed record's example, every value of golden_seed.json: 67 ms per step, 12 ms per drafted token, 25 tok/s."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specrules.economics import acceptance, break_even, rounds

from .tables import golden

FOUR_DIGITS = 5.1e-5
THREE_DIGITS = 5.1e-4
GOLDEN = golden()
STEP, DRAFT, INCUMBENT = (GOLDEN["inputs"][name] for name in ("t_ms", "d_ms", "incumbent_tok_s"))


def column(section: str, name: str) -> np.ndarray[Any, Any]:
    return np.array([np.nan if row[name] is None else row[name] for row in GOLDEN[section]], dtype=float)


def round_ms(length: Any, factor: Any) -> Any:
    return rounds.round_time(0, rounds.draft_time(rounds.draft_passes("sequential", length), DRAFT), factor * STEP)


@pytest.mark.parametrize(
    ("section", "count"),
    [
        ("break_even", 50),
        ("break_even_vs_plain_v1.1", 10),
        ("rate", 70),
        ("rate_if_given_as_ratio", 12),
        ("ratio_to_p", 99),
        ("p_to_ratio_A", 65),
    ],
)
def test_every_section_is_whole(section: str, count: int) -> None:
    assert len(GOLDEN[section]) == count


def test_break_even_against_the_incumbent() -> None:
    length, factor = column("break_even", "K"), column("break_even", "v")
    needed = break_even.break_even_tokens(INCUMBENT, round_ms(length, factor))
    np.testing.assert_allclose(needed, column("break_even", "A_needed"), rtol=0, atol=FOUR_DIGITS)
    np.testing.assert_allclose(
        break_even.break_even_conditional(needed, length), column("break_even", "p"), rtol=0, atol=FOUR_DIGITS
    )
    # The file also prints the ratio that nothing can reach.
    printed = column("break_even", "ratio")
    np.testing.assert_allclose(acceptance.ratio_from_tokens(needed, length), printed, rtol=0, atol=FOUR_DIGITS)
    reachable = np.where(printed <= 1, printed, np.nan)
    np.testing.assert_allclose(break_even.break_even_ratio(needed, length), reachable, rtol=0, atol=FOUR_DIGITS)
    np.testing.assert_array_equal(break_even.possible(needed, length), printed <= 1)


def test_break_even_against_a_plain_target() -> None:
    section = "break_even_vs_plain_v1.1"
    length = column(section, "K")
    needed = break_even.break_even_tokens(1000 / STEP, round_ms(length, 1.1))
    np.testing.assert_allclose(needed, column(section, "A_needed"), rtol=0, atol=FOUR_DIGITS)
    found = break_even.break_even_conditional(needed, length)
    np.testing.assert_allclose(found, column(section, "p"), rtol=0, atol=FOUR_DIGITS)


def test_rates() -> None:
    length = column("rate", "K")
    tokens = acceptance.tokens_per_round(column("rate", "p"), length)
    found = rounds.rate(tokens, round_ms(length, column("rate", "v")))
    np.testing.assert_allclose(found, column("rate", "tok_s"), rtol=0, atol=THREE_DIGITS)


def test_rates_where_the_number_is_a_ratio() -> None:
    section = "rate_if_given_as_ratio"
    length = column(section, "K")
    tokens = acceptance.tokens_from_ratio(column(section, "r"), length)
    found = rounds.rate(tokens, round_ms(length, 1.1))
    np.testing.assert_allclose(found, column(section, "tok_s"), rtol=0, atol=THREE_DIGITS)


def test_ratio_to_conditional() -> None:
    found = acceptance.conditional_from_ratio(column("ratio_to_p", "r"), column("ratio_to_p", "K"))
    np.testing.assert_allclose(found, column("ratio_to_p", "p"), rtol=0, atol=FOUR_DIGITS)


def test_conditional_to_ratio_and_tokens() -> None:
    p, length = column("p_to_ratio_A", "p"), column("p_to_ratio_A", "K")
    ratio, tokens = acceptance.accepted_ratio(p, length), acceptance.tokens_per_round(p, length)
    np.testing.assert_allclose(ratio, column("p_to_ratio_A", "ratio"), rtol=0, atol=FOUR_DIGITS)
    np.testing.assert_allclose(tokens, column("p_to_ratio_A", "A"), rtol=0, atol=FOUR_DIGITS)
