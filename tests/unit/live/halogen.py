"""A fake halogen front end that knows nothing by itself: what it answers stands in its engine's YAML."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from specrules.catalog.catalogue import Catalog
from specrules.model.engine import Engine, RequestDrafter

from .serving import Answer, Asked, Reply, Stream, event


@dataclass
class Halogen:
    """Built from an engine's file. `carries` is what the loaded checkpoint reports beside `serial`.

    /health and /metrics are the examples of the readers, the texts of refusals those of `request_refusals`, drafters
    those of `request_drafters`; a drafted answer has the shape of the response reader's example.
    """

    engine: Engine
    carries: tuple[str, ...] = ("mtp",)
    pass_s: float = 0.002
    totals: dict[str, float] = field(default_factory=dict)
    asked_for: list[str | None] = field(default_factory=list)

    @classmethod
    def flash(cls, **more: Any) -> Halogen:
        return cls(Catalog.load().engine("halogen-flash-server").model, **more)

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == "/health":
            return Reply(self.health())
        if asked.path == "/metrics":
            return Reply(self.metrics(), kind="text/plain")
        if asked.path == "/v1/models":
            return Reply({"object": "list", "data": [{"id": self.health()["model"], "owned_by": "halogen"}]})
        if asked.path == "/v1/chat/completions":
            return self._chat(asked.body)
        return Reply({"error": {"message": "not found"}}, 404)

    def example(self, reader: str) -> str:
        return next(item for item in self.engine.readers if item.id == reader).examples[0].text

    def health(self) -> dict[str, Any]:
        return json.loads(self.example("health")) | {"drafters_available": ["serial", *self.carries]}

    def metrics(self) -> str:
        """The example's dump, with what was served since added to its counters."""

        def moved(match: re.Match[str]) -> str:
            return f"{match[1]} {float(match[2]) + self.totals.get(match[1], 0.0):g}"

        return re.sub(r"^(\S+:\S+) ([\d.]+)$", moved, self.example("metrics"), flags=re.MULTILINE)

    def _chat(self, body: dict[str, Any]) -> Answer:
        name = body.get("drafter")
        self.asked_for.append(name)
        known = {item.name: item for item in self.engine.request_drafters}
        chosen = known.get(name) if name is not None else known.get(self.health()["drafter_default"])
        if chosen is None:
            return self._refused("drafter-unknown", name)
        if chosen.capability is not None and chosen.capability not in self.carries:
            return self._refused("drafter-unavailable", name)
        return self._served(body, chosen)

    def _refused(self, which: str, name: str | None) -> Reply:
        refusal = next(item for item in self.engine.request_refusals if item.id == which)
        return Reply({"error": {"message": refusal.text.replace("{name}", str(name))}}, refusal.status)

    def _served(self, body: dict[str, Any], drafter: RequestDrafter) -> Answer:
        """One token per pass where nothing drafts, two per pass with a drafter that is always right."""
        count, step = body["max_tokens"], 1 if drafter.method is None else 2
        shape = json.loads(self.example("response"))["timings"]
        passes = -(-(count - 1) // step)
        timings = dict.fromkeys(shape, 0.0) | {
            "prompt_n": 7,
            "prompt_ms": 10.0,
            "predicted_n": count,
            "predicted_ms": passes * self.pass_s * 1000,
            "draft_n": passes * (step - 1),
            "draft_n_accepted": passes * (step - 1),
        }
        if not body.get("stream"):
            return Reply({"object": "chat.completion", "choices": [{"message": {"content": "1"}}], "timings": timings})

        def pieces():
            yield event({"choices": [{"delta": {"content": "w0 "}}]})
            written = 1
            while written < count:
                yield self.pass_s
                for _ in range(min(step, count - written)):
                    yield event({"choices": [{"delta": {"content": f"w{written} "}}]})
                    written += 1
            self._count(timings)
            yield event({"choices": [], "usage": {"completion_tokens": count, "prompt_tokens": 7}, "timings": timings})
            yield event("[DONE]")

        return Stream(pieces())

    def _count(self, timings: dict[str, Any]) -> None:
        reader = next(item for item in self.engine.readers if item.id == "metrics")
        moved = {
            "requests": 1.0,
            "tokens": timings["predicted_n"],
            "decode_s": timings["predicted_ms"] / 1000,
            "drafted": timings["draft_n"],
            "accepted": timings["draft_n_accepted"],
        }
        for name, value in moved.items():
            metric = reader.fields[name].metric or ""
            self.totals[metric] = self.totals.get(metric, 0.0) + value
