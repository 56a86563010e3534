from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.decide.waive import Desk, Judged, in_scope, matches_path, scope_text
from specrules.errors import Location
from specrules.model.policy import WaiverLimits
from specrules.model.waiver import Waiver

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
LLM = Judged(path="deploy/llm.yaml", target="Qwen3.8-27B Q4", drafter="0.6B", engine="llama.cpp", inputs="0123456789ab")


def waiver(**keys: object) -> Waiver:
    data = {"rule": "drafter-fits", "reason": "swap", "owner": "infra", "expires": date(2026, 12, 10), **keys}
    return Waiver.model_validate(
        data if {"target", "drafter", "engine", "files"} & set(keys) else data | {"files": ("*",)}
    )


def desk(*waivers: Waiver, now: datetime = NOW, max_days: int = 90, soon_days: int = 14) -> Desk:
    placed = [(item, Location("w.yaml", 3 + index, 5)) for index, item in enumerate(waivers)]
    return Desk.open(placed, WaiverLimits(max_days=max_days, soon_days=soon_days), now)


def states(found: Desk, *, everything: bool = False) -> list[str]:
    return [notice.state for notice in found.notices(everything=everything)]


class TestScope:
    def test_every_part_has_to_match(self) -> None:
        assert in_scope(waiver(target="Qwen3.8-27B*", engine="llama.cpp", files=("deploy/*.yaml",)), LLM)
        assert not in_scope(waiver(target="Qwen3.8-27B*", engine="vllm"), LLM)
        assert not in_scope(waiver(engine="llama.cpp", files=("other/*",)), LLM)

    def test_what_is_unknown_matches_nothing(self) -> None:
        nobody = Judged(path="x.yaml")
        for part in ("target", "drafter", "engine"):
            assert not in_scope(waiver(**{part: "*"}), nobody)

    def test_only_stars_and_question_marks_are_wild(self) -> None:
        odd = Judged(path="x", target="a.b [q4] (x|y)")
        assert in_scope(waiver(target="a.b [q4] (x|y)"), odd)
        assert in_scope(waiver(target="a?b*"), odd)
        assert not in_scope(waiver(target="a.b [4q] (x|y)"), odd)
        assert not in_scope(waiver(target="A.B*"), odd)

    @pytest.mark.parametrize(
        ("pattern", "path", "matches"),
        [
            ("llm.yaml", "deploy/llm.yaml", True),
            ("*.yaml", "deploy/llm.yaml", True),
            ("llm.yaml", "deploy/llm.yaml.bak", False),
            ("deploy/*.yaml", "deploy/llm.yaml", True),
            ("deploy/*.yaml", "deploy/eu/llm.yaml", False),
            ("deploy/**/*.yaml", "deploy/llm.yaml", True),
            ("deploy/**/*.yaml", "deploy/eu/west/llm.yaml", True),
            ("deploy/**", "deploy/eu/llm.yaml", True),
            ("deploy/", "deploy/eu/llm.yaml", True),
            ("deploy/", "deployed/llm.yaml", False),
            ("./deploy/llm.yaml", "deploy/llm.yaml", True),
            ("/deploy/llm.yaml", "deploy/llm.yaml", True),
            ("deploy/llm.yaml", "./deploy/llm.yaml", True),
            ("deploy/l?m.yaml", "deploy/llm.yaml", True),
            ("deploy/l?m.yaml", "deploy/l/m.yaml", False),
            ("../deploy/*", "deploy/llm.yaml", False),
        ],
    )
    def test_paths(self, pattern: str, path: str, matches: bool) -> None:
        assert matches_path(pattern, path) is matches

    @given(st.text(max_size=30))
    def test_a_name_without_wild_cards_matches_itself_alone(self, name: str) -> None:
        if name.strip() and not set(name) & set("*?"):
            assert in_scope(waiver(target=name), Judged(path="x", target=name))
            assert not in_scope(waiver(target=name), Judged(path="x", target=name + "x"))

    def test_in_words(self) -> None:
        item = waiver(target="Q*", engine="vllm", files=("a/*", "b"))
        assert scope_text(item) == "target Q*, engine vllm, files a/* b"


