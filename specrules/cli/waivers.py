"""`specrules waivers`: who answers for which finding, and until when."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specrules.cli import options
from specrules.cli.main import EXIT_GATE_FAILED, EXIT_OK

if TYPE_CHECKING:
    from specrules.model.finding import WaiverNotice

_VOID = frozenset({"expired", "too-long", "inputs-changed"})


@click.command(name="waivers")
@click.argument("files", nargs=-1, metavar="[CASE|DEPLOYMENT]...")
@options.policy
@options.waivers
@click.option(
    "--case", type=click.Path(path_type=Path), metavar="CASE", help="Numbers for deployments, as for the gate."
)
@click.option(
    "--expiring-in", type=click.IntRange(min=0), metavar="DAYS", help="Also leave with 1 where one expires by then."
)
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.output
@options.now
@options.layers
def command(
    files: tuple[str, ...],
    policy: str | None,
    waivers: Path | None,
    case: Path | None,
    expiring_in: int | None,
    format_name: str,
    output: Path | None,
    now: datetime | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> int:
    """List the waivers, with how long each still holds. With files, also which of them are used.

    Leaves with 1 where one covers nothing any more: it is expired, reaches further ahead than the policy allows, or is
    bound to other inputs.

    \b
    Examples:
      specrules waivers --expiring-in 30
      specrules waivers deploy/*.yaml
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import write
    from specrules.pipeline.gate import gate
    from specrules.report.gate.text import waiver_text

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates, policy=policy)
    moment = now or datetime.now(UTC)
    report = gate(files, catalog=catalog, waivers=waivers, case=case, now=moment, every_waiver=True)
    if format_name == "json":
        shown = [notice.model_dump(mode="json") for notice in report.waivers]
        write(json.dumps({"schema": 1, "waivers": shown}, indent=2, ensure_ascii=False), output)
    else:
        write("\n".join(map(waiver_text, report.waivers)) or "no waivers", output)
    return EXIT_GATE_FAILED if any(_fails(notice, expiring_in) for notice in report.waivers) else EXIT_OK


def _fails(notice: WaiverNotice, expiring_in: int | None) -> bool:
    return notice.state in _VOID or (expiring_in is not None and notice.days_left <= expiring_in)
