"""What numbers of one case say about each other."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any, ClassVar

import pytest

from specrules.derive import consistency
from specrules.derive.sides import Sides
from specrules.evidence.readers.reading import read_file
from specrules.model.fact import Fact, Facts
from specrules.model.quantity import Provenance

from .build import case, catalog, facts, given, table

RECORDINGS = Path(__file__).parents[2] / "data" / "recordings"

DRAFTING = {"drafting": True, "rate_tok_s": 25.0, "tokens_per_round": 1.67, "rate_kind": "decode"}


def known(**values: object) -> Facts:
    return facts(case(), **values)


def fact(name: str, value: float, source: str = "a.log:3", samples: tuple[float, ...] = ()) -> Fact:
    return Fact(name=name, value=value, samples=samples, provenance=Provenance(kind="from-file", source=source))


def sides(**parts: Any) -> Sides:
    more = parts.pop("more", None)
    return given(case(**parts), more).sides


class TestRoundOverStep:
    def test_at_the_top_of_both_errors(self) -> None:
        found = sides(incumbent=DRAFTING, measurements={"off": {"rate_tok_s": 20.0, "rate_kind": "decode"}})
        assert consistency.round_over_step(found) == pytest.approx(66.8 / 50 * 1.03 / 0.97)

    def test_a_commit_of_another_request_makes_a_round_shorter_than_a_step(self) -> None:
        wrong = {**DRAFTING, "tokens_per_round": 1.0}
        found = sides(incumbent=wrong, measurements={"off": {"rate_tok_s": 20.0, "rate_kind": "decode"}})
        assert consistency.round_over_step(found) == pytest.approx(40 / 50 * 1.03 / 0.97)

    def test_without_one_of_the_two_nothing_is_said(self) -> None:
        assert consistency.round_over_step(sides(incumbent=DRAFTING)) is None
        plain = {"drafting": False, "rate_tok_s": 25.0}
        assert consistency.round_over_step(sides(incumbent=plain)) is None


class TestRounds:
    COUNTED: ClassVar[dict[str, object]] = {
        "candidate__rounds": 290.0,
        "candidate__tokens": 888.0,
        "candidate__requests": 10.0,
        "candidate__accepted": 586.0,
    }

    def test_of_the_recorded_pair_they_add_up(self) -> None:
        found = consistency.rounds_over_passes(known(**self.COUNTED))
        assert found.value == pytest.approx(280 / 292)
        assert found.note == "290 rounds of the candidate for 292 target passes"

    def test_passes_as_counted_go_before_those_worked_out(self) -> None:
        found = consistency.rounds_over_passes(known(**{**self.COUNTED, "candidate__target_passes": 145.0}))
        assert found.value == pytest.approx(280 / 145)

    def test_the_worse_arm_speaks(self) -> None:
        other: dict[str, object] = {"incumbent__rounds": 100.0, "incumbent__target_passes": 50.0}
        found = consistency.rounds_over_passes(known(**{**self.COUNTED, **other}))
        assert found.value == pytest.approx(2.0)
        assert found.note == "100 rounds of the incumbent for 50 target passes"

    @pytest.mark.parametrize("missing", list(COUNTED))
    def test_a_missing_counter_is_not_zero(self, missing: str) -> None:
        left = {name: value for name, value in self.COUNTED.items() if name != missing}
        assert consistency.rounds_over_passes(known(**left)).value is None

    def test_the_share_of_passes_that_verify_a_draft(self) -> None:
        counted = known(candidate__rounds=31.0, candidate__target_passes=770.0)
        assert consistency.drafting_share(counted) == pytest.approx(31 / 770)
        assert consistency.drafting_share(known(candidate__coverage=0.4, candidate__rounds=31.0)) == 0.4
        assert consistency.drafting_share(known(candidate__rounds=31.0)) is None


class TestRoundMismatch:
    def test_a_round_of_its_own_tokens(self) -> None:
        found = consistency.round_mismatch(facts(case(incumbent={**DRAFTING, "round_ms": 66.8})))
        assert found.value == pytest.approx(0.0, abs=1e-12)

    def test_the_rate_of_another_request(self) -> None:
        one = case(incumbent={**DRAFTING, "rate_tok_s": 36.5, "round_ms": 66.8})
        found = consistency.round_mismatch(facts(one))
        assert found.value == pytest.approx(1 - 1670 / 36.5 / 66.8)
        assert found.note == "1.67 tokens at 36.5 tok/s are rounds of 45.75 ms, and the incumbent's round is 66.8 ms"

    def test_a_client_pays_for_more_than_rounds_but_not_for_less(self) -> None:
        slow, fast = ({**DRAFTING, "rate_tok_s": rate, "round_ms": 66.8} for rate in (15.0, 36.5))
        assert consistency.round_mismatch(facts(case(incumbent=slow))).value == pytest.approx(1670 / 15 / 66.8 - 1)
        slow, fast = ({**one, "rate_kind": "client"} for one in (slow, fast))
        assert consistency.round_mismatch(facts(case(incumbent=slow))).value == 0.0
        assert (consistency.round_mismatch(facts(case(incumbent=fast))).value or 0) > 0.3

    def test_intervals_that_meet_do_not_contradict(self) -> None:
        wide = {**DRAFTING, "rate_tok_s": {"low": 24.0, "high": 37.0}, "round_ms": 50.0}
        assert consistency.round_mismatch(facts(case(incumbent=wide))).value == 0.0

    def test_two_of_three_numbers_say_nothing(self) -> None:
        assert consistency.round_mismatch(facts(case(incumbent=DRAFTING))).value is None
        off = {**DRAFTING, "drafting": False, "round_ms": 1.0}
        assert consistency.round_mismatch(facts(case(incumbent=off))).value is None


class TestMixedRuns:
    def test_one_file_is_one_run(self) -> None:
        read = [
            fact("candidate.tokens_per_round", 3.0, "a.log:686"),
            fact("candidate.rate_tok_s", 25.5, "a.log:349 (+9 more lines)"),
        ]
        assert consistency.mixed_runs(Facts({one.name: one for one in read})) == consistency.Found(0.0)

    @pytest.mark.parametrize(
        "other", ["b.log:349", "b.log at timings (+2 more values)", "b.metrics.txt:3 less a.metrics.txt"]
    )
    def test_two_files_are_not(self, other: str) -> None:
        read = [fact("candidate.tokens_per_round", 3.0, "a.log:686"), fact("candidate.rate_tok_s", 25.5, other)]
        found = consistency.mixed_runs(Facts({one.name: one for one in read}))
        assert found.value == 1.0
        name = other.split(":", maxsplit=1)[0].split(" at ", maxsplit=1)[0]
        assert found.note == f"tokens per round and rate of the candidate are from a.log and {name}"

    def test_stated_sources(self) -> None:
        def stated(commit_of: str, rate_of: str, *dates: str) -> float | None:
            commit: dict[str, object] = {"value": 1.67, "source": commit_of}
            rate: dict[str, object] = {"value": 25.0, "source": rate_of}
            if dates:
                commit["observed_at"], rate["observed_at"] = dates
            incumbent = {"drafting": True, "tokens_per_round": commit, "rate_tok_s": rate}
            return consistency.mixed_runs(facts(case(incumbent=incumbent))).value

        assert stated("serve.log", "serve.log") == 0.0
        assert stated("serve.log", "the dashboard") == 1.0
        assert stated("", "the dashboard") is None
        assert stated("serve.log", "serve.log", "2026-09-01", "2026-09-02") == 1.0
        assert stated("", "", "2026-09-01", "2026-09-02") == 1.0
        assert stated("serve.log", "serve.log", "2026-09-01", "2026-09-01") == 0.0

    def test_without_a_commit_there_is_nothing_to_mix(self) -> None:
        assert consistency.mixed_runs(known()) == consistency.Found(0.0)
        off = {"drafting": False, "rate_tok_s": 25.0, "tokens_per_round": 1.0}
        assert consistency.mixed_runs(facts(case(incumbent=off))) == consistency.Found(0.0)


class TestRoundVariation:
    def samples(self, rounds: list[float], tokens: list[float], source: str = "a.log:9") -> dict[str, Fact]:
        rates = tuple(1000 * one / other for one, other in zip(tokens, rounds, strict=True))
        return {
            one.name: one
            for one in (
                fact("candidate.tokens_per_round", statistics.mean(tokens), "a.log:3", tuple(tokens)),
                fact("candidate.rate_tok_s", statistics.mean(rates), source, rates),
            )
        }

    def variation(self, found: dict[str, Fact], drafter: str = "model", **more: float) -> float | None:
        one = case(drafter={"class": drafter}, measurements={"candidate": {"drafting": True}})
        base = given(one).sides
        held = {**{name.replace("__", "."): Fact(name=name, value=value) for name, value in more.items()}, **found}
        return consistency.round_variation(
            Sides(**{name: getattr(base, name) for name in base.__slots__} | {"facts": Facts(held)})
        )

    def test_of_published_runs_at_one_depth(self) -> None:
        rounds: dict[float, list[float]] = {}
        tokens: dict[float, list[float]] = {}
        for row in table("t14"):
            committed = 1 + row["draft_accepted"] / (192 - row["draft_accepted"])
            tokens.setdefault(row["n_max"], []).append(committed)
            rounds.setdefault(row["n_max"], []).append(1000 * committed / row["tok_s"])
        assert {length: len(found) for length, found in rounds.items()} == {2: 14, 4: 9, 3: 9, 1: 5}
        for length, printed in ((4, 0.056), (3, 0.004), (1, 0.014)):
            found = self.variation(self.samples(rounds[length], tokens[length]))
            assert found == pytest.approx(printed, abs=6e-4)
        # The round is a property of model and depth: two models at one depth vary.
        assert (self.variation(self.samples(rounds[2], tokens[2])) or 0) > 0.1

    def test_rounds_of_requests_go_before_tokens_over_rate(self) -> None:
        timed = fact("candidate.round_ms", 20.0, samples=(20.0, 20.0, 23.0))
        found = self.variation({**self.samples([20.0] * 3, [2.0] * 3), timed.name: timed})
        assert found == pytest.approx(statistics.stdev((20, 20, 23)) / 21)

    def test_where_the_depth_was_not_fixed_rounds_may_vary(self) -> None:
        found = self.samples([20.0, 25.0, 31.0], [2.0, 2.5, 1.8])
        assert self.variation(found) is not None
        assert self.variation(found, candidate__draft_length=4.0, candidate__mean_draft_length=3.9) is not None
        assert self.variation(found, candidate__draft_length=4.0, candidate__mean_draft_length=3.1) is None
        assert self.variation(found, candidate__coverage=0.4) is None
        assert self.variation(found, drafter="ngram") is None

    def test_samples_that_do_not_belong_together_are_not_paired(self) -> None:
        assert self.variation(self.samples([20.0] * 3, [2.0] * 3, source="b.log:3")) is None
        assert self.variation(self.samples([20.0] * 2, [2.0] * 2)) is None
        found = self.samples([20.0] * 3, [2.0] * 3)
        short = fact("candidate.rate_tok_s", 100.0, "a.log:9", (100.0,) * 4)
        assert self.variation({**found, short.name: short}) is None


class TestCurve:
    CURVE = ({"width": 1, "ms": 50.0}, {"width": 4, "ms": 70.0})

    def test_one_row_against_the_plain_step(self) -> None:
        off = {"off": {"rate_tok_s": 20.0, "rate_kind": "decode"}, "verify_curve": list(self.CURVE)}
        assert consistency.first_over_step(sides(measurements=off)) == pytest.approx(1.0)
        # Widths that are draft lengths: what stands at width 1 is the pass over two rows.
        shifted = {**off, "verify_curve": [{"width": 1, "ms": 79.5}, {"width": 3, "ms": 90.0}]}
        assert consistency.first_over_step(sides(measurements=shifted)) == pytest.approx(1.59)

    def test_a_step_read_off_the_curve_is_not_held_against_it(self) -> None:
        assert consistency.first_over_step(sides(measurements={"verify_curve": list(self.CURVE)})) is None
        late = {"off": {"rate_tok_s": 20.0}, "verify_curve": [self.CURVE[1]]}
        assert consistency.first_over_step(sides(measurements=late)) is None

    def run(self, length: int, rate: float, drafter: str = "model") -> float | None:
        candidate = {"draft_length": length, "rate_tok_s": rate, "rate_kind": "decode", "tokens_per_round": 2.1}
        measured = {"candidate": {**candidate, "drafting": True}, "verify_curve": list(self.CURVE)}
        return consistency.round_over_pass(sides(measurements=measured, drafter={"class": drafter}))

    def test_a_round_against_the_pass_of_its_width(self) -> None:
        assert self.run(3, 2100 / 84) == pytest.approx(84 / 70 * 1.03 / 0.97)
        assert (self.run(3, 2100 / 56) or 2) < 1
        # Three rows were not measured, and a tree verifies its nodes.
        assert self.run(2, 2100 / 84) is None
        assert self.run(3, 2100 / 84, drafter="tree") is None


def test_a_commit_without_drafts() -> None:
    def said(**incumbent: object) -> bool | None:
        return consistency.commit_without_drafts(facts(case(incumbent=incumbent)))

    assert said(drafting=False, tokens_per_round=1.67) is True
    assert said(drafting=True, tokens_per_round=1.67) is False
    assert said(drafting=False, tokens_per_round=1.0) is False
    assert said(tokens_per_round=1.67) is None
    assert said(drafting=False) is None


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"kind": "ratio", "value": 0.5, "draft_length": 3}, 0.5),
        ({"kind": "counts", "accepted": 30, "drafted": 60, "rounds": 20}, 0.5),
        ({"kind": "counts", "accepted": 30, "rounds": 20, "draft_length": 3}, None),
        ({"kind": "conditional", "value": 0.5}, None),
        (None, 0.9),
    ],
)
def test_the_accepted_ratio_as_stated_or_read(stated: dict[str, object] | None, expected: float | None) -> None:
    found = sides(measurements={"acceptance": stated}, more={"candidate__accepted_ratio": 0.9})
    assert consistency.accepted_ratio(found) == expected


@pytest.mark.parametrize(("length", "variation"), [(1, 0.042), (3, 0.072), (7, 0.037)])
def test_the_logs_of_a_real_pair_contradict_nothing(length: int, variation: float) -> None:
    path = RECORDINGS / "llama.cpp-b11434-pair" / f"pair-k{length}.log"
    read = read_file(str(path), catalog().engine("llama.cpp").model, "candidate", others=()).facts
    share = consistency.rounds_over_passes(read).value
    assert share is not None
    assert 0.94 < share < 1
    assert consistency.round_mismatch(read).value == pytest.approx(0, abs=0.01)
    assert consistency.mixed_runs(read) == consistency.Found(0.0)
    assert (consistency.drafting_share(read) or 0) > 0.99
    # Two shared cores: at K = 3 the ten requests differ by more than the 6 % that a quiet machine stays below.
    base = given(case(measurements={"candidate": {"drafting": True}})).sides
    taken = Sides(**{name: getattr(base, name) for name in base.__slots__} | {"facts": read})
    assert consistency.round_variation(taken) == pytest.approx(variation, abs=6e-4)
