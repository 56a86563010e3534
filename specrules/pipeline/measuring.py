"""Measuring running servers: which arms there are, what is sent to them, and where the samples go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, get_args

from specrules.catalog.catalogue import Catalog
from specrules.catalog.prompts import Ask, from_files, shipped
from specrules.economics.interval import Interval
from specrules.errors import Location, Problem, UsageError, did_you_mean
from specrules.model.case import Arm, Case
from specrules.pipeline.servers import Access, engines_of, opened

if TYPE_CHECKING:
    from specrules.evidence.readers.reading import Reading
    from specrules.live.http import Server
    from specrules.live.measuring import Progress, Run, Settings
    from specrules.live.stopping import Rule
    from specrules.live.target import Target
    from specrules.model.sample import Sample

ARMS: tuple[Arm, ...] = get_args(Arm)
_ORDER: tuple[Arm, ...] = ("incumbent", "candidate", "off", "drafter")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Named:
    """An arm as the user named it: its server, and the drafter that its requests ask for.

    With `chooses` the request names a drafter: `drafter`, or where that is None the one that stands for drafting off.
    """

    arm: Arm
    url: str
    drafter: str | None = None
    chooses: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What shall be measured, and how the servers may be asked."""

    arms: tuple[Named, ...]
    settings: Settings
    tasks: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    engine: str | None = None
    endpoint: str | None = None
    model: str | None = None
    case: Case | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A finished run, and what its samples say. `reading` is None where no request succeeded."""

    run: Run
    reading: Reading | None


def named_arms(words: Sequence[str], *, on_off: bool = False, drafter: str | None = None) -> tuple[Named, ...]:
    """Return the arms that words such as `URL` and `candidate=URL` name.

    Words without an arm are the incumbent, then the candidate. `on_off` adds drafting off and `drafter` a candidate,
    both on the first server by what requests ask for. UsageError for an unknown arm, or one that is named twice.
    """
    found: list[Named] = []
    for word in words:
        name, mark, url = word.partition("=")
        if mark and not name.startswith(("http:", "https:")):
            if name not in ARMS:
                message = f"no arm {name!r}; known are {', '.join(ARMS)}"
                raise UsageError(Problem(message, hint=did_you_mean(name, ARMS)))
            arm: Arm = name
        else:
            url, taken = word, {item.arm for item in found}
            arm = next((item for item in _ORDER if item not in taken), "candidate")
        found.append(Named(arm, url))
    if on_off and found:
        found.append(Named("off", found[0].url, chooses=True))
    if drafter is not None and found:
        found.append(Named("candidate", found[0].url, drafter, chooses=True))
    names = [item.arm for item in found]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the arm {name} is named twice")
    return tuple(found)


def prompts_of(plan: Plan) -> tuple[Ask, ...]:
    """Return the prompts of a plan: those of its files, else those that ship."""
    if plan.files:
        return from_files(plan.files)
    return shipped(plan.tasks)


def run_plan(
    plan: Plan,
    path: Path,
    *,
    append: bool = False,
    access: Access | None = None,
    catalog: Catalog | None = None,
    say: Say = lambda _: None,
    show: Callable[[Progress], None] = lambda _: None,
) -> Measured:
    """Measure, and keep every sample in `path` as soon as it is there.

    Whatever ends the run - the budget, enough knowledge, a server that is lost, an interruption - what was measured
    until then is in the file. Raises UsageError for a file that exists, LiveError for servers that cannot be asked.
    """
    from specrules.evidence.samples.reading import samples_reading
    from specrules.live.measuring import Measuring

    catalog = catalog or Catalog.load()
    asks = prompts_of(plan)
    with ExitStack() as stack:
        targets = _targets(plan, access or Access(), catalog, stack, say)
        _announce(plan, targets, asks, path, say)
        keep = stack.enter_context(_kept(path, append=append))
        measuring = Measuring(targets, asks, plan.settings, _rule(plan, catalog), keep=keep, show=show)
        run = measuring.measure()
    if not any(not item.error and not item.warm_up for item in run.samples):
        return Measured(run, None)
    reading = samples_reading(str(path), run.samples, lambda name: catalog.engine(name).model)
    return Measured(run, reading)


def _targets(plan: Plan, access: Access, catalog: Catalog, stack: ExitStack, say: Say) -> list[Target]:
    """Open every server once, tell its engine, and see how it is asked."""
    from specrules.live.interview import served_model
    from specrules.live.recognise import recognise
    from specrules.live.target import Target, generation_of, needs_model, request_drafter

    engines, stated = engines_of(catalog, plan.engine)
    seen: dict[str, tuple[Server, Target]] = {}
    targets = []
    for named in plan.arms:
        if named.url not in seen:
            server = stack.enter_context(opened(named.url, access))
            if stated is None:
                say(f"asking {server.place} what it is")
            engine = stated or recognise(server, engines).engine
            generation = generation_of(engine, plan.endpoint, server.place)
            model = plan.model or served_model(server, engine)
            if model is None and needs_model(generation):
                hint = "say it with --model"
                raise UsageError(Problem(f"{server.place} does not list a model to ask for", hint=hint))
            seen[named.url] = (server, Target(named.arm, server, engine, generation, model))
        server, first = seen[named.url]
        drafter = request_drafter(first.engine, named.drafter, server.place) if named.chooses else None
        targets.append(Target(named.arm, server, first.engine, first.generation, first.model, drafter))
    return targets


def _announce(plan: Plan, targets: Sequence[Target], asks: Sequence[Ask], path: Path, say: Say) -> None:
    """Say what will be sent before anything is."""
    from specrules.live.counters import Counters

    settings = plan.settings
    count = min(settings.requests, len(asks) * settings.repeats)
    levels = ", ".join(map(str, settings.concurrency))
    tasks = ", ".join(dict.fromkeys(ask.task for ask in asks))
    budget = ""
    if settings.budget_s is not None:
        budget = f", for {settings.budget_s:g} s at most"
    elif settings.budget_requests is not None:
        budget = f", {settings.budget_requests} in all at most"
    say(
        f"measuring: up to {count} requests to each arm, after {settings.warm_up} for warm-up, each of at most "
        f"{settings.max_tokens} tokens, {levels} at a time, temperature {settings.temperature:g}{budget}"
    )
    for target in targets:
        by = f", requests ask for the drafter {target.drafter.name}" if target.drafter is not None else ""
        say(f"  {target.arm}: {target.server.place} ({target.engine.title}, {target.generation.id}{by})")
        if settings.reads_counters:
            serving = target.engine.serving
            why_not = Counters(target.server, target.engine).why_not(serving.metrics_off if serving else "")
            if why_not is not None:
                say(f"    {why_not}")
    say(f"  prompts: {tasks}; samples go to {path}")
    if settings.stops_early:
        say(
            "  it ends earlier once the interval settles what is asked; what was measured until an interruption is kept"
        )


def _rule(plan: Plan, catalog: Catalog) -> Rule:
    """What the verdict asks of the measurement: the policy's margin, and the rate that the case states."""
    from specrules.live.stopping import Rule

    return Rule(catalog.policy.thresholds["margin"], 1, _reference(plan))


