"""Files by name and content, and files that want to take more than a file may."""

from __future__ import annotations

from pathlib import Path

import pytest

from specrules.evidence.deployments import read_launches, read_launches_text
from tests.unit.evidence.deployments.build import read, words


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("run", "#!/bin/sh\nx\n", "shell"),
        ("run.sh", "x", "shell"),
        ("unit", "[Unit]\nA=b\n[Service]\nExecStart=/x\n", "systemd"),
        ("10-override.conf", "[Service]\nExecStart=/x\n", "systemd"),
        ("x.container", "[Container]\nImage=i\n", "systemd"),
        ("Dockerfile", "FROM i\n", "dockerfile"),
        ("api.Dockerfile", "FROM i\n", "dockerfile"),
        ("build", "# comment\nARG V=1\nFROM i\n", "dockerfile"),
        ("models.ini", "[a]\nb = 1\n", "preset"),
        ("models", "[a]\nb = 1\n", "preset"),
        ("k.json", '{"apiVersion": "v1", "kind": "Pod", "spec": {}}', "kubernetes"),
        ("k", '{"a": 1}', "config"),
        ("c.yaml", "services: {a: {image: i}}", "compose"),
        ("c", "services:\n  a: {image: i}\n", "compose"),
        ("s.yml", "models: {a: {cmd: x}}", "llama-swap"),
        ("x.yaml", "a: 1", "config"),
        ("-", "llama-server -m x", "shell"),
    ],
)
def test_the_kind_of_a_file(name: str, content: str, kind: str) -> None:
    reading = read_launches_text(content, name)
    assert (reading.format, reading.problems) == (kind, ())


def test_a_format_may_be_named() -> None:
    assert [launch.format for launch in read_launches_text("x --a", "notes.txt", "shell").launches] == ["shell"]
    (problem,) = read_launches_text("x", "f", "toml").problems
    assert problem.message == "no deployment format 'toml'"


def test_a_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"\xef\xbb\xbfllama-server \xc3\xa9 --x\n")
    (launch,) = read_launches(path).launches
    assert words(launch) == ["llama-server", "é", "--x"]
    assert (launch.command[2].place.path, launch.command[2].place.column) == (str(path), 16)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "the file is empty"),
        (b"a\0b", "the file is binary: it holds a NUL byte here"),
        (b"x" * ((1 << 20) + 1), "larger than 1 MiB"),
    ],
)
def test_what_cannot_be_read_is_a_value(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_bytes(content)
    reading = read_launches(path)
    assert [problem.message for problem in reading.problems] == [message]
    assert all(problem.where is not None and problem.where.path == str(path) for problem in reading.problems)
    assert reading.launches == ()


def test_a_broken_document_does_not_stop_those_before_it() -> None:
    pod = "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c, image: i, args: [--a]}]}\n"
    reading = read(f"{pod}---\na: [\n", "k.yaml")
    assert len(reading.launches) == 1
    assert [(problem.where.line, problem.where.column) for problem in reading.problems if problem.where] == [(6, 1)]


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("a.sh", "x\n" * 1100, "more than 1000 commands: split the file"),
        ("a.sh", "x " * 5001, "a command with more than 5000 words"),
        ("a.yaml", "\n".join(f"k{i}: 1" for i in range(5100)), "a configuration of more than 5000 values"),
        ("p.ini", "".join(f"[s{i}]\n" for i in range(1100)), "more than 1000 sections: split the file"),
        ("p.ini", "[s]\n" + "".join(f"k{i} = 1\n" for i in range(1100)), "a section of more than 1000 entries"),
        ("a.json", "[" * 200, "nested deeper than 64 levels"),
    ],
)
def test_files_have_limits(path: str, content: str, message: str) -> None:
    assert [problem.message for problem in read_launches_text(content, path).problems] == [message]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.sh", "A=xx\n" + "A=$A$A\n" * 3000 + "run $A"),
        ("a.sh", "A=()\n" + "A+=(x y)\n" * 3000 + 'run "${A[@]}"\n' * 50),
        ("a.sh", "bash -c 'bash -c \"bash -c x\"';" * 300),
        ("a.yaml", "a0: &a [x]\n" + "".join(f"a{i}: &a [*a, *a]\n" for i in range(60))),
        (
            "s.yaml",
            "macros: {"
            + ", ".join(f"m{i}: '{f'${{m{i + 1}}} ' * 30}'" for i in range(6))
            + "}\nmodels: {a: {cmd: '${m0}'}}",
        ),
        ("c.yml", "services:\n" + "".join(f"  s{i}: {{image: x, extends: s{i + 1}}}\n" for i in range(500))),
        ("u.service", "[Service]\n" + "Environment=A=${A}${A}x\n" * 3000 + "ExecStart=/x $A\n"),
        ("Dockerfile", "FROM i\n" + "ENV A=x$A$A\n" * 1000 + 'CMD ["x"]\n'),
        ("k.yaml", "{{" * 20_000),
        ("x.sh", "run " + "x://" + "a" * 20_000 + ":" * 20_000),
    ],
)
def test_files_that_want_to_grow_end(path: str, content: str) -> None:
    reading = read_launches_text(content, path)
    assert sum(len(word.text) for launch in reading.launches for word in launch.command) < 3_000_000
