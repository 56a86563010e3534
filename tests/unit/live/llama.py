"""A fake llama-server: text that follows from the prompt, drafting that follows from a table, counters that add up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .serving import Answer, Asked, Reply, Stream, event

Matches = Callable[[str], Sequence[int]]


def no_drafts(_prompt: str) -> Sequence[int]:
    return ()


@dataclass
class Llama:
    """`matches` says for a prompt how many drafted tokens each round gets right; rounds repeat until the text is done.

    A pass takes `pass_s`. `has_metrics` is what --metrics does; `others` adds tokens that some other client got in the
    middle of each request.
    """

    matches: Matches = no_drafts
    draft_length: int = 3
    pass_s: float = 0.002
    has_metrics: bool = True
    others: int = 0
    text: Callable[[str, int], str] = lambda prompt, index: f" {prompt[:3]}{index}"
    dies_after: int | None = None
    on_death: Callable[[], None] = lambda: None
    served: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("tokens", "seconds", "drafted", "accepted", "rounds"), 0.0)
    )
    positions: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == "/health":
            return Reply({"status": "ok"})
        if asked.path == "/metrics":
            return (
                Reply(self.metrics(), kind="text/plain")
                if self.has_metrics
                else Reply(
                    {
                        "error": {
                            "code": 501,
                            "message": "This server does not support metrics endpoint.",
                            "type": "not_supported_error",
                        }
                    },
                    501,
                )
            )
        if asked.path == "/props":
            return Reply(
                {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 1, "build_info": "b11434-0123abc"}
            )
        if asked.path == "/slots":
            return Reply(
                [
                    {
                        "id": 0,
                        "n_ctx": 2048,
                        "speculative": self.matches is not no_drafts,
                        "params": {"speculative.types": "none,draft-simple"},
                    }
                ]
            )
        if asked.path == "/v1/models":
            return Reply({"data": [{"id": "tiny.gguf", "owned_by": "llamacpp"}]})
        if asked.path in {"/v1/chat/completions", "/completion"} and asked.body:
            return self._generate(asked.body)
        return Reply({"error": {"code": 404, "message": "File Not Found"}}, 404)

    def _generate(self, body: dict[str, Any]) -> Answer:
        self.requests.append(body)
        prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        count = body.get("max_tokens") or body.get("n_predict")
        if not body.get("stream"):
            return Reply(
                {"content": "x", "timings": {"predicted_n": 1, "predicted_ms": 1.0, "predicted_per_token_ms": 0.0}}
            )
        self.served += 1
        dies = self.dies_after is not None and self.served > self.dies_after
        return Stream(self._events(prompt, count, dies=dies), breaks=dies)

    def _events(self, prompt: str, count: int, *, dies: bool) -> Iterator[bytes | float]:
        start, written, drafted, accepted, rounds = time.perf_counter(), 1, 0, 0, 0
        yield self._piece(prompt, 0)
        table, at, hits = list(self.matches(prompt)), 0, [0] * self.draft_length
        while written < count:
            yield self.pass_s
            right = 0
            if table:
                right = min(table[at % len(table)], count - written - 1)
                drafted, rounds, accepted = drafted + self.draft_length, rounds + 1, accepted + right
                for position in range(right):
                    hits[position] += 1
                at += 1
            for _ in range(right + 1):
                yield self._piece(prompt, written)
                written += 1
            if dies and written > count // 2:
                self.on_death()
                return
        milliseconds = (time.perf_counter() - start) * 1000
        with self.lock:
            self.counts["tokens"] += written + self.others
            self.counts["seconds"] += milliseconds / 1000
            self.counts["drafted"] += drafted
            self.counts["accepted"] += accepted
            self.counts["rounds"] += rounds
            self.positions = [a + b for a, b in zip(self.positions or [0.0] * self.draft_length, hits, strict=True)]
        timings: dict[str, Any] = {
            "prompt_n": 5,
            "prompt_ms": 3.0,
            "predicted_n": written,
            "predicted_ms": milliseconds,
            "predicted_per_token_ms": milliseconds / max(1, written - 1),
        }
        if drafted:
            timings |= {"draft_n": drafted, "draft_n_accepted": accepted}
        yield event({"choices": [], "usage": {"completion_tokens": written, "prompt_tokens": 5}, "timings": timings})
        yield event("[DONE]")

    def _piece(self, prompt: str, index: int) -> bytes:
        return event({"choices": [{"index": 0, "delta": {"content": self.text(prompt, index)}}]})

    def metrics(self) -> str:
        with self.lock:
            names = {"tokens_predicted_total": "tokens", "tokens_predicted_seconds_total": "seconds"}
            drafts = {"num_draft_tokens": "drafted", "num_accepted_tokens": "accepted", "num_drafts": "rounds"}
            lines = [
                f"# TYPE llamacpp:{name} counter\nllamacpp:{name} {self.counts[key]:g}" for name, key in names.items()
            ]
            for name, key in drafts.items():
                full = f"llamacpp:spec_decode_{name}_total"
                lines.append(f"# TYPE {full} counter\n{full} {self.counts[key]:g}")
            name = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total"
            if any(self.positions):
                lines.append(f"# TYPE {name} counter")
                lines += [f'{name}{{position="{index}"}} {value:g}' for index, value in enumerate(self.positions)]
            return "\n".join(["# HELP other:thing not for us", "other:thing 5", *lines, ""])
