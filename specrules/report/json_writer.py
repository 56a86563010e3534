"""Verdicts as the published JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from specrules.model.verdict import Verdict


def to_json(verdicts: Sequence[Verdict], *, several: bool = False) -> str:
    """Return one object for one verdict, an array in the given order for any other number of them or if `several`."""
    documents = [verdict.model_dump(mode="json", by_alias=True) for verdict in verdicts]
    content = documents[0] if len(documents) == 1 and not several else documents
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
