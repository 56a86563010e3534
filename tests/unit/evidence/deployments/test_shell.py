"""Scripts are read as a real shell reads them, without running anything."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from specrules.evidence.deployments.expand import Expander
from specrules.evidence.deployments.shell import Script, read_script
from specrules.evidence.deployments.split import split_words
from tests.unit.evidence.deployments.build import text

_ATOMS = [
    "a",
    "b1",
    "-x",
    "--y=z",
    "'",
    '"',
    "\\",
    " ",
    "\n",
    "\\\n",
    "'a b'",
    '"c d"',
    '"e\'f"',
    "'g\"h'",
    "\\ ",
    "$A",
    "${A}",
]
_ATOMS += [
    '"$A"',
    '"${B}"',
    "$B",
    "'$A'",
    "\\$A",
    '"\\$A"',
    '"\\\\"',
    '"\\a"',
    "#",
    "x#y",
    '""',
    "''",
    "=",
    "$C",
    '"$C"',
    "\t",
]
_SCRIPT = "A='va lue'\nB=bee\nC=\nprog "
_SHELL = "prog() { for word in \"$@\"; do printf '%s\\0' \"$word\"; done; printf 'END\\0'; }\n"


def script(written: str) -> Script:
    return read_script(text(written), {}, Expander())


def commands(written: str) -> list[list[str]]:
    """The words of every command; what is unknown in angle brackets."""
    found = script(written).commands
    return [[word.value if word.rendered else f"<{word.value}>" for word in command.words] for command in found]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@given(st.lists(st.sampled_from(_ATOMS), min_size=1, max_size=9).map("".join))
@settings(max_examples=60, deadline=None)
def test_words_are_those_of_a_real_shell(written: str) -> None:
    assume(not re.search(r"\$[ABC]\\\n", written) and not written.endswith("\\"))
    done = subprocess.run(["bash", "-f", "-c", _SHELL + _SCRIPT + written], capture_output=True, check=False)
    assume(done.returncode == 0 and not done.stderr)
    first = next(command for command in script(_SCRIPT + written).commands if command.words[0].value == "prog")
    assume(all(word.rendered for word in first.words))
    assert [word.value for word in first.words[1:]] == done.stdout.decode().split("\0")[:-2]


@given(st.lists(st.sampled_from([*_ATOMS, ";", "|", "&"]), min_size=1, max_size=9).map("".join))
@settings(max_examples=150, deadline=None)
def test_splitting_is_that_of_the_standard_library(written: str) -> None:
    assume("\\\n" not in written and "\\$" not in written)
    try:
        expected = shlex.split(written)
    except ValueError:
        assume(False)
    assert [word.value for word in split_words(text(written))] == expected


def test_commands_are_told_apart() -> None:
    assert commands("a 1; b 2 && c 3 | d 4 & e 5\nf 6 2>&1 >out <in &> all\n(g 7)") == [
        ["a", "1"], ["b", "2"], ["c", "3"], ["d", "4"], ["e", "5"], ["f", "6"], ["g", "7"],
    ]  # fmt: skip


def test_a_comment_between_continued_lines_ends_the_command() -> None:
    assert commands("run --a \\\n # no\n --b") == [["run", "--a"], ["--b"]]


def test_arrays_grow_and_unfold() -> None:
    written = 'A=(--x "1 2"\n  # a comment\n  --y)\nA+=(--z)\nrun "${A[@]}" end'
    assert commands(written) == [["run", "--x", "1 2", "--y", "--z", "end"]]


def test_the_place_of_a_word_out_of_a_variable_is_where_it_was_set() -> None:
    written = 'K=4\nrun --n "$K" --m=$K'
    first, value, last = script(written).commands[0].words[1:]
    assert written[first.start :].startswith("--n")
    assert value.start == 2
    assert written[last.start :].startswith("--m")
    assert last.at(4) == 2


@pytest.mark.parametrize(
    ("before", "word"),
    [
        ("", "<$K>"),
        ("K=$(nproc)", "<$K>"),
        ("K=`nproc`", "<$K>"),
        ("K=${OTHER:-4}", "<$K>"),
        ("K=a-$OTHER", "<a-$OTHER>"),
        ("K=3", "3"),
        ("export K=3", "3"),
        ("K=3; K=4", "4"),
        ("K=3\nunset K", "<$K>"),
        ("read K", "<$K>"),
        ("if true; then K=3; fi", "<$K>"),
        ("if x; then K=3; else K=4; fi", "<$K>"),
        ("for K in 1 2; do :; done", "<$K>"),
        ("while x; do K=1; done", "<$K>"),
        ("case x in a) K=1;; esac", "<$K>"),
        ("f() { K=3; }", "<$K>"),
        ("(K=3)", "<$K>"),
        ("[ -n x ] && K=3", "<$K>"),
        ("K=3 || true", "3"),
        ("true || K=3", "<$K>"),
        ("cd /x && K=3", "3"),
    ],
)
def test_a_variable_is_known_where_the_script_sets_it_for_sure(before: str, word: str) -> None:
    assert commands(f"{before}\nrun $K")[-1] == ["run", word]


def test_inside_a_branch_its_own_assignment_counts() -> None:
    written = "if x; then\n  K=3\n  run $K\nelse\n  run $K\nfi"
    assert [words for words in commands(written) if words[0] == "run"] == [["run", "3"], ["run", "<$K>"]]


def test_defaults_count_only_where_the_variable_is_set() -> None:
    assert commands("K=3\nrun ${K:-4} ${K-4} ${K:?no} ${K:+5}") == [["run", "3", "3", "3", "<${K:+5}>"]]
    assert commands("K=\nrun ${K:-4} ${K-4} end") == [["run", "<${K:-4}>", "end"]]


def test_the_environment_is_what_is_exported_or_set_for_the_command() -> None:
    written = "A=1\nexport B=2\nC=3 run\nexport A\nset -a\nD=4\nlast"
    first, last = script(written).commands
    assert {name: item.value.value for name, item in first.environment.items()} == {"B": "2", "C": "3"}
    assert {name: item.value.value for name, item in last.environment.items()} == {"A": "1", "B": "2", "D": "4"}
    assert written[last.environment["B"].key :].startswith("B=2")


def test_an_export_that_a_branch_changes_is_unknown() -> None:
    command = script("export A=1\nif x; then A=2; fi\nrun").commands[-1]
    assert not command.environment["A"].value.rendered


@pytest.mark.parametrize(
    ("written", "body"),
    [
        ("K=3\ncat > /run/f.yaml <<END\na: $K\nb: \\$K\nEND\n", "a: 3\nb: $K\n"),
        ("K=3\ncat <<'END' > /run/f.yaml\na: $K\nEND\n", "a: $K\n"),
        ("tee /run/f.yaml <<-END\n\ta: 1\n\tEND\n", "\ta: 1\n"),
        ("cat > /run/f.yaml <<END\nnever ends", "never ends"),
    ],
)
def test_here_documents_become_files(written: str, body: str) -> None:
    files = script(written).files
    assert files["/run/f.yaml"].value == body
    assert written[files["/run/f.yaml"].start :].startswith(body[0])


def test_sourced_files_and_pinned_packages_are_told() -> None:
    found = script(". /etc/env\nsource lib.sh\npip install -U 'vllm[audio]==0.33.0' torch uv==1.0.0rc1\n")
    assert [path.value for path in found.sourced] == ["/etc/env", "lib.sh"]
    assert {name: version.value for name, version in found.packages.items()} == {"vllm": "0.33.0", "uv": "1.0.0rc1"}


@pytest.mark.parametrize(
    "written", ["a " + "$(" * 3000, "'" + "x" * 9000, '"' + "$A" * 3000, "a <<E\n" * 500, "(" * 3000, "`"]
)
def test_what_does_not_end_reaches_to_the_end(written: str) -> None:
    script(written)


def test_values_that_double_stop_to_grow() -> None:
    found = script("A=xx\n" + "A=$A$A\n" * 60 + "run $A")
    assert len(found.commands[-1].words[1].value) < 200_000


def test_commands_are_counted() -> None:
    assert script("a\n" * 6000).cut_off
