from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime

import pytest

from specrules.decide.waive import Desk
from specrules.errors import Location
from specrules.model.deployment import Place
from specrules.model.finding import Finding, Subject
from specrules.model.policy import PolicyFile, WaiverLimits
from specrules.model.raw_finding import RawFinding
from specrules.model.waiver import Waiver
from specrules.pipeline.gate_subject import Found, subject, verdict_outcome

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def policy(**more: object) -> PolicyFile:
    base = {"schema": 1, "id": "p", "title": "P", "thresholds": {}, "docs": {}}
    return PolicyFile.model_validate(base | more)


def raw(rule: str, outcome: str = "fail", severity: str = "block", key: str = "", line: int = 3) -> RawFinding:
    place = Place(path="llm.yaml", line=line, column=1)
    about = {"title": rule, "part": "d", "message": f"{rule}.", "place": place, "key": key}
    return RawFinding(rule=rule, outcome=outcome, severity=severity, **about)


def waiver(rule: str, **more: object) -> Waiver:
    about = {"reason": "r", "owner": "o", "expires": date(2026, 12, 1), "files": ("llm.yaml",)}
    return Waiver.model_validate({"rule": rule, **about, **more})


def judged(
    *found: RawFinding, by: PolicyFile | None = None, waivers: tuple[Waiver, ...] = (), **more: object
) -> Subject:
    about = {"name": "llm", "path": "llm.yaml", "kind": "deployment", "summary": "s", "inputs": "0123456789ab"}
    desk = Desk.open(((item, Location("w.yaml", 1, 1)) for item in waivers), WaiverLimits(), NOW)
    return subject(Found(raw=found, **(about | more)), by or policy(), desk, ".", Counter())  # type: ignore[arg-type]


def only(found: Subject) -> Finding:
    (finding,) = found.findings
    return finding


class TestWeights:
    @pytest.mark.parametrize(
        ("weight", "level", "outcome"),
        [("block", "error", "fail"), ("warn", "warning", "warn"), ("info", "note", "pass")],
    )
    def test_the_policy_weighs_a_rule(self, weight: str, level: str, outcome: str) -> None:
        found = judged(raw("a", severity="warn"), by=policy(rules={"a": weight}))
        assert (only(found).level, only(found).severity, found.outcome) == (level, weight, outcome)

    def test_what_is_off_is_not_there(self) -> None:
        found = judged(raw("a"), raw("b", "pass"), by=policy(rules={"a": "off"}))
        assert [finding.rule for finding in found.findings] == ["b"]
        assert found.outcome == "pass"

    def test_unknown_blocks_unless_the_policy_says_otherwise(self) -> None:
        assert judged(raw("a", "unknown")).outcome == "fail"
        assert judged(raw("a", "unknown"), by=policy(unknown="warn")).outcome == "warn"


