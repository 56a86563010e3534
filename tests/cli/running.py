"""Running the command line, in this process or in one of its own, and the smallest documents that it accepts."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from specrules.cli.main import run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SELF_DRAFT = EXAMPLES / "smollm2-self-draft"
NOW = ("--now", "2026-11-29")
ALL_EXAMPLES = tuple(sorted(path for path in EXAMPLES.rglob("*.yaml")))

CASE = """\
schema: 1
title: A small case
target:
  name: big
  kind: dense
  step_ms: 40
drafter:
  name: small
  class: model
  step_ms: {value: 4, kind: measured, source: alone}
engine:
  id: llama.cpp
  version: b11434
  methods: [draft-simple]
incumbent:
  drafting: false
  rate_tok_s: 25
measurements:
  acceptance: {kind: conditional, value: 0.7}
"""

BARE = "schema: 1\ntarget: {name: big}\ndrafter: {name: small, class: model}\nengine: llama.cpp\n"
"""A case of which nothing is known: the fastest to judge."""

RULES = """\
schema: 1
id: ours
part: c
title: Ours
rules:
  - id: quick-drafter
    title: The drafter is quick
    severity: warn
    require: drafter.step_ms < 5
    message: "{{ drafter.step_ms }} ms"
    why: because
    fix: take a quicker one
    since: "0.1"
"""

RULE_CASES = """\
schema: 1
now: 2026-11-29
cases:
  - name: quick
    rule: quick-drafter
    given: {drafter.step_ms: 4.0}
    expect: {outcome: pass, message: 4 ms}
  - name: slow
    rule: quick-drafter
    given: {drafter.step_ms: 6.0}
    expect: {outcome: fail, message: 6 ms}
  - name: unmeasured
    rule: quick-drafter
    given: {}
    expect: {outcome: unknown, message: "? ms", missing: [drafter.step_ms]}
"""

ENGINE = """\
schema: 1
id: ours
title: Ours
description: An engine of our own.
sources:
  - {id: ran, title: we ran it, by: run, on: 2026-11-01}
version: {scheme: dotted, facts_from: "1.0", how_to_find: ask it}
methods:
  - {id: plain, title: Plain, drafter_class: model, draft_device: routable, known: ran}
devices:
  draft_routing: {possible: true, effect: goes anywhere, known: ran}
readers:
  - id: log
    kind: log
    title: its log
    known: ran
    fields:
      tokens: {combine: sum}
    patterns:
      - id: done
        pattern: 'finished after (?P<tokens>\\d+) tokens'
        examples:
          - {line: finished after 5 tokens, fields: {tokens: 5}, source: our machine}
    facts:
      - {fact: tokens, value: tokens, unit: tokens}
"""


@dataclass(frozen=True)
class Ran:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def problems(self) -> list[str]:
        """The messages without source lines and carets."""
        return [line for line in self.err.splitlines() if not line.startswith("    ")]


def cli(*arguments: object) -> Ran:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    assert "Traceback" not in err.getvalue()
    return Ran(code, out.getvalue(), err.getvalue())


def refused(*arguments: object) -> list[str]:
    """Run a command that must end with exit code 2 and nothing on stdout; return its messages."""
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, ""), ran
    assert "internal error" not in ran.err, ran.err
    return ran.problems


def process(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m specrules` from this checkout."""
    return subprocess.run(
        [sys.executable, "-m", "specrules", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=child_environment(**environment),
        timeout=120,
        check=False,
    )


_BYTECODE = tempfile.TemporaryDirectory()
"""Where runs of their own share what they compiled, without writing into the checkout."""


def child_environment(**more: str) -> dict[str, str]:
    """The environment of a run of its own: this checkout first, no layers and no settings of Python from outside."""
    dropped = ("SPECRULES_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": _BYTECODE.name} | more


def put(path: str, text: str | bytes) -> Path:
    """Write a file below the current folder."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def changed(text: str, old: str, new: str) -> str:
    """`text` with one place changed, which must exist once."""
    assert text.count(old) == 1, (text.count(old), old)
    return text.replace(old, new)


def place(text: str, part: str) -> str:
    """`line:column` of a part of a text that occurs once."""
    assert text.count(part) == 1, (text.count(part), part)
    offset = text.index(part)
    line = text.count("\n", 0, offset) + 1
    return f"{line}:{offset - (text.rfind(chr(10), 0, offset) + 1) + 1}"


def imported(*arguments: str) -> set[str]:
    """The modules that a command imports."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "specrules", *arguments],
        capture_output=True,
        text=True,
        env=child_environment(),
        timeout=120,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if re.match(r"import time: +\d", line)}
