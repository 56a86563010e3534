"""`specrules agree`: an estimate of acceptance from two servers."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specrules.cli import options
from specrules.templating import num

if TYPE_CHECKING:
    from specrules.economics.interval import Interval
    from specrules.live.agreement import Agreement
    from specrules.pipeline.agreeing import Agreed


@click.command(name="agree")
@click.argument("target", metavar="TARGET")
@click.argument("drafter", metavar="DRAFTER")
@click.option("--draft-length", type=click.IntRange(1, 64), default=4, show_default=True, help="Tokens of a draft (K).")
@click.option("--number", type=click.IntRange(1, 10_000), default=16, show_default=True, help="Prompts, at most.")
@click.option(
    "--max-tokens", type=click.IntRange(2, 4096), default=96, show_default=True, help="Of the target's answer."
)
@click.option(
    "--cuts",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="Drafts per prompt, where the drafter cannot score a whole text.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses where the drafts begin.")
@click.option(
    "--temperature",
    type=click.FloatRange(0, 5),
    default=0.0,
    show_default=True,
    help="Of the workload: above 0 the low end is shaded more.",
)
@options.prompts
@click.option(
    "--tokenizers",
    nargs=2,
    metavar="TARGET DRAFTER",
    help="Tokenizer or model files to compare, where servers cannot tokenise.",
)
@click.option("--engine", metavar="ID", help="The engine of both, where it is not to be recognised.")
@click.option("--drafter-engine", metavar="ID", help="The drafter's engine, where it is another one.")
@click.option("--model", metavar="NAME", help="The model to ask the target for.")
@click.option("--drafter-model", metavar="NAME", help="The model to ask the drafter's server for.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.access
@options.output
@options.now
@options.layers
def command(
    target: str,
    drafter: str,
    draft_length: int,
    number: int,
    max_tokens: int,
    cuts: int,
    seed: int,
    temperature: float,
    tasks: str | None,
    files: tuple[Path, ...],
    tokenizers: tuple[str, str] | None,
    engine: str | None,
    drafter_engine: str | None,
    model: str | None,
    drafter_model: str | None,
    format_name: str,
    token_env: str,
    allow_private_redirects: bool,
    timeout: float,
    output: Path | None,
    now: datetime | None,
    engines: tuple[Path, ...],
    rules: tuple[Path, ...],
    templates: tuple[Path, ...],
) -> None:
    """Say how often a drafter's guesses are the target's own tokens, from two servers that run.

    The target answers prompts greedily; the drafter, served alone, is asked what it would have written from points on
    the way. This is what drafting would accept on these prompts at best: engines that sample or cut drafts short
    accept less, so that the low end is shaded by 15 %, and by 30 % above temperature 0. Prompts of another kind can
    accept more or less: --prompts takes your own. Refused where the tokenizers differ.

    \b
    Examples:
      specrules agree http://localhost:8080 http://localhost:8081
      specrules agree http://big:8000 http://small:8000 --draft-length 7 --tasks code
    """
    from specrules.catalog.catalogue import Catalog
    from specrules.cli.writing import write
    from specrules.pipeline.agreeing import Pair, agree
    from specrules.pipeline.servers import Access

    pair = Pair(
        target,
        drafter,
        draft_length=draft_length,
        prompts=number,
        max_tokens=max_tokens,
        cuts=cuts,
        seed=seed,
        temperature=temperature,
        tasks=tuple(part.strip() for part in tasks.split(",")) if tasks else (),
        files=files,
        engine=engine,
        drafter_engine=drafter_engine,
        model=model,
        drafter_model=drafter_model,
        tokenizers=tokenizers,
    )
    agreed = agree(
        pair,
        access=Access(token_env, allow_private_redirects, silent_s=timeout, total_s=max(600.0, timeout)),
        catalog=Catalog.load(engines=engines, rules=rules, templates=templates),
        say=lambda text: click.echo(text, err=True),
        show=_bar,
    )
    if sys.stderr.isatty():
        click.echo(err=True)
    moment = now or datetime.now(UTC)
    write(_json(agreed) if format_name == "json" else _text(agreed, moment), output)


def _bar(done: int, of: int, agreement: Agreement) -> None:
    """Show how far it is, with the interval of the moment."""
    interval = agreement.tokens_interval()
    text = f"{done}/{of} prompts, {agreement.drafts} drafts"
    if interval is not None:
        text += f", A {interval.mid:.2f} ({interval.low:.2f} to {interval.high:.2f})"
    if sys.stderr.isatty():
        click.echo("\r\x1b[K" + text, nl=False, err=True)
    elif done == of:
        click.echo(text, err=True)


def _text(agreed: Agreed, moment: datetime) -> str:
    from specrules.pipeline.agreeing import case_lines, of_tasks

    found = agreed.agreement
    shaded = found.tokens / (1 + agreed.bias)
    compared = f"{len(found.guesses)} prompts{of_tasks(agreed)}, {found.drafts} drafts of {found.draft_length} tokens"
    tokens = _with(found.tokens, found.tokens_interval())
    lines = [
        f"{agreed.drafter} guesses for {agreed.target}: {compared}",
        f"  tokens per round (A): {tokens}; shaded by {agreed.bias:.0%}: {num(max(1.0, shaded))}",
        f"  conditional acceptance (p): {_with(found.conditional, found.conditional_interval())}",
        "  right up to position 1, 2, ..: " + ", ".join(f"{share:.3f}" for share in found.positions),
        f"  tokenizers: {agreed.tokenizers}",
        "An estimate for such prompts: engines accept that or less on them, on others more or less. For a case:",
        "",
        *case_lines(agreed, moment),
    ]
    if found.tokens_interval() is None:
        lines.insert(1, "  fewer than 8 prompts gave drafts: no interval, and the low end of the case is 1")
    return "\n".join(lines)


def _with(value: float, interval: Interval[float] | None) -> str:
    return num(value) if interval is None else f"{num(value)} ({num(interval.low)} to {num(interval.high)})"


def _json(agreed: Agreed) -> str:
    found, expected = agreed.agreement, agreed.expected
    data: dict[str, Any] = {
        "schema": 1,
        "target": agreed.target,
        "drafter": agreed.drafter,
        "draft_length": found.draft_length,
        "drafts": found.drafts,
        "basis": "greedy agreement",
        "tasks": list(agreed.tasks),
        "bias": agreed.bias,
        "tokens_per_round": {"value": found.tokens, **_ends(found.tokens_interval())},
        "conditional_acceptance": {"value": found.conditional, **_ends(found.conditional_interval())},
        "position_acceptance": list(found.positions),
        "shaded": {"low": expected.low, "mid": expected.mid, "high": expected.high},
        "tokenizers": agreed.tokenizers,
        "prompts": [{"prompt": item.prompt, "matches": list(item.matches)} for item in found.guesses],
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def _ends(interval: Interval[float] | None) -> dict[str, float | None]:
    return {"low": None, "high": None} if interval is None else {"low": interval.low, "high": interval.high}
