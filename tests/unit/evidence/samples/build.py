"""Samples as `specrules measure` writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from specrules.model.sample import Sample


def timings(tokens: int, drafted: int = 0, accepted: int = 0) -> dict[str, Any]:
    """A response of llama.cpp without its text."""
    found = {"prompt_n": 10, "prompt_ms": 20.0, "predicted_n": tokens, "predicted_ms": 1000.0}
    found |= {"predicted_per_token_ms": 1000.0 / (tokens - 1)}
    return {"timings": found | ({"draft_n": drafted, "draft_n_accepted": accepted} if drafted else {})}


def dump(tokens: int, drafted: int = 0, accepted: int = 0, rounds: int = 0, positions: tuple[int, ...] = ()) -> str:
    """Counters of llama.cpp as `Counters` keeps them."""
    values = {
        "tokens_predicted_total": tokens,
        "tokens_predicted_seconds_total": tokens / 10,
        "spec_decode_num_draft_tokens_total": drafted,
        "spec_decode_num_accepted_tokens_total": accepted,
        "spec_decode_num_drafts_total": rounds,
    }
    lines = [f"# TYPE llamacpp:{name} counter\nllamacpp:{name} {value}" for name, value in values.items()]
    name = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total"
    lines += [f'{name}{{position="{index}"}} {value}' for index, value in enumerate(positions)]
    return "\n".join(lines) + "\n"


def sample(index: int = 0, **more: Any) -> Sample:
    """One request: 11 tokens, the ten behind the first in one second."""
    return Sample(
        **(
            {
                "schema": 1,
                "what": "sample",
                "arm": "candidate",
                "engine": "llama.cpp",
                "url": "http://h:1",
                "endpoint": "chat",
                "prompt": f"chat/p{index}",
                "task": "chat",
                "order": index,
                "concurrency": 1,
                "temperature": 0.0,
                "max_tokens": 11,
                "started_at": datetime(2026, 11, 29, 12, 0, index % 60, tzinfo=UTC),
                "chunk_ms": tuple(100.0 + 100.0 * step for step in range(11)),
                "total_ms": 1110.0,
                "text": f"answer {index} about nothing in particular",
                "response": timings(11),
            }
            | more
        )
    )
