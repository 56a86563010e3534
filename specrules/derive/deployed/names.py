"""What the names of two checkpoints say about each other: whether a head was made for another target.

Engines compare shapes at most, so a head for another checkpoint of the same width loads and drafts badly. Its name
mostly says what it was trained for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIZE = re.compile(r"(?<![a-z0-9.])e?(\d+(?:\.\d+)?)b(?:-?a(\d+(?:\.\d+)?)b)?(?![a-z0-9])")
_WORD = re.compile(r"[a-z]{3,}")
_VERSIONED = re.compile(r"(?<![a-z])([a-z]{3,})-?v?(\d+(?:\.\d+)?)(?![\d.]|-?b(?:it)?(?![a-z])|[a-z]*\d)")
_LONGEST = 512
_OTHERS = frozenset({"int", "bpw", "bit", "instruct", "chat"})
"""Words whose numbers are about quantisation or tuning, not about a generation of models."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a name says: its words, the version behind a word, and sizes in billions of parameters."""

    words: frozenset[str]
    versions: dict[str, str]
    sizes: frozenset[tuple[str, str]]


def named(name: str) -> Named:
    """Read a file name, path or repository. Its end is read: folders above say whose it is."""
    text = "/".join(name[-_LONGEST:].lower().replace("_", "-").split("/")[-2:])
    sizes = frozenset((match[1], match[2] or "") for match in _SIZE.finditer(text))
    rest = _SIZE.sub("", text)
    versions = {match[1]: match[2] for match in _VERSIONED.finditer(rest) if match[1] not in _OTHERS}
    return Named(frozenset(_WORD.findall(rest)), versions, sizes)


def made_for(head: str, target: str) -> bool | None:
    """Whether a head's name says that it was made for the target's. None where the names do not tell.

    False needs a contradiction: no size in common where both name one, or another version behind the same word.
    """
    one, other = named(head), named(target)
    if one.sizes and other.sizes and not one.sizes & other.sizes:
        return False
    both = one.versions.keys() & other.versions.keys()
    if any(one.versions[word] != other.versions[word] for word in both):
        return False
    agree = one.sizes & other.sizes and (both or len(one.words & other.words) >= 2)
    return True if agree else None
