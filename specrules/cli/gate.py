"""`specrules gate`: cases and deployments against a policy, for CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specrules.cli import options
from specrules.cli.main import EXIT_COULD_NOT_JUDGE, EXIT_GATE_FAILED, EXIT_OK
from specrules.errors import UsageError

if TYPE_CHECKING:
    from specrules.model.finding import GateOutcome, GateReport

STDOUT = "-"
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_LONGEST_SUMMARY = 1 << 20
_LINE_BY_LINE = frozenset({"text", "github"})
"""Formats that go to one log together; all others are documents."""


@click.command(name="gate")
@click.argument("files", nargs=-1, required=True, metavar="CASE|DEPLOYMENT...")
@options.policy
@options.waivers
@click.option(
    "--case",
    type=click.Path(path_type=Path),
    metavar="CASE",
    help="Numbers for the deployments that have no NAME.specrules.yaml beside them.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    metavar="FORMAT=FILE",
    help="text, json, sarif, junit, github, gitlab or md to a file, - for stdout. Repeatable; text goes to stdout "
    "unless something else does.",
)
@click.option(
    "--fetch",
    is_flag=True,
    help="Read what cases name by http(s) address: models' headers, and Prometheus servers. Else nothing is.",
)
@options.now
@options.layers
def command(
    files: tuple[str, ...],
    policy: str | None,
    waivers: Path | None,
    case: Path | None,
    outputs: tuple[str, ...],
    fetch: bool,
    now: datetime | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> int:
    """Judge cases and deployments by a policy. Leaves with 0 where they pass, with 1 where one fails, and with 2 where
    something could not be judged; the others are judged all the same.

    A deployment is a shell script, a systemd unit, a Dockerfile, a compose file, a Kubernetes manifest or rendered
    chart (- reads stdin), a preset or configuration of an engine.

    \b
    Examples:
      specrules gate deploy/llm.yaml
      specrules gate deploy/*.yaml --policy strict -o sarif=gate.sarif -o junit=gate.xml
      helm template llm ./chart | specrules gate - --case llm.specrules.yaml
    """
    targets = _targets(outputs, files)
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import progress
    from specrules.pipeline.gate import gate

    sources = None
    if fetch:
        from specrules.cli.fetching import web

        sources = web()

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates, policy=policy)
    report = gate(files, catalog=catalog, waivers=waivers, case=case, now=now, progress=progress, sources=sources)
    _write(report, targets, catalog.template_folders)
    return exit_code(report.outcome)


def exit_code(outcome: GateOutcome) -> int:
    """The only place where what the gate says becomes an exit code: an error outranks a failure, warnings pass."""
    return {"fail": EXIT_GATE_FAILED, "error": EXIT_COULD_NOT_JUDGE}.get(outcome, EXIT_OK)


@dataclass(frozen=True)
class _Targets:
    """Where each format goes."""

    files: Mapping[Path, str]
    stdout: Sequence[str]


def _targets(outputs: Sequence[str], inputs: Sequence[str]) -> _Targets:
    """Read `FORMAT=FILE`; a format alone goes to stdout. UsageError for what would be lost or mixed up."""
    from specrules.report.gate import FORMATS
    from specrules.report.gate.formats import known_format

    files: dict[Path, str] = {}
    stdout: list[str] = []
    taken = {os.path.realpath(name): f"it is one of the files to judge: {name}" for name in inputs if name != STDOUT}
    for output in outputs:
        name, separator, target = output.partition("=")
        known_format(name)
        if separator and not target:
            raise UsageError(f"-o {output}: expected FORMAT=FILE, such as sarif=gate.sarif")
        if not separator or target == STDOUT:
            stdout.append(name)
            continue
        real = os.path.realpath(target)
        if real in taken:
            raise UsageError(f"-o {output}: cannot be written, {taken[real]}")
        taken[real] = f"{name} goes there already"
        files[Path(target)] = name
    if len(set(stdout)) < len(stdout) or (len(stdout) > 1 and not _LINE_BY_LINE.issuperset(stdout)):
        raise UsageError(f"{' and '.join(stdout)} cannot share stdout: send all but one to files, as FORMAT=FILE")
    if not stdout and "text" not in files.values():
        stdout.append(next(iter(FORMATS)))
    return _Targets(files, stdout)


def _write(report: GateReport, targets: _Targets, templates: Sequence[object]) -> None:
    """Write every format: all are rendered before the first is written, and files come before stdout."""
    from dataclasses import replace

    from specrules.cli.writing import append, write, write_files
    from specrules.report.gate import Options, render_gate
    from specrules.report.gate.text import error_text

    plain = Options(base=_base(), templates=templates)  # type: ignore[arg-type]
    coloured = replace(plain, colour=_wants_colour())
    files = {path: render_gate(report, name, plain) for path, name in targets.files.items()}
    shown = [render_gate(report, name, coloured) for name in targets.stdout]
    summary = os.environ.get(STEP_SUMMARY, "")
    wanted = summary and "github" in {*targets.stdout, *targets.files.values()}
    page = render_gate(report, "md", plain) if wanted else ""
    write_files(files)
    if wanted:
        append(page if len(page.encode()) < _LONGEST_SUMMARY else render_gate(report, "text", plain), Path(summary))
    if "text" not in targets.stdout:
        for error in report.errors:
            click.echo(error_text(error), err=True)
    if shown:
        write("".join(shown))


def _wants_colour() -> bool:
    """Whether stdout is a terminal and the user has nothing against colours (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _base() -> str:
    """The current folder as seen from the root of its repository, with `/`; empty at the root and outside of one."""
    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    found = here.relative_to(root).as_posix()
    return "" if found == "." else found
