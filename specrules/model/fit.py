"""Whether a target and its drafter fit on named devices: `specrules fit` as data. Sizes are bytes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specrules.model.base import Many, Model

FitState = Literal["fits", "no-headroom", "does-not-fit", "unknown"]
FIT_STATES: tuple[FitState, ...] = ("does-not-fit", "no-headroom", "unknown", "fits")
"""From the one that decides to the one that yields, where devices differ."""
Owner = Literal["target", "drafter", "process"]
PartKind = Literal["weights", "cache", "states", "snapshots", "compute", "runtime"]


class Span(Model):
    """A size between two ends that are both possible; `high` is null where nothing bounds it."""

    low: int = Field(ge=0)
    high: int | None = Field(default=None, ge=0)


class FitPart(Model):
    """One thing that takes memory on a device, whose it is, and how its size is known."""

    owner: Owner
    kind: PartKind
    size: Span
    how: str = Field(description="closed form, declared interval, bounds, or the engine itself")


class FitDevice(Model):
    """One device: what is free before anything is loaded, what goes there, and what is left."""

    name: str
    kind: Literal["host", "accelerator"]
    unified: bool = Field(default=False, description="shares its memory with the host")
    free: int | None = Field(default=None, description="null: nobody said, and the device is not judged")
    total: int | None = None
    source: str
    parts: Many[FitPart] = ()
    needed: Span
    left_low: int | None = Field(
        default=None, description="free minus the high end of what is needed, on all devices that share the memory"
    )
    left_high: int | None = None
    state: FitState | None = Field(description="null: not judged")


class FitModel(Model):
    """A model: its size wherever it lies, and where it goes."""

    name: str
    architecture: str | None
    drafter_class: str | None = None
    devices: Many[str]
    weights: int
    cache: Span
    states: int | None
    bytes_per_token: int | None = Field(description="what one more token of context costs over all layers")
    unknown: str = Field(default="", description="why the cache is not known exactly")


class FitTaken(Model):
    """What drafting takes from the target, on the devices that the target uses."""

    size: Span
    tokens: int | None = Field(description="tokens of the target's context that this memory would hold")
    requests: float | None = Field(description="requests of the stated context that it would hold")
    context_without: int | None = Field(description="most tokens of context, over all slots, that fit without drafting")
    context_with: int | None
    slots_without: int | None = Field(description="most slots of the stated context each that fit without drafting")
    slots_with: int | None
    trained_context: int | None = Field(description="longest context per request that the target was trained for")


class FitAnswer(Model):
    """What the engine itself says of one model, beside the closed form, in MiB as it prints them."""

    model: Literal["target", "drafter"]
    program: str
    build: str
    weights_mib: int | None = None
    context_mib: int | None = None
    compute_mib: int | None = None
    closed_weights_mib: int | None = None
    closed_context_mib: int | None = None
    disagreement: float | None = Field(default=None, description="larger relative difference; above 0.02 it is shown")
    not_asked: str = ""


class FitSettings(Model):
    """What the sizes hold for."""

    context: int = Field(description="tokens over all slots, as the engine allots them")
    slots: int
    tokens_per_slot: int
    unified: bool
    batch: int
    cache_types: Many[str] = Field(description="keys and values of the target, then of the drafter")
    full_window: bool
    flash_attention: bool
    draft_length: int | None
    draft_length_source: str


class Fit(Model):
    """The answer of `specrules fit`."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    state: FitState
    reasons: Many[str] = Field(default=(), description="why it is not `fits`")
    settings: FitSettings
    headroom: int
    devices: Many[FitDevice]
    target: FitModel
    drafter: FitModel | None
    drafts_as: str | None = Field(description="drafter class; with no drafter, layers of the target or none at all")
    taken: FitTaken | None
    engine: Many[FitAnswer] = ()
    notes: Many[str] = ()
    tool_version: str
