"""What one measured request says: its own counts, by the engine's readers, beside what the client timed."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

from specrules.errors import UserError
from specrules.evidence.readers.reading import read_text
from specrules.evidence.source import Source
from specrules.model.engine import Engine
from specrules.model.fact import Facts
from specrules.model.sample import Sample

_SAME = 0.5
_REPEATED = 0.25
_LONG = 200


@dataclass(frozen=True, slots=True)
class Request:
    """The counts of one request. None is unknown. `disturbed`: others were served meanwhile; counters say nothing."""

    prompt: str
    tokens: float | None
    decode_ms: float | None
    first_ms: float | None
    prompt_tokens: float | None = None
    prompt_ms: float | None = None
    drafting: bool | None = None
    drafted: float | None = None
    accepted: float | None = None
    rounds: float | None = None
    passes: float | None = None
    positions: tuple[float, ...] = ()
    own_rate: float | None = None
    draft_length: float | None = None
    disturbed: bool = False
    concurrency: int | None = None
    temperature: float | None = None
    repeats_itself: bool = False
    own_prompt: bool = False

    @property
    def rate(self) -> float | None:
        """Tokens per second from the first piece of text to the last, as the client saw it."""
        if self.tokens is None or self.decode_ms is None or self.tokens < 2 or self.decode_ms <= 0:
            return None
        return (self.tokens - 1) * 1000 / self.decode_ms

    @property
    def tokens_per_round(self) -> float | None:
        """A of this request's drafting rounds."""
        return None if self.accepted is None or not self.rounds else 1 + self.accepted / self.rounds


def request_of(sample: Sample, engine: Engine) -> Request:
    """Return the counts of a sample, from its response and, where it lacks them, from the counters around it."""
    own = _read(sample, engine)
    around, disturbed = _around(sample, engine, own.number("tokens"))

    def number(name: str) -> float | None:
        value = own.number(name)
        return around.number(name) if value is None else value

    accepted, tokens = number("accepted"), number("tokens")
    passes = number("target_passes")
    if passes is None and tokens is not None and accepted is not None and tokens >= 2:
        passes = tokens - 1 - accepted
    drafting = own.value("drafting")
    if drafting is None:
        drafting = around.value("drafting")
    shares, rounds = around.value("position_acceptance") or own.value("position_acceptance"), number("rounds")
    counted = tuple(share * rounds for share in shares) if isinstance(shares, tuple) and rounds else ()
    return Request(
        prompt=sample.prompt,
        tokens=tokens,
        decode_ms=sample.decode_ms,
        first_ms=sample.first_ms,
        prompt_tokens=number("prompt_tokens"),
        prompt_ms=own.number("prompt_ms"),
        drafting=drafting if isinstance(drafting, bool) else None,
        drafted=number("drafted"),
        accepted=accepted,
        rounds=rounds,
        passes=passes,
        positions=counted,
        own_rate=own.number("rate_tok_s"),
        draft_length=number("draft_length"),
        disturbed=disturbed,
        concurrency=sample.concurrency,
        temperature=sample.temperature,
        repeats_itself=repeats_itself(sample.text),
        own_prompt=sample.own_prompts,
    )


def repeats_itself(text: str) -> bool:
    """Tell whether a text is one passage over and over, as small models end up writing."""
    data = text.encode()
    return len(data) >= _LONG and len(zlib.compress(data, 9)) < _REPEATED * len(data)


def _read(sample: Sample, engine: Engine) -> Facts:
    if not sample.response:
        return Facts()
    try:
        return read_text(Source("response", json.dumps(sample.response)), engine).facts
    except UserError:
        # No reader of this engine knows the answer: then it holds no counts.
        return Facts()


def _around(sample: Sample, engine: Engine, tokens: float | None) -> tuple[Facts, bool]:
    """Return what the server counted during a request. Nothing where it served others as well, or may have."""
    if not sample.metrics_before or not sample.metrics_after or sample.concurrency > 1:
        return Facts(), False
    try:
        before, after = Source("metrics before", sample.metrics_before), Source("metrics after", sample.metrics_after)
        reading = read_text(after, engine, before=before)
    except UserError:
        return Facts(), False
    if reading.is_idle:
        return Facts(), False
    seen, requests = reading.facts.number("tokens"), reading.facts.number("requests")
    if tokens is not None and seen is not None and abs(seen - tokens) > _SAME:
        return Facts(), True
    if requests is not None and requests > 1 + _SAME:
        return Facts(), True
    if tokens is None and requests is None:
        return Facts(), True
    return reading.facts, False
