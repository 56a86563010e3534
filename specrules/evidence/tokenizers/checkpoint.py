"""Whether a checkpoint holds a table of target ids, by the names of its tensors."""

from __future__ import annotations

from specrules.evidence.tokenizers.documents import Folder, companion, parsed, part, refused

MAX_NAMES = 16 << 20
_TABLES = frozenset({"d2t", "model.d2t"})
_INDEX, _WEIGHTS = "model.safetensors.index.json", "model.safetensors"
_LENGTH = 8


def has_draft_table(folder: Folder) -> bool | None:
    """Whether the safetensors files of a folder hold `d2t`; None where there are none.

    Raises EvidenceError for a file that is no safetensors file.
    """
    names = set(part(companion(folder, _INDEX), "weight_map"))
    length = folder.read(_WEIGHTS, _LENGTH)
    if length is not None:
        size = int.from_bytes(length, "little")
        if len(length) < _LENGTH or size > MAX_NAMES:
            raise refused(folder.place(_WEIGHTS), "no safetensors file: its first 8 bytes are no length of a header")
        names |= set(parsed((folder.read(_WEIGHTS, _LENGTH + size) or b"")[_LENGTH:], folder.place(_WEIGHTS)))
    return not names.isdisjoint(_TABLES) if names else None
