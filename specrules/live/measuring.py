"""A run of measured requests: sent politely, kept line by line, ended once enough is known or the budget is used up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from specrules.catalog.prompts import Ask
from specrules.economics.sampling_error import ENOUGH_REQUESTS
from specrules.evidence.samples.facts import units_of
from specrules.evidence.samples.request import Request, request_of
from specrules.live.counters import Counters
from specrules.live.exchange import exchange
from specrules.live.failures import LiveError
from specrules.live.schedule import Step, Turn, look_points, schedule
from specrules.live.stopping import Look, Rule, look
from specrules.live.target import Target
from specrules.model.sample import Sample

MAX_FAILURES = 3
"""So many failures of an arm in a row end the run: a server that fails is not asked on and on."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is sent, and how much of it at most. A budget ends the run before the prompt that would exceed it."""

    requests: int = 24
    max_tokens: int = 128
    temperature: float = 0.0
    warm_up: int = 1
    repeats: int = 1
    concurrency: tuple[int, ...] = (1,)
    budget_s: float | None = None
    budget_requests: int | None = None
    own_prompts: bool = False
    reads_counters: bool = True
    stops_early: bool = True


@dataclass(slots=True)
class Run:
    """What came of a run. `lost` names the arm whose server was lost and `why`; `ended` says why the run ended."""

    samples: list[Sample] = field(default_factory=list)
    looks: dict[int, Look] = field(default_factory=dict)
    ended: str = ""
    lost: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: steps done of all steps at this concurrency, and the last look at the data."""

    done: int
    steps: int
    concurrency: int
    look: Look | None


Keep = Callable[[Sample], None]
Show = Callable[[Progress], None]


class Measuring:
    """One run over some targets. `keep` gets every sample as soon as it is there, `show` how far the run is."""

    def __init__(
        self,
        targets: Sequence[Target],
        prompts: Sequence[Ask],
        settings: Settings,
        rule: Rule,
        *,
        keep: Keep = lambda _: None,
        show: Show = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run = Run()
        self._targets, self._prompts, self._settings, self._rule = tuple(targets), tuple(prompts), settings, rule
        self._keep, self._show, self._clock = keep, show, clock
        self._started = clock()
        self._counters = [Counters(item.server, item.engine) for item in self._targets]
        self._failures = [0] * len(self._targets)
        self._seen: list[list[Request]] = []

    def measure(self) -> Run:
        """Send the requests. What was measured before an interruption stays in `run`."""
        for level in self._settings.concurrency:
            self._measure_at(level)
            if self.run.ended or self.run.lost is not None:
                break
        if not self.run.ended and self.run.lost is None:
            self.run.ended = "all requests were sent"
        return self.run

    def _measure_at(self, level: int) -> None:
        settings = self._settings
        steps = list(
            schedule(
                self._prompts,
                len(self._targets),
                requests=settings.requests,
                warm_up=settings.warm_up,
                repeats=settings.repeats,
                concurrency=level,
            )
        )
        self._seen = [[] for _ in self._targets]
        prompts = min(settings.requests, len(self._prompts)) // level * level
        points = look_points(prompts, ENOUGH_REQUESTS)
        rule = replace(self._rule, looks=len(points))
        for index, step in enumerate(steps, start=1):
            if self._is_spent(step):
                return
            for turn in step.turns:
                self._take(turn, level, warm_up=step.warm_up)
                if self.run.lost is not None:
                    return
            found = None
            if not step.warm_up:
                found = look({t.arm: units_of(seen) for t, seen in zip(self._targets, self._seen, strict=True)}, rule)
                self.run.looks[level] = found
            self._show(Progress(index, len(steps), level, found))
            if found is not None and points and found.prompts >= points[0]:
                points = points[1:]
                if found.is_enough and settings.stops_early and index < len(steps):
                    if level == settings.concurrency[-1]:
                        self.run.ended = f"{found.prompts} prompts were enough"
                    return

    def _is_spent(self, step: Step) -> bool:
        """Tell whether the next step would exceed the budget."""
        settings = self._settings
        if settings.budget_s is not None and self._clock() - self._started >= settings.budget_s:
            self.run.ended = f"the budget of {settings.budget_s:g} s is used up"
        elif settings.budget_requests is not None and len(self.run.samples) + step.requests > settings.budget_requests:
            self.run.ended = f"the budget of {settings.budget_requests} requests is used up"
        return bool(self.run.ended)

    def _take(self, turn: Turn, level: int, *, warm_up: bool) -> None:
        """Send the requests of a turn at once and keep what comes."""
        first = len(self.run.samples)
        numbered = [(ask, repeat, first + index) for index, (ask, repeat) in enumerate(turn.asks)]
        if len(numbered) == 1:
            samples = [self._sample(turn.arm, *numbered[0], level, warm_up=warm_up)]
        else:
            with ThreadPoolExecutor(len(numbered)) as pool:
                jobs = [pool.submit(self._sample, turn.arm, *item, level, warm_up=warm_up) for item in numbered]
                samples = [job.result() for job in jobs]
        for sample in samples:
            self.run.samples.append(sample)
            self._keep(sample)
            if not warm_up and not sample.error:
                self._seen[turn.arm].append(request_of(sample, self._targets[turn.arm].engine))
        self._watch(turn.arm, samples)

    def _sample(self, arm: int, ask: Ask, repeat: int, order: int, level: int, *, warm_up: bool) -> Sample:
        target, settings = self._targets[arm], self._settings
        # Counters belong to all requests at once: around one of several they say nothing.
        counts = settings.reads_counters and level == 1
        before = self._counters[arm].read() if counts else ""
        body = target.body(ask, settings.max_tokens, settings.temperature)
        started = datetime.now(UTC)
        found = exchange(target.server, target.generation, body)
        after = self._counters[arm].read(unlike=before) if before and not found.error else ""
        return Sample(
            schema=1,
            what="sample",
            arm=target.arm,
            engine=target.engine.id,
            url=target.server.place,
            endpoint=target.generation.id,
            prompt=ask.id,
            task=ask.task,
            order=order,
            repeat=repeat,
            concurrency=level,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            drafter=None if target.drafter is None else target.drafter.name,
            own_prompts=settings.own_prompts,
            warm_up=warm_up,
            started_at=started,
            chunk_ms=tuple(found.chunk_ms),
            total_ms=round(found.total_ms, 3),
            text=found.text,
            response=found.response,
            metrics_before=before,
            metrics_after=after,
            error=found.error,
        )

    def _watch(self, arm: int, samples: Sequence[Sample]) -> None:
        """Notice a server that is lost: it does not answer any more, or fails again and again."""
        if not samples[-1].error:
            self._failures[arm] = 0
            return
        self._failures[arm] += 1
        target = self._targets[arm]
        if self._failures[arm] >= MAX_FAILURES or not _answers(target):
            self.run.lost, self.run.why = target.arm, samples[-1].error


def _answers(target: Target) -> bool:
    """Tell whether a server is still there, whatever it answers."""
    serving = target.engine.serving
    try:
        target.server.get(serving.health if serving is not None and serving.health else "/")
    except LiveError:
        return False
    return True