class TestDays:
    @pytest.mark.parametrize(
        ("now", "covered"),
        [
            (datetime(2026, 12, 10, 23, 59, 59, tzinfo=UTC), True),
            (datetime(2026, 12, 11, tzinfo=UTC), False),
            # Already the 11th in Auckland, still the 10th in UTC; and the other way round in Hawaii.
            (datetime(2026, 12, 11, 9, tzinfo=timezone(timedelta(hours=13))), True),
            (datetime(2026, 12, 10, 20, tzinfo=timezone(timedelta(hours=-10))), False),
        ],
    )
    def test_the_last_day_counts_to_its_end_in_utc(self, now: datetime, covered: bool) -> None:
        found = desk(waiver(), now=now)
        assert (found.cover("drafter-fits", "fail", LLM) is not None) is covered

    def test_one_that_reaches_too_far_covers_nothing(self) -> None:
        far = waiver(expires=date(2027, 2, 28))
        assert states(desk(far, max_days=91), everything=True) == ["active"]
        found = desk(far, max_days=90)
        assert found.cover("drafter-fits", "fail", LLM) is None
        assert states(found) == ["too-long"]

    @pytest.mark.parametrize(("soon", "state"), [(11, "expires-soon"), (10, "active")])
    def test_soon(self, soon: int, state: str) -> None:
        found = desk(waiver(), soon_days=soon)
        found.seen(LLM)
        found.cover("drafter-fits", "fail", LLM)
        (notice,) = found.notices()
        assert (notice.state, notice.days_left, notice.used) == (state, 11, 1)
        assert (notice.place.path, notice.place.line, notice.place.column) == ("w.yaml", 3, 5)


class TestCover:
    @pytest.mark.parametrize(
        ("outcome", "covered"),
        [("fail", True), ("unknown", True), ("error", False), ("pass", False), ("not-applicable", False)],
    )
    def test_outcomes(self, outcome: str, covered: bool) -> None:
        assert (desk(waiver()).cover("drafter-fits", outcome, LLM) is not None) is covered

    def test_another_rule(self) -> None:
        assert desk(waiver()).cover("verdict", "fail", LLM) is None

    def test_what_it_says(self) -> None:
        use = desk(waiver(ticket="OPS-12")).cover("drafter-fits", "fail", LLM)
        assert (use.reason, use.owner, use.expires, use.ticket) == ("swap", "infra", "2026-12-10", "OPS-12")

    def test_other_inputs_end_it(self) -> None:
        bound = waiver(inputs="0123456789ab")
        assert desk(bound).cover("drafter-fits", "fail", LLM) is not None
        found = desk(bound)
        changed = Judged(path=LLM.path, inputs="0123456789ac")
        found.seen(changed)
        assert found.cover("drafter-fits", "fail", changed) is None
        assert states(found) == ["inputs-changed"]
        assert desk(bound).cover("drafter-fits", "fail", Judged(path=LLM.path)) is None

    def test_a_long_digest_is_compared_as_far_as_both_go(self) -> None:
        assert desk(waiver(inputs="0123456789ab" + "f" * 52)).cover("drafter-fits", "fail", LLM) is not None

    def test_the_first_that_holds_counts(self) -> None:
        found = desk(waiver(expires=date(2026, 1, 1)), waiver(owner="second"), waiver(owner="third"))
        found.seen(LLM)
        assert found.cover("drafter-fits", "fail", LLM).owner == "second"
        assert states(found) == ["expired", "expires-soon", "unused"]


class TestNotices:
    def test_without_anything_in_scope_only_void_ones_are_told(self) -> None:
        found = desk(waiver(engine="vllm"), waiver(engine="vllm", expires=date(2026, 11, 28)))
        found.seen(LLM)
        assert states(found) == ["expired"]
        assert states(found, everything=True) == ["expires-soon", "expired"]

    def test_unused(self) -> None:
        found = desk(waiver())
        found.seen(LLM)
        found.cover("drafter-fits", "pass", LLM)
        assert states(found) == ["unused"]
