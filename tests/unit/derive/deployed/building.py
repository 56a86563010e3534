"""A small engine with a flag of every type, and deployments of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from specrules.catalog.setting_symbols import setting_symbols
from specrules.derive.deployed.values import Deployed, Knowledge, deployed
from specrules.expressions import Type
from specrules.model.deployment import DeployedFact, Deployment, Gap, Launch, Place, Setting
from specrules.model.drafter import DrafterClass
from specrules.model.engine import Engine

INPUTS = {
    "engine.methods": Type.STRINGS,
    "engine.method": Type.STRING,
    "engine.draft_length": Type.NUMBER,
    "engine.routing_note": Type.STRING,
    "engine.ignores_drafter_device": Type.BOOL,
    "drafter.kind": Type.STRING,
    "drafter.device": Type.STRING,
    "target.device": Type.STRING,
    "target.is_hybrid": Type.BOOL,
    "workload.concurrency": Type.NUMBER,
    "deployment.speculates": Type.BOOL,
    "deployment.metrics": Type.BOOL,
    "deployment.synthetic": Type.BOOL,
    "deployment.draft_length": Type.NUMBER,
}
FLAGS = [
    {"name": "--spec", "list_valued": True, "adds_up": True, "default": "none", "env": "SPEC",
     "values": ["none", "mtp", "small", "old"], "states": ["engine.methods"]},
    {"name": "--draft", "aliases": ["-d"], "states": ["drafter.name"]},
    {"name": "--length", "default": "3", "states": ["engine.draft_length"]},
    {"name": "--metrics", "aliases": ["--no-metrics"], "takes_value": False, "env": "METRICS"},
    {"name": "--quick", "default": "true"},
    {"name": "--device", "list_valued": True},
    {"name": "--rates", "type": "numbers"},
    {"name": "--kind", "values": ["a", "b"]},
    {"name": "--fresh", "since": "b200"},
    {"name": "KEY", "env": "KEY", "type": "number"},
    {"name": "--config", "closed": True},
    {"name": "--config.depth", "type": "number"},
]  # fmt: skip
CLASSES = {
    name: DrafterClass.model_validate(
        {"id": name, "title": name, "description": "d", "symbols": "s", "draft_ms": "drafter.step_ms",
         "cost_inputs": [], "target_specific": specific, "reads_hidden_states": specific,
         "needs_tokenizer_match": not specific, "needs_weights": True, "covers_every_round": True}
    )
    for name, specific in (("model", False), ("mtp-head", True))
}  # fmt: skip


def claim(**fields: Any) -> dict[str, Any]:
    return {"id": "c", "trigger": "t", "effect": "exits", "known": "read", **fields}


def engine(**fields: Any) -> Engine:
    """An engine with two methods, one former one, and what is given beside them."""
    base = {
        "schema": 1,
        "id": "toy",
        "title": "Toy",
        "description": "d",
        "sources": [
            {"id": "read", "by": "source", "title": "t", "on": "2026-11-01", "version": "b300"},
            {"id": "heard", "by": "thread", "title": "t", "on": "2026-11-01"},
        ],
        "version": {"scheme": "build", "facts_from": "b300", "how_to_find": "h"},
        "methods": [
            {"id": "small", "title": "Small", "drafter_class": "model", "draft_device": "routable", "known": "read",
             "max_draft_length": 16, "lossless": True},
            {"id": "mtp", "title": "Head", "drafter_class": "mtp-head", "draft_device": "same-device", "known": "read",
             "max_draft_length": 4, "aliases": ["nextn"], "since": "b100"},
            {"id": "old", "title": "Former name of small", "drafter_class": "model", "draft_device": "routable",
             "known": "read", "removed": True, "until": "b150"},
        ],
        "combinations": [
            {"methods": ["small", "mtp"], "status": "dies-at-load", "effect": "Exit.", "known": "read"},
        ],
        "devices": {
            "backends": [{"id": "CUDA", "device_pattern": r"^CUDA\d+$", "known": "read"}],
            "draft_routing": {"possible": True, "flag": "--device", "effect": "it moves", "known": "read"},
        },
        "flags": [{"doc": "d", "known": "read", **flag} for flag in FLAGS],
        "removed_flags": [
            {"name": "--gone", "effect": "Unknown argument.", "replaced_by": ["--length"], "known": "read"},
            {"name": "--left", "effect": "Ignored.", "known": "read", "until": "b250"},
        ],
    }  # fmt: skip
    return Engine.model_validate_json(json.dumps({**base, **fields}))


def place(line: int, column: int = 1) -> Place:
    return Place(path="f", line=line, column=column)


def setting(written: str, value: str | None = None, line: int = 1, **fields: Any) -> Setting:
    """A setting of the toy engine, as its name says."""
    names = {name: flag["name"] for flag in FLAGS for name in (flag["name"], *flag.get("aliases", ()), flag.get("env"))}
    kind = "flag" if written.startswith("-") else "env"
    known = fields.pop("name", names.get(written))
    return Setting(kind=kind, written=written, name=known, value=value, place=place(line), **fields)


def deployment(
    *settings: Setting,
    facts: Mapping[str, object] | None = None,
    version: str | None = "b300",
    gaps: tuple[Gap, ...] = (),
) -> Deployment:
    """A launch of the toy engine. Facts stand in line 9."""
    stated = tuple(
        DeployedFact(name=name, value=value, written=name, place=place(9)) for name, value in (facts or {}).items()
    )
    launch = Launch(name="toy", format="shell", place=place(0), gaps=gaps)
    return Deployment(
        launch=launch, engine="toy", recognised_by="test", version=version, settings=settings, facts=stated
    )


def derived(made: Deployment, of: Engine | None = None, base: Any = None) -> Deployed:
    """Everything that follows from a deployment."""
    found = of or engine()
    symbols = {**INPUTS, **setting_symbols(found)}
    return deployed(made, Knowledge(found, symbols, CLASSES, {"margin": 0.05}), base)


GAP = (Gap(of="command", why="$MORE may hold more arguments", place=place(7)),)
