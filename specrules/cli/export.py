"""`specrules export`: a verdict in the form that other programs take."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from specrules.cli import options


@click.group(name="export", cls=options.Group)
def command() -> None:
    """Write a verdict in the form that other programs take.

    \b
    Example:
      specrules export prometheus-rules case.yaml -o speculation.rules.yml
    """


@command.command(name="prometheus-rules")
@click.argument("case", type=click.Path(path_type=Path), metavar="CASE")
@click.option("--window", default="10m", show_default=True, metavar="TIME", help="What rates are taken over.")
@click.option(
    "--for", "patience", default="30m", show_default=True, metavar="TIME", help="How long an alert must hold."
)
@click.option("--selector", default="{}", metavar="MATCHERS", help="Which series, such as '{job=\"llm\"}'.")
@click.option(
    "--by", multiple=True, metavar="LABEL", help="Tell deployments apart by this label.  [default: job, instance]"
)
@click.option(
    "--drop",
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="The loss of expected tokens per round that is worth an alert.",
)
@click.option("--fetch", is_flag=True, help="Ask what the case names by address, as specrules triage does.")
@options.output
@options.now
@options.layers
def prometheus_rules(
    case: Path,
    window: str,
    patience: str,
    selector: str,
    by: tuple[str, ...],
    drop: float,
    fetch: bool,
    output: Path | None,
    now: datetime | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> None:
    """Write recording and alerting rules for the candidate of CASE once it is deployed.

    They watch whether it drafts at all, whether its tokens per round stay above the break-even against what ran before,
    and whether acceptance falls below what the verdict rests on. The names of metrics are those of the engine's file.

    \b
    Examples:
      specrules export prometheus-rules case.yaml -o speculation.rules.yml
      specrules export prometheus-rules case.yaml --selector '{namespace="llm"}' --by pod | promtool check rules
    """
    from specrules.catalog.case import load_case
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.fetching import web
    from specrules.cli.writing import write
    from specrules.pipeline.alerting import Watching, watch
    from specrules.report.prometheus_rules import prometheus_rules as written

    moment = now or datetime.now(UTC)
    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    watching = Watching(window, patience, selector, by or ("job", "instance"), drop)
    sources = web() if fetch else None
    found = watch(load_case(case), catalog=catalog, watching=watching, now=moment, sources=sources)
    write(written(found, catalog.template_folders, moment), output)
