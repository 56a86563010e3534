from __future__ import annotations

import json

import pytest

from .deployments import OLD_FLAG, PLAIN
from .running import NOW, cli, put, refused

ONE = "- {rule: setting-not-removed, files: ['*.yaml'], reason: image pinned, owner: infra, expires: %s}\n"


def waivers(*lines: str) -> None:
    put(".specrules/waivers.yaml", "schema: 1\nwaivers:\n" + "".join(lines))


def test_none():
    ran = cli("waivers", *NOW)
    assert (ran.code, ran.out) == (0, "no waivers\n")


@pytest.mark.parametrize(
    ("expires", "state", "when", "code"),
    [
        ("2026-11-28", "expired", "1 d ago", 1),
        ("2026-11-29", "expires-soon", "today", 0),
        ("2026-12-13", "expires-soon", "in 14 d", 0),
        ("2026-12-14", "active", "in 15 d", 0),
        ("2027-02-27", "active", "in 90 d", 0),
        ("2027-02-28", "too-long", "in 91 d", 1),
    ],
)
def test_states(expires: str, state: str, when: str, code: int):
    waivers(ONE % expires)
    ran = cli("waivers", *NOW)
    said = f"{state:14} setting-not-removed (files *.yaml): expires {expires}, {when}; infra: image pinned"
    assert (ran.code, ran.out) == (code, f"{said}  .specrules/waivers.yaml:3:3\n")


def test_the_policy_limits_how_far_ahead():
    waivers(ONE % "2027-01-15")
    assert cli("waivers", *NOW).code == 0
    assert cli("waivers", *NOW, "--policy", "strict").code == 1


@pytest.mark.parametrize(("days", "code"), [("30", 0), ("31", 1)])
def test_expiring_in(days: str, code: int):
    waivers(ONE % "2026-12-30")
    assert cli("waivers", *NOW, "--expiring-in", days).code == code


def test_with_files_it_says_which_are_used():
    waivers(ONE % "2026-12-30", (ONE % "2026-12-30").replace("*.yaml", "plain.yaml"))
    put("llm.yaml", OLD_FLAG)
    put("plain.yaml", PLAIN)
    ran = cli("waivers", "llm.yaml", "plain.yaml", *NOW)
    assert [line.split()[0] for line in ran.out.splitlines()] == ["active", "unused"]
    found = json.loads(cli("waivers", "llm.yaml", "plain.yaml", *NOW, "--format", "json").out)
    assert [(item["state"], item["used"]) for item in found["waivers"]] == [("active", 1), ("unused", 0)]
    assert found["schema"] == 1


def test_a_file_with_mistakes():
    waivers("- {rule: setting-not-removed, reason: r, owner: o, expires: soon}\n")
    (problem,) = refused("waivers", *NOW)
    assert problem.startswith(".specrules/waivers.yaml:3:61: 'waivers[0].expires' must be a date such as ")


class TestGate:
    def test_a_waived_finding_is_told_and_passes(self):
        waivers(ONE % "2026-12-30")
        ran = cli("gate", put("llm.yaml", OLD_FLAG), *NOW)
        assert ran.code == 0
        assert "  WAIVED  setting-not-removed " in ran.out
        assert "waived until 2026-12-30 by infra: image pinned  .specrules/waivers.yaml:3:3" in ran.out
        assert ran.out.splitlines()[-1].endswith(", 1 waived")

    def test_an_expired_waiver_covers_nothing_and_is_told(self):
        waivers(ONE % "2026-11-28")
        ran = cli("gate", put("llm.yaml", OLD_FLAG), *NOW)
        assert ran.code == 1
        assert "WAIVER  expired        setting-not-removed (files *.yaml): expires 2026-11-28, 1 d ago;" in ran.out

    def test_unused_and_soon(self):
        waivers(ONE % "2026-12-01", (ONE % "2027-01-01").replace("setting-not-removed", "verdict"))
        ran = cli("gate", put("llm.yaml", OLD_FLAG), *NOW)
        told = [line.split()[1:3] for line in ran.out.splitlines() if line.startswith("WAIVER ")]
        assert told == [["expires-soon", "setting-not-removed"], ["unused", "verdict"]]

    def test_the_digest_to_bind_to_stands_in_the_text(self):
        ran = cli("gate", put("llm.yaml", OLD_FLAG), *NOW)
        digest = ran.out.splitlines()[0].rpartition("[inputs ")[2].rstrip("]")
        waivers((ONE % "2026-12-30").replace("}", f", inputs: {digest}}}"))
        assert cli("gate", "llm.yaml", *NOW).code == 0