def _reference(plan: Plan) -> Interval[float] | None:
    """Return the incumbent's rate that a lone candidate is held against, where the case states it as clients see it."""
    if plan.case is None or [item.arm for item in plan.arms] != ["candidate"]:
        return None
    stated = plan.case.incumbent.rate_tok_s
    if stated is None or plan.case.incumbent.rate_kind == "decode":
        return None
    low = stated.value if stated.low is None else stated.low
    high = stated.value if stated.high is None else stated.high
    return Interval(low, stated.value, high)


@contextmanager
def _kept(path: Path, *, append: bool) -> Iterator[Callable[[Sample], None]]:
    """Open the samples file. Every line reaches the disk at once: a run may end at any moment."""
    from specrules.evidence.samples.lines import is_samples_file, written

    if path.exists() and not (append and is_samples_file(str(path))):
        what = "is no samples file" if append else "exists"
        hint = "" if append else "name another file, or add to it with --append"
        raise UsageError(Problem(f"{what}: samples are never overwritten", Location(str(path)), hint))
    try:
        file: IO[str] = path.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(Problem(f"cannot be written: {error.strerror or error}", Location(str(path)))) from None
    with file:

        def keep(sample: Sample) -> None:
            file.write(written(sample) + "\n")
            file.flush()
            os.fsync(file.fileno())

        yield keep