class TestVerdict:
    @pytest.mark.parametrize(
        ("verdict", "outcome", "level"),
        [
            ("deploy", "pass", "none"),
            ("keep-incumbent", "fail", "error"),
            ("blocked", "fail", "error"),
            ("invalid-evidence", "fail", "error"),
            ("marginal", "fail", "error"),
            ("measure-first", "unknown", "error"),
        ],
    )
    def test_outcomes(self, verdict: str, outcome: str, level: str) -> None:
        assert verdict_outcome(verdict) == outcome  # type: ignore[arg-type]
        found = judged(raw("verdict", outcome), verdict=verdict, kind="case")
        assert (only(found).outcome, only(found).level) == (outcome, level)

    def test_advisory(self) -> None:
        advisory = policy(verdicts={"marginal": "warn", "measure-first": "warn"}, unknown="warn")
        assert judged(raw("verdict", "unknown"), by=advisory, verdict="measure-first").outcome == "warn"
        assert judged(raw("verdict", "fail"), by=advisory, verdict="keep-incumbent").outcome == "fail"

    def test_the_weight_of_the_rule_is_a_ceiling(self) -> None:
        assert judged(raw("verdict"), by=policy(rules={"verdict": "warn"}), verdict="blocked").outcome == "warn"

    def test_it_can_be_waived_by_name(self) -> None:
        found = judged(raw("verdict"), verdict="keep-incumbent", waivers=(waiver("verdict"),))
        assert (only(found).waiver is not None, found.outcome) == (True, "pass")

    def test_waived_gates_that_made_it_take_it_along(self) -> None:
        asked: list[frozenset[str]] = []

        def again(settled: frozenset[str]) -> str:
            asked.append(settled)
            return "deploy"

        found = judged(
            raw("verdict"),
            raw("drafter-fits"),
            raw("late", severity="warn"),
            verdict="blocked",
            redecide=again,
            waivers=(waiver("drafter-fits"), waiver("late")),
        )
        gate, late, verdict = found.findings
        assert (gate.rule, late.rule, verdict.rule) == ("drafter-fits", "late", "verdict")
        assert asked == [frozenset({"drafter-fits"})]
        assert verdict.waiver == gate.waiver is not None
        assert (verdict.outcome, verdict.level) == ("fail", "error")
        assert verdict.message == "verdict. Without the waived gates (drafter-fits): deploy."
        assert found.outcome == "pass"

    def test_what_the_numbers_say_is_not_waived_with_a_gate(self) -> None:
        found = judged(
            raw("drafter-fits"),
            raw("verdict"),
            verdict="blocked",
            redecide=lambda _: "keep-incumbent",
            waivers=(waiver("drafter-fits"),),
        )
        verdict = found.findings[-1]
        assert (verdict.waiver, verdict.level, found.outcome) == (None, "error", "fail")
        assert verdict.message.endswith("Without the waived gates (drafter-fits): keep-incumbent.")

    def test_a_milder_verdict_behind_the_waived_gates_counts_as_that(self) -> None:
        found = judged(
            raw("drafter-fits"),
            raw("verdict"),
            verdict="blocked",
            redecide=lambda _: "marginal",
            waivers=(waiver("drafter-fits"),),
            by=policy(verdicts={"marginal": "warn"}),
        )
        assert (found.findings[-1].level, found.outcome) == ("warning", "warn")


class TestWaivers:
    def test_a_waived_finding_keeps_outcome_and_level(self) -> None:
        found = judged(raw("a"), waivers=(waiver("a"),))
        assert (only(found).outcome, only(found).level, found.outcome) == ("fail", "error", "pass")

    def test_a_clean_finding_uses_no_waiver(self) -> None:
        desk = Desk.open([(waiver("a"), Location("w.yaml", 1, 1))], WaiverLimits(), NOW)
        clean = Found(name="llm", path="llm.yaml", kind="case", summary="", raw=(raw("a", "pass"),))
        subject(clean, policy(), desk, ".", Counter())
        assert [notice.state for notice in desk.notices()] == ["unused"]

    def test_an_error_is_not_waived(self) -> None:
        found = judged(raw("a", "error"), waivers=(waiver("a"),))
        assert (only(found).waiver, found.outcome) == (None, "error")

    def test_other_inputs(self) -> None:
        assert judged(raw("a"), waivers=(waiver("a", inputs="0123456789ab"),)).outcome == "pass"
        assert judged(raw("a"), waivers=(waiver("a", inputs="ffffffffffff"),)).outcome == "fail"


class TestFingerprints:
    def prints(self, *found: RawFinding, **more: object) -> list[str]:
        return [finding.fingerprint for finding in judged(*found, **more).findings]  # type: ignore[arg-type]

    def test_lines_and_messages_do_not_count(self) -> None:
        moved = raw("a", line=99).model_copy(update={"message": "other words", "observed": "3 < 1"})
        assert self.prints(raw("a")) == self.prints(moved)

    def test_rule_key_name_and_path_do(self) -> None:
        different = [
            *self.prints(raw("a")),
            *self.prints(raw("b")),
            *self.prints(raw("a", key="--draft")),
            *self.prints(raw("a"), name="other"),
            *self.prints(raw("a"), path="other.yaml"),
        ]
        assert len(set(different)) == 5
        assert all(len(item) == 32 for item in different)

    def test_what_only_its_place_tells_apart_is_numbered_over_the_run(self) -> None:
        prints: Counter[tuple[str, ...]] = Counter()
        desk = Desk.open([], WaiverLimits(), NOW)
        twin = Found(name="llm", path="llm.yaml", kind="deployment", summary="", raw=(raw("a"), raw("a")))
        found = [item for _ in range(2) for item in subject(twin, policy(), desk, ".", prints).findings]
        assert len({item.fingerprint for item in found}) == 4
        assert found[0].fingerprint == self.prints(raw("a"))[0]
