"""What models keep in memory: which keys of a header mean what, by architecture, and constants with their source."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from specrules.model.base import DottedName, ExpressionText, Identifier, Many, Model, SchemaVersion
from specrules.model.claim import Claim, Source

DeviceKind = Literal["host", "accelerator"]


class CacheType(Model):
    """A type that keys and values can be stored in: `bytes` for every `block` elements."""

    block: int = Field(ge=1)
    bytes: int = Field(ge=1)


class Window(Model):
    """Layers that look back a limited number of tokens.

    Which layers do is given by the file (`attention.sliding_window_pattern`, a list or a period), else by `period`:
    every so many layers one sees everything, the last of each group or the first.
    """

    size: int | None = Field(default=None, ge=0, description="tokens, where the file does not say")
    fixed: bool = Field(default=False, description="the size above counts whatever the file says")
    optional: bool = Field(default=False, description="without a size in the file no layer has a window")
    period: int | None = Field(default=None, ge=0, description="None: only the file's list tells the layers")
    full_first: bool = False
    every_layer: bool = Field(default=False, description="every layer with a cache has the window")
    only_block_counts: Many[int] = Field(default=(), description="only models with so many layers have windows")


class Recurrent(Model):
    """Layers with a state per slot in place of a cache per token. `elements` reads keys of the header."""

    layers: Literal["all", "without-kv-heads", "without-kv-heads-and-feed-forward", "interval"]
    interval: int | None = Field(default=None, ge=1, description="every so many layers attends, unless the file says")
    elements: ExpressionText
    attends_too: bool = Field(default=False, description="the layers have a cache as well")
    snapshots: bool = Field(default=False, description="drafting with trained heads keeps 1 + K copies of the state")

    @model_validator(mode="after")
    def _interval_stated(self) -> Recurrent:
        if (self.layers == "interval") != (self.interval is not None):
            raise ValueError("an interval belongs to layers: interval, and to nothing else")
        return self


class Indexer(Model):
    """A second cache of one narrow key per token, `attention.indexer.key_length` wide, that selects what is read."""

    layers: Literal["trunk", "full-types", "after-leading-dense"]
    rows: int = Field(default=1, ge=1, description="rows of that width per token")
    values: bool = Field(default=False, description="values are stored beside the keys")
    optional: bool = Field(default=False, description="files without attention.indexer.top_k have none")
    full_below_context: int | None = Field(
        default=None, description="without attention.indexer.types every layer has one, for shorter trained contexts"
    )


class Compressed(Model):
    """A cache in which `ratio` tokens share a row, and the state that compresses them."""

    ratio: int = Field(ge=2)
    width: ExpressionText
    state: ExpressionText


class Architecture(Claim):
    """What models of these architectures store. Without any entry: keys and values per layer and token."""

    names: Many[str] = Field(min_length=1)
    cached: bool = Field(default=True, description="false: no cache at all")
    latent: Literal["never", "by-keys", "always"] = Field(
        default="never",
        description="keys alone are stored; by-keys: where the file has attention.key_length_mla and value_length_mla",
    )
    window: Window | None = None
    recurrent: Recurrent | None = None
    indexer: Indexer | None = None
    compressed: Many[Compressed] = ()
    cached_layers: int | None = Field(default=None, ge=1, description="only so many layers from the start store rows")
    shared_key: bool = Field(default=False, description="attention.shared_kv_layers counts layers without rows")
    loops: bool = Field(default=False, description="num_loops repeats the layers")
    heads_in_trunk: bool = Field(default=False, description="prediction layers have rows while they do not draft")
    split_slots: bool = Field(default=False, description="slots never share a pool of cells")
    unsettled_by: Many[str] = Field(default=(), description="keys with which none of this holds")
    drafter_class: Identifier | None = Field(default=None, description="what a file of this architecture drafts as")
    uses_target_cache: bool = Field(default=False, description="a drafter that reads the target's cache")
    flash_attention: bool = Field(default=True, description="false: the engine never uses it with these models")
    embedding_twice: bool = Field(default=False, description="tied embeddings may be held twice even on one device")
    open_buffers: bool = Field(default=False, description="buffers of a pass that no declared interval covers")


class Estimate(Claim):
    """A declared number that no closed form gives, as an interval with its source."""

    id: Identifier
    what: str
    unit: str
    low: float = Field(ge=0)
    high: float = Field(ge=0)
    device: DeviceKind | None = Field(default=None, description="None: on every device")

    @model_validator(mode="after")
    def _ordered(self) -> Estimate:
        if self.low > self.high:
            raise ValueError(f"the interval {self.low:g} to {self.high:g} runs backwards")
        return self


class MemoryRemark(Claim):
    """Something that a fit should say where it applies."""

    id: Identifier
    text: str


class MemoryFile(Model):
    """`rules/memory.yaml`."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    engine: Identifier
    sources: Many[Source]
    cache_types: dict[str, CacheType]
    defaults: dict[DottedName, int] = Field(description="keys of a header and what they are where it lacks them")
    numbers: Many[DottedName] = Field(description="keys of a header that expressions may read")
    plain_keys: Many[str] = Field(
        description="keys, as patterns, that say nothing of caches; an unlisted architecture with others is unknown"
    )
    input_tensors: Many[str] = Field(description="tensors, as patterns, that stay in host memory beside accelerators")
    hidden_widths: Many[ExpressionText] = Field(
        description="what buffers grow with beside the rows of a pass: the largest whose keys the header has"
    )
    snapshot_classes: Many[Identifier] = Field(description="drafter classes that make a target keep 1 + K states")
    draft_length: int = Field(ge=1, description="K where nobody states it")
    draft_length_known: Identifier
    flags: dict[Identifier, Many[str]] = Field(
        description="what sets memory on the engine's command line, and its flags"
    )
    estimates: Many[Estimate]
    remarks: Many[MemoryRemark] = ()
    architectures: Many[Architecture]

    def architecture(self, name: str) -> Architecture | None:
        """The entry of an architecture, None where there is none."""
        return next((item for item in self.architectures if name in item.names), None)

    def estimate(self, name: str, device: DeviceKind) -> Estimate | None:
        """The estimate of that name for a kind of device, None where there is none."""
        found = [item for item in self.estimates if item.id == name and item.device in {None, device}]
        return found[0] if found else None
