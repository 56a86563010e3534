"""Two running servers to an estimate of acceptance: tokenizers first, then the drafts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.catalogue import Catalog
from specrules.catalog.prompts import Ask, from_files, shipped
from specrules.economics.interval import Interval
from specrules.errors import EvidenceError, Location, Problem, UsageError
from specrules.pipeline.servers import Access, engines_of, opened

if TYPE_CHECKING:
    from specrules.live.agreement import Agreement, Side

SAME = frozenset({"identical", "identical_ids_pre_differs", "prefix_padding_only", "prefix_added_tokens"})
"""Classes of a pair of tokenizers in which an id that both have means the same."""

MODEL_FILE = "engine.model_file"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pair:
    """What shall be compared, and how much of it."""

    target: str
    drafter: str
    draft_length: int = 4
    prompts: int = 16
    max_tokens: int = 96
    cuts: int = 8
    seed: int = 0
    temperature: float = 0.0
    tasks: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    engine: str | None = None
    drafter_engine: str | None = None
    model: str | None = None
    drafter_model: str | None = None
    tokenizers: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Agreed:
    """The agreement, of which tasks it is, how the tokenizers were compared, and how much may be lost in an engine."""

    agreement: Agreement
    tokenizers: str
    bias: float
    target: str
    drafter: str
    tasks: tuple[str, ...] = ()

    @property
    def expected(self) -> Interval[float]:
        """Tokens per round on such prompts: from the shaded low end to the high end as it was found.

        Where there are too few prompts for an interval, from nothing right at all.
        """
        found = self.agreement.tokens_interval()
        high = self.agreement.tokens if found is None else found.high
        low = 1.0 if found is None else max(1.0, found.low / (1 + self.bias))
        return Interval(low, min(max(low, self.agreement.tokens / (1 + self.bias)), high), high)


def agree(
    pair: Pair,
    *,
    access: Access | None = None,
    catalog: Catalog | None = None,
    say: Say = lambda _: None,
    show: Callable[[int, int, Agreement], None] = lambda *_: None,
) -> Agreed:
    """Say how often the drafter's guesses are the target's tokens.

    EvidenceError where the tokenizers differ, since ids then mean other texts; LiveError for servers, UsageError for
    engines that cannot be asked this way.
    """
    from specrules.live.agreement import BIAS_GREEDY, BIAS_SAMPLED, Agreement, guesses_for

    catalog = catalog or Catalog.load()
    asks = (from_files(pair.files) if pair.files else shipped(pair.tasks))[: pair.prompts]
    with ExitStack() as stack:
        opening = _Opening(access or Access(), catalog, stack, say)
        target = opening.side(pair.target, pair.engine, pair.model)
        drafter = opening.side(pair.drafter, pair.drafter_engine or pair.engine, pair.drafter_model)
        tokenizers = _tokenizers(pair, target, drafter, asks)
        each = "1 request" if drafter.serving.score is not None else f"{pair.cuts} small requests, one at a time"
        say(f"up to {len(asks)} prompts: {pair.max_tokens} tokens of the target at most, and the drafter gets {each}")
        found = Agreement(pair.draft_length, ())
        for index, ask in enumerate(asks, start=1):
            more = guesses_for(
                target,
                drafter,
                ask,
                draft_length=pair.draft_length,
                max_tokens=pair.max_tokens,
                cuts=pair.cuts,
                seed=pair.seed,
            )
            found = Agreement(pair.draft_length, (*found.guesses, more))
            show(index, len(asks), found)
    if not found.drafts:
        raise EvidenceError(
            Problem("the target's answers are shorter than a draft: nothing was compared", Location(pair.target))
        )
    bias = BIAS_SAMPLED if pair.temperature > 0 else BIAS_GREEDY
    tasks = tuple(dict.fromkeys(ask.task for ask in asks))
    return Agreed(found, tokenizers, bias, target.server.place, drafter.server.place, tasks)


def case_lines(agreed: Agreed, observed_at: datetime) -> tuple[str, ...]:
    """Return the acceptance as a case states it."""
    expected, found = agreed.expected, agreed.agreement
    moment = observed_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    source = (
        f"greedy agreement over {len(found.guesses)} prompts{of_tasks(agreed)}, not a run that drafted; "
        f"the low end is shaded by {agreed.bias:.0%}"
    )
    return (
        "measurements:",
        "  acceptance:",
        "    kind: tokens_per_round",
        f"    draft_length: {found.draft_length}",
        f"    low: {expected.low:.4g}",
        f"    high: {expected.high:.4g}",
        "    provenance_kind: measured",
        f'    source: "{source}"',
        f"    observed_at: {moment}",
    )


def of_tasks(agreed: Agreed) -> str:
    """Return the tasks in words, nothing where they are not known."""
    return f" ({', '.join(agreed.tasks)})" if agreed.tasks else ""


@dataclass(frozen=True, slots=True)
class _Opening:
    """How both servers are opened. They are closed with `stack`."""

    access: Access
    catalog: Catalog
    stack: ExitStack
    say: Say

    def side(self, url: str, engine_id: str | None, model: str | None) -> Side:
        from specrules.live.agreement import Side
        from specrules.live.interview import served_model
        from specrules.live.recognise import recognise

        engines, stated = engines_of(self.catalog, engine_id)
        server = self.stack.enter_context(opened(url, self.access))
        if stated is None:
            self.say(f"asking {server.place} what it is")
        engine = stated or recognise(server, engines).engine
        return Side(server, engine, model or served_model(server, engine))


def _tokenizers(pair: Pair, target: Side, drafter: Side, asks: Sequence[Ask]) -> str:
    """Make sure that ids mean the same on both servers; say how that was done. EvidenceError where they do not."""
    from specrules.live.agreement import ODD_TEXTS, compare_ids

    files = pair.tokenizers or _files(target, drafter)
    if files is not None:
        from specrules.evidence.tokenizers import compare, load_tokenizer

        kind = compare(load_tokenizer(files[0]), load_tokenizer(files[1])).kind
        if kind not in SAME:
            message = f"the tokenizers differ ({kind}): ids mean other texts, and agreement would mean nothing"
            raise EvidenceError(Problem(message, Location(files[1])))
        return f"{kind}, compared id by id"
    texts = [*ODD_TEXTS, *(ask.text for ask in asks)]
    try:
        count, differs = compare_ids(target, drafter, texts)
    except UsageError as error:
        hint = "name the tokenizers' files with --tokenizers TARGET DRAFTER"
        raise UsageError(Problem(error.problems[0].message, hint=hint)) from None
    if differs is not None:
        shown = differs if len(differs) <= 60 else differs[:60] + ".."
        message = f"the tokenizers differ: {shown!r} has other ids than on {target.server.place}"
        raise EvidenceError(Problem(message, Location(drafter.server.place)))
    return f"the same ids on {count} tokens of {len(texts)} texts; the whole vocabularies were not compared"


def _files(target: Side, drafter: Side) -> tuple[str, str] | None:
    """Return the model files that both servers name, where both lie on this machine."""
    from specrules.live.interview import interview

    found = []
    for side in (target, drafter):
        facts = interview(side.server, (side.engine,), "target", stated=side.engine, generates=False).facts
        named = facts.value(MODEL_FILE)
        if not isinstance(named, str) or not Path(named).is_file():
            return None
        found.append(named)
    return found[0], found[1]
