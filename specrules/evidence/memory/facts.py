"""What the headers of a case's files say of memory: facts for the gate on whether the drafter fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from specrules.errors import EvidenceError, UserError
from specrules.evidence.devices import GIB, Device
from specrules.evidence.gguf import Header
from specrules.evidence.memory.keys import CannotSizeError
from specrules.evidence.memory.needs import Pair, needs
from specrules.evidence.memory.places import Places
from specrules.evidence.memory.request import Request
from specrules.evidence.memory.size import HEAD_CLASS, model_size
from specrules.evidence.memory.tally import Tally
from specrules.model.case import Case
from specrules.model.fact import Fact
from specrules.model.memory import MemoryFile
from specrules.model.quantity import Provenance

NEEDED = "drafter.memory_gib"
FREE = "drafter.device_free_gib"


def memory_facts(
    case: Case, target: Header, drafter: Header | None, rules: MemoryFile, *, engine_id: str | None = None
) -> dict[str, Fact]:
    """Return what the drafter takes, and what is free for it while the target serves.

    Nothing where the engine is not the one whose memory is described, where the case does not say how long the context
    is, or where a size has no upper end. Both facts hold their unfavourable end as value and the interval beside it.
    What the case states goes before, so that a caller extends its own facts with these.
    """
    if (engine_id or case.engine.id) != rules.engine:
        return {}
    request = _request(case, rules)
    own_heads = drafter is None and case.drafter.drafter_class == HEAD_CLASS
    if request is None or (drafter is None and not own_heads):
        return {}
    try:
        sizes = model_size(target, rules), None if drafter is None else model_size(drafter, rules)
    except EvidenceError:
        return {}
    home, away = _device(case, case.target.device), _device(case, case.drafter.device or case.target.device)
    pair = Pair(
        sizes[0],
        Places((home,), _host(home)),
        sizes[1],
        Places((away,), _host(away)),
        case.drafter.drafter_class,
        request.draft_length or rules.draft_length,
    )
    try:
        tally = needs(pair, replace(request, heads=own_heads), rules, drafting=True)
    except (CannotSizeError, UserError):
        return {}
    names = [target.name] if drafter is None else [target.name, drafter.name]
    return _facts(case, tally, away.name, f"headers of {' and '.join(names)} at a context of {request.context} tokens")


def _facts(case: Case, tally: Tally, where: str, source: str) -> dict[str, Fact]:
    parts = tally.parts(where)
    facts: dict[str, Fact] = {}
    mine = [part.size for part in parts if part.owner == "drafter"]
    if mine and all(size.high is not None for size in mine):
        low, high = sum(size.low for size in mine) / GIB, sum(size.high or 0 for size in mine) / GIB
        facts[NEEDED] = _fact(NEEDED, high, low, high, f"{source}: weights, cache, snapshots and buffers")
    device = next((item for item in case.host.devices if item.name == where), None)
    others = [part.size for part in parts if part.owner != "drafter"]
    total = None if device is None or device.memory_gib is None else device.memory_gib
    if (
        total is not None
        and device is not None
        and device.free_gib is None
        and all(size.high is not None for size in others)
    ):
        least = (total.low if total.low is not None else total.value) - sum(size.high or 0 for size in others) / GIB
        most = (total.high if total.high is not None else total.value) - sum(size.low for size in others) / GIB
        facts[FREE] = _fact(
            FREE, max(least, 0.0), max(least, 0.0), max(most, 0.0), f"{source}: {where} less the target"
        )
    return facts


def _fact(name: str, value: float, low: float, high: float, source: str) -> Fact:
    return Fact(
        name=name, value=value, unit="GiB", low=low, high=high, provenance=Provenance(kind="derived", source=source)
    )


def _device(case: Case, name: str | None) -> Device:
    return Device(name or case.target.device or "the target's device", None, None, "the case")


def _host(device: Device) -> Device:
    return device if device.kind == "host" else Device("CPU", None, None, "the case")


def _request(case: Case, rules: MemoryFile) -> Request | None:
    """How the case serves both models: by its flags, else by its workload. None where no context is stated."""
    said = _settings(case.engine.flags, rules.flags)
    slots = _count(said.get("slots")) or case.workload.concurrency or 1
    context = _count(said.get("context"))
    if context is None and case.workload.context_tokens is not None:
        context = round(case.workload.context_tokens.value) * (case.workload.concurrency or 1)
    if not context:
        return None
    return Request(
        context=context,
        slots=slots,
        unified="unified" in said or ("slots" not in said and slots > 1),
        batch=_count(said.get("batch")) or 512,
        cache_types=(said.get("keys", "f16"), said.get("values", "f16")),
        draft_cache_types=(said.get("draft_keys", "f16"), said.get("draft_values", "f16")),
        full_window="full_window" in said,
        flash_attention=said.get("flash_attention") not in {"off", "0"},
        draft_length=_count(said.get("draft_length")) or case.engine.draft_length,
    )


def _settings(flags: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The last value of every flag that concerns memory, by what it sets."""
    words = [word for entry in flags for word in entry.split()]
    found: dict[str, str] = {}
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        found |= {setting: after for setting, spellings in names.items() if word in spellings}
    return found


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and int(text) > 0 else None
