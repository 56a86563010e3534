"""How commands fetch: with a cache of headers, and a bar on a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

_WIDEST = 32

if TYPE_CHECKING:
    from specrules.evidence.gguf import ProgressBar
    from specrules.pipeline.sources import Sources


def web() -> Sources:
    """Return sources that may be addresses."""
    from specrules.evidence.gguf import default_cache
    from specrules.pipeline.sources import Sources

    return Sources(web=True, cache=default_cache(os.environ), watch=bar)


def bar(name: str) -> ProgressBar:
    """Return a bar for the reading of one header."""
    from specrules.evidence.gguf import ProgressBar

    # A line that is wider than the terminal could not be wiped.
    return ProgressBar(sys.stderr, name.rpartition("/")[2][-_WIDEST:])
