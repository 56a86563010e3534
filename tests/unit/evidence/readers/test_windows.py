"""A log of several requests and one response out of it: one window gives the numbers."""

from __future__ import annotations

from specrules.evidence.readers.reading import Reading
from specrules.evidence.readers.recognition import Matches, Recognition
from specrules.evidence.readers.reconcile import reconcile
from specrules.evidence.readers.windows import widest_windows
from specrules.model.fact import Fact, Facts, FactValue
from specrules.model.quantity import Provenance

STATED = Recognition("certain", True, "lines", (Matches("e", 1),))


def reading(path: str, **facts: FactValue) -> Reading:
    named = {f"candidate.{name}": value for name, value in facts.items()}
    made = {name: Fact(name=name, value=value, provenance=Provenance(source=path)) for name, value in named.items()}
    return Reading(path=path, engine_id="e", reader_id="r", title="t", facts=Facts(made), recognition=STATED)


LOG = reading("log", tokens=144.0, rate_tok_s=4.5, drafting=True, draft_length=3.0, rounds=36.0)
RESPONSE = reading("response", tokens=48.0, rate_tok_s=3.9, drafting=True, draft_length=3.0, position_acceptance=(1.0,))


def names(one: Reading) -> set[str]:
    return {name.removeprefix("candidate.") for name in one.facts}


def test_the_widest_window_gives_the_numbers() -> None:
    for order in ((LOG, RESPONSE), (RESPONSE, LOG)):
        kept, notes = widest_windows([("candidate", one) for one in order])
        by_path = {one.path: one for one in kept}
        assert names(by_path["log"]) == names(LOG)
        assert names(by_path["response"]) == {"drafting", "draft_length"}
        assert [note.render() for note in notes] == [
            "response: covers 48 of the 144 tokens of log: its numbers are of another window and are not used"
        ]
        facts, disagreements = reconcile({}, kept)
        assert disagreements == ()
        assert facts.number("candidate.rate_tok_s") == 4.5


def test_what_is_no_number_of_a_window_is_still_compared() -> None:
    silent = reading("response", tokens=48.0, drafting=False, draft_length=5.0)
    kept, _ = widest_windows([("candidate", LOG), ("candidate", silent)])
    _, disagreements = reconcile({}, kept)
    assert {item.name for item in disagreements} == {"candidate.drafting", "candidate.draft_length"}


def test_equal_windows_and_those_of_other_arms_are_left_alone() -> None:
    same = reading("metrics", tokens=144.0, rate_tok_s=9.0)
    unsized = reading("slots", drafting=True, rounds=1.0)
    pairs = [("candidate", LOG), ("candidate", same), ("candidate", unsized), ("incumbent", RESPONSE)]
    kept, notes = widest_windows(pairs)
    assert kept == tuple(one for _, one in pairs)
    assert notes == ()
    _, disagreements = reconcile({}, kept[:2])
    assert [item.name for item in disagreements] == ["candidate.rate_tok_s"]
