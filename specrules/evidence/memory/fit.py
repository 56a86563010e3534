"""Whether a target and its drafter fit on named devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from specrules.errors import Problem, UsageError
from specrules.evidence.devices import GIB, Device
from specrules.evidence.gguf import Header
from specrules.evidence.memory.compare import compared, disagrees
from specrules.evidence.memory.judge import judged, worst
from specrules.evidence.memory.keys import CannotSizeError
from specrules.evidence.memory.needs import MIB, Pair, needs
from specrules.evidence.memory.oracle import Oracle, ask
from specrules.evidence.memory.places import UNASKED_HOST, Places, places
from specrules.evidence.memory.remarks import remarks
from specrules.evidence.memory.request import Request
from specrules.evidence.memory.size import HEAD_CLASS, ModelSize, model_size
from specrules.evidence.memory.taken import bytes_per_token, taken
from specrules.model.fit import Fit, FitAnswer, FitDevice, FitModel, FitSettings, Span
from specrules.model.memory import MemoryFile
from specrules.version import __version__


def fit(
    target: Header,
    drafter: Header | None,
    *,
    rules: MemoryFile,
    request: Request,
    devices: Sequence[Device],
    oracle: Oracle | None = None,
    notes: Sequence[str] = (),
) -> Fit:
    """Say what target and drafter need on each device, what is left, and what drafting takes.

    With an `oracle` the engine is asked for both models. Raises UsageError for a request that makes no sense, GgufError
    for a tensor of unknown type. What is not known stays open and never counts as nothing.
    """
    pair = _pair(target, drafter, request, rules, devices)
    request.serving(rules)
    answers: list[FitAnswer] = []
    if oracle is not None:
        pair, answers = _asked(pair, request, rules, oracle)
    try:
        tally = needs(pair, request, rules, drafting=True)
        cost = taken(pair, request, rules, devices) if pair.drafts else None
        models = _models(pair, request, rules)
    except CannotSizeError as error:
        raise UsageError(Problem(f"the engine refuses this: {error}")) from None
    shown = [*devices]
    shown += [UNASKED_HOST] if UNASKED_HOST.name in tally.devices and pair.home.host is UNASKED_HOST else []
    found = judged(shown, tally, request.headroom)
    state = worst(device.state for device in found if device.state is not None)
    return Fit(
        state=state,
        reasons=_reasons(found, request, pair),
        settings=_settings(request, rules, pair),
        headroom=request.headroom,
        devices=found,
        target=models[0],
        drafter=models[1],
        drafts_as=pair.drafter_class,
        taken=cost,
        engine=tuple(answers),
        notes=(*notes, *remarks(pair, request, rules, found, answers)),
        tool_version=__version__,
    )


def _pair(
    target: Header, drafter: Header | None, request: Request, rules: MemoryFile, devices: Sequence[Device]
) -> Pair:
    size = model_size(target, rules)
    small = None if drafter is None else model_size(drafter, rules)
    if request.heads and small is not None:
        raise UsageError("either a drafter or the target's own prediction layers can draft, not both")
    if request.heads and not (size.plan and size.plan.all_layers > size.plan.layers and size.weights.ahead):
        raise UsageError(Problem(f"{target.name} has no prediction layers", hint="name a drafter"))
    home = places(devices, request.target_devices)
    away = places(devices, request.drafter_devices) if request.drafter_devices else home
    kind = request.drafter_class or (small.drafter_class if small else HEAD_CLASS if request.heads else None)
    return Pair(size, home, small, away, kind, request.draft_length or rules.draft_length)


def _asked(pair: Pair, request: Request, rules: MemoryFile, oracle: Oracle) -> tuple[Pair, list[FitAnswer]]:
    """Ask the engine for each model. What it says of a model that is not described here takes the place of bounds."""
    alone = replace(request, unified=False)
    answers = []
    sizes: list[ModelSize | None] = []
    models: tuple[tuple[Literal["target", "drafter"], ModelSize | None], ...] = (
        ("target", pair.target),
        ("drafter", pair.drafter),
    )
    for which, size in models:
        if size is None:
            sizes.append(None)
            continue
        serving = alone.serving(rules, drafter=which == "drafter")
        cells = serving.stream_cells * serving.streams
        answer = compared(ask(size.header, which, alone, oracle, context=serving.context), size, alone, rules)
        answers.append(answer)
        settled = size.plan is None and answer.context_mib is not None and not (request.unified and request.slots > 1)
        told = (cells, request.slots, (answer.context_mib or 0) * MIB) if settled else None
        buffers = None if answer.compute_mib is None else (answer.compute_mib + 1) * MIB
        sizes.append(replace(size, answered=told, answered_buffers=buffers))
    return replace(pair, target=sizes[0] or pair.target, drafter=sizes[1]), answers


def _models(pair: Pair, request: Request, rules: MemoryFile) -> tuple[FitModel, FitModel | None]:
    target = _model(pair.target, pair.home, request, rules)
    if pair.drafter is None:
        return target, None
    return target, _model(
        pair.drafter, pair.away, request, rules, drafter_class=pair.drafter_class, ahead=pair.drafter_heads_only
    )


def _model(
    size: ModelSize,
    where: Places,
    request: Request,
    rules: MemoryFile,
    *,
    drafter_class: str | None = None,
    ahead: bool = False,
) -> FitModel:
    drafter = drafter_class is not None
    cache = size.caches(request.serving(rules, drafter=drafter), ahead=ahead)
    own = replace(request, cache_types=request.draft_cache_types) if drafter else request
    return FitModel(
        name=size.header.name,
        architecture=size.architecture,
        drafter_class=drafter_class,
        devices=where.names,
        weights=size.weights.total(None if drafter_class == HEAD_CLASS else size.trunk),
        cache=Span(low=sum(cache.low.values()), high=None if cache.high is None else sum(cache.high.values())),
        states=sum(size.states(request.slots).values()) if size.plan else None,
        bytes_per_token=bytes_per_token(size, own, rules),
        unknown=size.reason,
    )


def _settings(request: Request, rules: MemoryFile, pair: Pair) -> FitSettings:
    serving = request.serving(rules)
    stated = request.draft_length is not None
    return FitSettings(
        context=serving.stream_cells * serving.streams,
        slots=request.slots,
        tokens_per_slot=serving.stream_cells,
        unified=request.unified,
        batch=serving.rows,
        cache_types=(*request.cache_types, *request.draft_cache_types),
        full_window=request.full_window,
        flash_attention=request.flash_attention,
        draft_length=pair.draft_length if pair.drafts else None,
        draft_length_source="stated" if stated else f"the engine's default ({rules.draft_length_known})",
    )


def _reasons(devices: Sequence[FitDevice], request: Request, pair: Pair) -> tuple[str, ...]:
    reasons = []
    if all(device.state is None for device in devices):
        reasons.append("no device that holds anything says how much memory is free")
    for size in (pair.target, pair.drafter):
        if size is not None and size.plan is None and size.answered is None:
            reasons.append(f"{size.header.name}: {size.reason}")
    for device in devices:
        if device.state in {None, "fits"} or device.free is None:
            continue
        most = "an unknown size" if device.needed.high is None else f"{device.needed.high / GIB:.2f} GiB"
        text = (
            f"{device.name}: {device.needed.low / GIB:.2f} GiB to {most} are needed of {device.free / GIB:.2f} GiB free"
        )
        reasons.append(f"{text}, and {request.headroom / GIB:.2f} GiB have to stay free")
    return tuple(reasons)


__all__ = ["disagrees", "fit"]
