"""What a run measured, as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.model.fact import Fact
from specrules.templating import num

if TYPE_CHECKING:
    from specrules.live.stopping import Standing
    from specrules.pipeline.measuring import Measured

_SHOWN = (
    ("rate_tok_s", "rate from the first token on"),
    ("time_to_first_token_ms", "time to the first token"),
    ("own_rate_tok_s", "the engine's own rate"),
    ("drafting", "drafting"),
    ("tokens_per_round", "tokens per drafting round (A)"),
    ("accepted_ratio", "accepted of drafted (r)"),
    ("mean_draft_length", "drafted per round (K)"),
    ("position_acceptance", "accepted at position 1, 2, .."),
    ("coverage", "share of passes that draft"),
    ("round_ms", "round"),
)
_SIDES = {
    "above": "faster by more than the margin",
    "below": "slower",
    "even": "within twice the margin of it",
    "open": "not settled",
}


def measured_lines(measured: Measured, path: Path) -> Iterator[str]:
    """Yield the lines of a report: a block per arm, the comparison, notes, and where the samples are."""
    run, reading = measured.run, measured.reading
    failed = sum(bool(item.error) for item in run.samples)
    yield f"{len(run.samples)} requests, {failed} failed; {run.ended or 'ended early'}"
    if reading is None:
        errors = [item.error for item in run.samples if item.error]
        yield f"no request succeeded, so nothing is known: {errors[-1] if errors else 'none was sent'}"
        return
    for arm in dict.fromkeys(name.partition(".")[0] for name in reading.facts):
        count = reading.facts.number(f"{arm}.requests")
        yield f"{arm} ({num(count, 'requests')})"
        for name, title in _SHOWN:
            fact = reading.facts.get(f"{arm}.{name}")
            if fact is not None:
                yield f"  {title}: {_value(fact)}"
    for level, look in run.looks.items():
        for item in look.standings:
            yield _standing(item, level, several=len(run.looks) > 1)
    for problem in reading.warnings:
        yield f"note: {problem.message}"
    yield f"samples: {path} (evidence for a case: {{path: {path.name}, arm: ..}}, or specrules read {path})"


def _standing(item: Standing, level: int, *, several: bool) -> str:
    at = f" at concurrency {level}" if several else ""
    if item.ratio is None:
        return f"{item.arm} against the first arm{at}: not enough prompts for an interval"
    low, mid, high = item.ratio.low, item.ratio.mid, item.ratio.high
    return (
        f"{item.arm} against the first arm{at}: {mid:.3f} times its rate ({low:.3f} to {high:.3f}): {_SIDES[item.side]}"
    )


def _value(fact: Fact) -> str:
    value = fact.value
    if isinstance(value, bool):
        return "yes" if value else "no, not one token was drafted"
    if isinstance(value, tuple):
        return ", ".join(f"{share:.3f}" for share in value)
    text = num(value, fact.unit) if isinstance(value, float) else str(value)
    if fact.low is not None and fact.high is not None:
        text += f" ({num(fact.low)} to {num(fact.high)})"
    return text
