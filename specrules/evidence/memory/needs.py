"""What a target needs on each device, alone and while it drafts."""

from __future__ import annotations

from dataclasses import dataclass

from specrules.evidence.memory.loading import Loading
from specrules.evidence.memory.places import Places
from specrules.evidence.memory.request import Request
from specrules.evidence.memory.size import HEAD_CLASS, ModelSize
from specrules.evidence.memory.tally import Tally
from specrules.model.memory import MemoryFile

MIB = 1 << 20
BLOCK_CLASS = "block"


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and what drafts for it, each with its places. `drafter` is None where the target's own layers draft."""

    target: ModelSize
    home: Places
    drafter: ModelSize | None
    away: Places
    drafter_class: str | None
    draft_length: int

    @property
    def drafts(self) -> bool:
        """Tell whether anything drafts."""
        return self.drafter_class is not None

    @property
    def drafter_heads_only(self) -> bool:
        """Tell whether of the drafter's file only the prediction layers have rows."""
        size = self.drafter
        if self.drafter_class != HEAD_CLASS or size is None or size.plan is None:
            return False
        return bool(size.plan.heads) and size.plan.layers > 0

    def snapshots(self, rules: MemoryFile) -> int:
        """Return how many copies of its state a recurrent target keeps beside the one it has."""
        return self.draft_length if self.drafter_class in rules.snapshot_classes else 0


def needs(pair: Pair, request: Request, rules: MemoryFile, *, drafting: bool) -> Tally:
    """Return what goes where. Raises CannotSizeError for a cache type that does not fit the rows of a model."""
    tally = Tally()
    drafting = drafting and pair.drafts
    rows = pair.target.weights.vocabulary
    target = Loading(tally, pair.target, pair.home, "target", request.serving(rules), rules, rows)
    copies = pair.snapshots(rules) if drafting else 0
    target.weights(pair.target.trunk)
    target.cache()
    target.states(copies)
    target.compute(request.slots * (1 + pair.draft_length if drafting else 1), copies)
    if drafting and request.heads:
        heads = Loading(tally, pair.target, pair.home, "drafter", request.serving(rules, drafter=True), rules, rows)
        heads.prediction_weights()
        heads.cache(ahead=True)
        heads.compute(request.slots)
    if drafting and pair.drafter is not None:
        _drafter(tally, pair, pair.drafter, request, rules)
    kinds = {device.name: device.kind for device in (*pair.home.devices, *pair.away.devices, pair.home.host)}
    for device in tally.devices:
        runtime = rules.estimate("runtime", kinds[device])
        if runtime is not None:
            low, high = round(runtime.low * MIB), round(runtime.high * MIB)
            tally.of("process", "runtime").add(device, low, high, f"declared ({runtime.known})")
    return tally


def _drafter(tally: Tally, pair: Pair, size: ModelSize, request: Request, rules: MemoryFile) -> None:
    # A head without an output layer of its own gives its rows through that of the target.
    vocabulary = size.weights.vocabulary or pair.target.weights.vocabulary
    loading = Loading(tally, size, pair.away, "drafter", request.serving(rules, drafter=True), rules, vocabulary)
    loading.weights(range(size.layers) if pair.drafter_class == HEAD_CLASS else size.trunk)
    loading.cache(ahead=pair.drafter_heads_only)
    if not pair.drafter_heads_only:
        loading.states()
    loading.compute(request.slots * (1 + pair.draft_length if pair.drafter_class == BLOCK_CLASS else 1))
