from __future__ import annotations

from specrules.model.verdict import Alternative, Verdict
from specrules.report.ranking import ranking

from .verdicts import bare, blocked, deploy, unknown


def at(case: str, rate: float | None) -> Verdict:
    return bare().model_copy(update={"case": case, "alternatives": (Alternative(name="candidate", rate_tok_s=rate),)})


def test_fastest_candidate_first_unknown_last_ties_as_given() -> None:
    rows = ranking([at("none", None), at("slow", 1.0), at("b", 5.0), at("a", 5.0), at("zero", 0.0), unknown()])
    assert [row.case for row in rows] == ["b", "a", "slow", "zero", "none", "-"]


def test_a_row_holds_both_rates_and_the_verdict() -> None:
    first, second = ranking([blocked(), deploy()])
    assert (first.case, first.verdict, first.best, first.draft_length) == (
        "examples/eagle3.yaml",
        "deploy",
        "candidate",
        3,
    )
    assert (first.candidate_tok_s, first.incumbent_tok_s, first.speedup.mid) == (146.2, 81.4, 1.796)
    assert (second.candidate_tok_s, second.incumbent_tok_s, second.best) == (17.09, 25.0, "off")
    assert ranking([]) == ()
