"""`specrules measure`: running servers, measured as their clients see them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specrules.cli import options
from specrules.cli.main import EXIT_COULD_NOT_JUDGE, EXIT_OK
from specrules.errors import UsageError

if TYPE_CHECKING:
    from specrules.live.measuring import Progress
    from specrules.pipeline.measuring import Measured

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}


@click.command(name="measure")
@click.argument("arms", nargs=-1, required=True, metavar="[ARM=]URL...")
@click.option("--on-off", is_flag=True, help="Also measure drafting off, where requests can ask for it.")
@click.option(
    "--drafter", metavar="NAME", help="Also measure the drafter NAME as candidate, where requests can choose."
)
@options.prompts
@click.option(
    "--requests", type=click.IntRange(1, 100_000), default=24, show_default=True, help="To each arm, at most."
)
@click.option("--max-tokens", type=click.IntRange(1, 32_768), default=128, show_default=True, help="Of one answer.")
@click.option("--temperature", type=click.FloatRange(0, 5), default=0.0, show_default=True)
@click.option("--concurrency", default="1", show_default=True, metavar="N,..", help="Requests at once, level by level.")
@click.option(
    "--warm-up", type=click.IntRange(0, 100), default=1, show_default=True, help="Requests that do not count."
)
@click.option("--repeats", type=click.IntRange(1, 100), default=1, show_default=True, help="Of each prompt, at most.")
@click.option("--budget", metavar="TIME|N", help="An end: 90s, 5m or 1h, or a number of requests in all.")
@click.option(
    "--all", "everything", is_flag=True, help="Send all requests, however early the interval is narrow enough."
)
@click.option("--no-metrics", is_flag=True, help="Do not read the server's counters around each request.")
@click.option("--case", "case_file", type=click.Path(path_type=Path), metavar="CASE", help="What the result is for.")
@click.option("--engine", metavar="ID", help="The engine, where it is not to be recognised.")
@click.option(
    "--endpoint", metavar="ID", help="How to ask, of the ways that the engine's file knows; by default the first."
)
@click.option("--model", metavar="NAME", help="The model to ask for; by default the first that the server lists.")
@click.option("--append", is_flag=True, help="Add to a samples file that exists.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    default=Path("samples.jsonl"),
    show_default=True,
    help="Where the raw samples go, line by line.",
)
@options.access
@options.layers
def command(
    arms: tuple[str, ...],
    on_off: bool,
    drafter: str | None,
    tasks: str | None,
    files: tuple[Path, ...],
    requests: int,
    max_tokens: int,
    temperature: float,
    concurrency: str,
    warm_up: int,
    repeats: int,
    budget: str | None,
    everything: bool,
    no_metrics: bool,
    case_file: Path | None,
    engine: str | None,
    endpoint: str | None,
    model: str | None,
    append: bool,
    format_name: str,
    output: Path,
    token_env: str,
    allow_private_redirects: bool,
    timeout: float,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> int:
    """Measure servers as their clients see them: rate, time to the first token, tokens per round, round time.

    One URL is what runs today. A second one is the candidate, and both get the same prompts in turns; or say whose a
    URL is: incumbent=, off= (drafting off), candidate=, drafter= (served alone). At temperature 0 the answers are
    compared. The raw samples are evidence: a case names the file, or specrules read shows it. Leaves with 2 where a
    server was lost on the way; what was measured until then is kept and shown.

    \b
    Examples:
      specrules measure http://localhost:8080
      specrules measure http://localhost:8080 http://localhost:8081 --budget 5m -o pair.jsonl
      specrules measure http://localhost:8731 --on-off --tasks code,code-edit
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import write
    from specrules.live.measuring import Settings
    from specrules.pipeline.measuring import Plan, named_arms, run_plan
    from specrules.pipeline.servers import Access

    seconds, count = _budget(budget)
    settings = Settings(
        requests=requests,
        max_tokens=max_tokens,
        temperature=temperature,
        warm_up=warm_up,
        repeats=repeats,
        concurrency=_levels(concurrency),
        budget_s=seconds,
        budget_requests=count,
        own_prompts=bool(files),
        reads_counters=not no_metrics,
        stops_early=not everything,
    )
    plan = Plan(
        named_arms(arms, on_off=on_off, drafter=drafter),
        settings,
        tasks=tuple(part.strip() for part in tasks.split(",")) if tasks else (),
        files=files,
        engine=engine,
        endpoint=endpoint,
        model=model,
        case=_case(case_file),
    )
    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    access = Access(token_env, allow_private_redirects, silent_s=timeout, total_s=max(600.0, timeout))
    try:
        measured = run_plan(
            plan,
            output,
            append=append,
            access=access,
            catalog=catalog,
            say=lambda text: click.echo(text, err=True),
            show=_bar,
        )
    except KeyboardInterrupt:
        if output.exists():
            click.echo(f"\nwhat was measured until now is kept in {output}: specrules read {output}", err=True)
        raise
    if sys.stderr.isatty():
        click.echo(err=True)
    write(_json(measured) if format_name == "json" else _text(measured, output))
    if measured.run.lost is not None:
        kept = f"{len(measured.run.samples)} samples are kept in {output}"
        click.echo(f"the server of {measured.run.lost} was lost: {measured.run.why}; {kept}", err=True)
        return EXIT_COULD_NOT_JUDGE
    return EXIT_OK if measured.reading is not None else EXIT_COULD_NOT_JUDGE


