"""What a header says a model is: dense, hybrid or with experts, and as what a file of its architecture drafts."""

from __future__ import annotations

from specrules.evidence.gguf import Header
from specrules.evidence.memory.keys import CannotSizeError, Keys
from specrules.evidence.memory.plan import plan
from specrules.model.case import TargetKind
from specrules.model.memory import MemoryFile

MODEL_CLASS = "model"


def target_kind(header: Header, rules: MemoryFile) -> TargetKind | None:
    """Return the kind of a target; None where nobody has described its architecture."""
    try:
        keys = Keys(header)
        has_experts = keys.has("expert_count")
        is_hybrid = bool(plan(header, rules).states)
    except CannotSizeError:
        return None
    if is_hybrid:
        return "hybrid-moe" if has_experts else "hybrid"
    return "moe" if has_experts else "dense"


def drafter_class(header: Header, rules: MemoryFile) -> str:
    """Return the class that a file drafts as: that of its architecture where it is a head, else a model."""
    name = header.values.get("general.architecture")
    entry = rules.architecture(name) if isinstance(name, str) else None
    return entry.drafter_class if entry is not None and entry.drafter_class is not None else MODEL_CLASS


def model_name(header: Header) -> str | None:
    """Return the name that a header gives its model, None where it gives none."""
    name = header.values.get("general.name")
    return name if isinstance(name, str) and name.strip() and name.isprintable() else None
