"""What stands around a program is looked through."""

from __future__ import annotations

import pytest

from tests.unit.evidence.deployments.build import at, read, words


@pytest.mark.parametrize(
    ("written", "commands"),
    [
        ("bash -c 'prog --a'", [["prog", "--a"]]),
        ("/bin/sh -euxc 'a 1; b 2'", [["a", "1"], ["b", "2"]]),
        ("bash -o pipefail -c 'prog'", [["prog"]]),
        ("tini -- bash -lc 'exec prog'", [["exec", "prog"]]),
        ("env -u X A=1 prog --a", [["prog", "--a"]]),
        ("A=1 env B=2 bash -c 'prog $A $B $C'", [["prog", "1", "2", "<$C>"]]),
        ('CMD=\'prog --a\'\nCMD+=" --b $X"\neval "$CMD"', [["prog", "--a", "--b", "<$X>"]]),
        ("CMD='prog --a'\n$CMD", [["prog", "--a"]]),
        ("tmux new-session -d -s x 'prog --a'", [["prog", "--a"]]),
        ("ssh host 'cd /x && prog --a'", [["prog", "--a"]]),
        ("cat > run.sh <<'E'\nprog --a\nE\nbash run.sh", [["prog", "--a"]]),
        ("cat > run.sh <<'E'\nprog --a\nE\n./run.sh", [["prog", "--a"]]),
        ("bash other.sh --a", [["bash", "other.sh", "--a"]]),
        ("bash -c \"bash -c 'bash -c x'\"", [["x"]]),
    ],
)
def test_programs_behind_shells_and_wrappers(written: str, commands: list[list[str]]) -> None:
    assert [words(launch) for launch in read(written, "a.sh").launches] == commands


def test_the_environment_is_handed_on() -> None:
    (launch,) = read("A=1 env B=2 bash -c 'export C=3; D=4 prog'", "a.sh").launches
    assert {name: word.text for name, word in launch.environment.items()} == {"A": "1", "B": "2", "C": "3", "D": "4"}
    assert at(launch.environment_places["C"]) == "1:29"


def test_scripts_in_scripts_end() -> None:
    nested = "eval eval eval eval eval eval prog"
    (launch,) = read(nested, "a.sh").launches
    assert [gap.why for gap in launch.gaps] == ["commands inside commands are nested too deeply to be followed"]


def test_sourced_variables_are_a_gap() -> None:
    (launch,) = read(". ./env\nprog", "a.sh").launches
    assert [(gap.of, gap.why, at(gap.place)) for gap in launch.gaps] == [
        ("environment", "variables come from ./env", "1:3")
    ]