def _case(path: Path | None) -> Any:
    if path is None:
        return None
    from specrules.catalog.case import load_case

    return load_case(path).case


def _budget(text: str | None) -> tuple[float | None, int | None]:
    """Return a budget as seconds or as a number of requests."""
    if text is None:
        return None, None
    found = _SPAN.fullmatch(text.strip())
    if found:
        return float(found[1]) * _SECONDS[found[2]], None
    if text.strip().isdigit() and int(text) > 0:
        return None, int(text)
    raise UsageError(f"--budget {text!r} is neither a time such as 90s, 5m or 1h nor a number of requests")


def _levels(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and 0 < int(part) <= 1024 for part in parts):
        raise UsageError(f"--concurrency {text!r} is no list of numbers such as 1,2,4")
    return tuple(dict.fromkeys(int(part) for part in parts))


def _bar(progress: Progress) -> None:
    """Show how far the run is, with the interval of the moment: on a terminal in one line, else at every look."""
    text = f"{progress.done}/{progress.steps} at concurrency {progress.concurrency}"
    if progress.look is not None:
        text += "".join(f"  {part}" for part in _intervals(progress.look))
    if sys.stderr.isatty():
        click.echo("\r\x1b[K" + text[: _width()], nl=False, err=True)
    elif progress.done == progress.steps or progress.done % 8 == 0:
        click.echo(text, err=True)


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns - 1


def _intervals(look: Any) -> list[str]:
    parts = []
    for name, rate in look.rates.items():
        tokens = look.tokens_per_round[name]
        if rate is not None:
            accepted = "" if tokens is None else f", A {tokens.mid:.2f} ({tokens.low:.2f} to {tokens.high:.2f})"
            parts.append(f"{name} {rate.mid:.3g} tok/s ({rate.low:.3g} to {rate.high:.3g}{accepted})")
    parts += [
        f"{item.arm} x{item.ratio.mid:.3f} ({item.ratio.low:.3f} to {item.ratio.high:.3f})"
        for item in look.standings
        if item.ratio is not None
    ]
    return parts


def _text(measured: Measured, path: Path) -> str:
    from specrules.pipeline.measured_text import measured_lines

    return "\n".join(measured_lines(measured, path))


def _json(measured: Measured) -> str:
    run, reading = measured.run, measured.reading
    data = {
        "schema": 1,
        "ended": run.ended,
        "lost": run.lost,
        "why": run.why,
        "requests": len(run.samples),
        "failed": sum(bool(item.error) for item in run.samples),
        "comparisons": [
            {
                "concurrency": level,
                "arm": item.arm,
                "side": item.side,
                "ratio": None
                if item.ratio is None
                else {"low": item.ratio.low, "mid": item.ratio.mid, "high": item.ratio.high},
            }
            for level, look in run.looks.items()
            for item in look.standings
        ],
        "facts": [] if reading is None else [fact.model_dump(mode="json") for fact in reading.facts.values()],
        "notes": [] if reading is None else [problem.message for problem in reading.warnings],
    }
    return json.dumps(data, indent=2, ensure_ascii=False)
