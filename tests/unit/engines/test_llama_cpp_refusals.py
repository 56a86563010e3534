"""What llama-server refuses at start, against what it printed, and the limits of its draft types."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.model.engine import Engine, StartRefusal

RUNS = Path(__file__).parents[2] / "data" / "recordings" / "llama.cpp-b11434"


@cache
def _engine() -> Engine:
    return Catalog.load(environ={}).engine("llama.cpp").model


def _refusal(name: str) -> StartRefusal:
    return next(refusal for refusal in _engine().start_refusals if refusal.id == name)


@pytest.mark.parametrize(
    ("name", "effect", "recording", "holes"),
    [
        ("unknown-type", "exits", "bad", {"type": "draft"}),
        (
            "removed-argument",
            "exits",
            "old",
            {"argument": "--draft-max", "replacement": "--spec-draft-n-max or --spec-ngram-mod-n-max"},
        ),
        ("drafter-without-method", "drafting-off", "mdonly", {}),
        ("simple-without-drafter", "drafting-off", "nomd", {}),
        ("simple-without-drafter", "drafting-off", "nomd2", {}),
        ("vocabularies-differ", "drafting-off", "d_tok30000", {}),
        ("vocabularies-differ", "drafting-off", "d_trim200", {}),
        ("not-eagle3", "drafting-off", "e3plain", {"n": "0"}),
        ("no-mtp-layers", "exits", "mtp", {}),
        ("no-mtp-layers", "exits", "mtpsimple", {}),
        ("not-dflash", "exits", "dfplain", {}),
        ("synthetic-without-drafter", "exits", "synth", {}),
        ("synthetic-rates", "exits", "synth3", {"k": "4", "n": "2"}),
    ],
)
def test_the_texts_are_those_that_were_printed(name: str, effect: str, recording: str, holes: dict[str, str]) -> None:
    refusal = _refusal(name)
    assert refusal.effect == effect
    text = refusal.text
    for hole, word in holes.items():
        assert f"{{{hole}}}" in text
        text = text.replace(f"{{{hole}}}", word)
    assert text in (RUNS / f"{recording}.log").read_text(encoding="utf-8", errors="replace")


def test_what_printed_nothing_has_no_text() -> None:
    silent = {refusal.id for refusal in _engine().start_refusals if not refusal.text}
    assert {"old-draft-variable", "chained-heads-clamp", "metrics-variable", "p-split"} <= silent
    assert "spec" not in (RUNS / "dfnomd.log").read_text(encoding="utf-8").lower().replace("--spec", "")


def test_the_draft_length_flag_limits_draft_types_only() -> None:
    limits = {limit.id: limit for limit in _engine().limits}
    free = limits["ngram-length"].methods
    assert [name for name in ("ngram-simple", "ngram-mod", "draft-mtp") if name in free] == [
        "ngram-simple",
        "ngram-mod",
    ]
    values = {limit.methods[0]: limit.value for limit in _engine().limits if limit.value is not None}
    assert values == {"ngram-cache": 8.0, "draft-dflash": 15.0, "draft-dspark": 16.0}
    lengths = {method.id: method.max_draft_length for method in _engine().methods}
    assert {name: lengths[name] for name in values} == {name: int(value) for name, value in values.items()}


def test_tensor_split_depends_on_the_method() -> None:
    def status(feature: str, method: str) -> list[str]:
        return [
            item.status
            for item in _engine().features
            if item.feature == feature
            and (not item.methods or any(fnmatchcase(method, pattern) for pattern in item.methods))
        ]

    assert status("tensor-parallel", "draft-mtp") == ["works"]
    assert status("tensor-parallel", "draft-dflash") == ["dies-at-load"]
    assert status("sampled-drafts", "draft-simple") == ["works"]
    assert status("sampled-drafts", "draft-eagle3") == ["silently-off"]
    assert status("per-request-settings", "ngram-mod") == ["silently-off"]


def test_synthetic_acceptance_needs_a_drafter() -> None:
    assert [item.needs_drafter for item in _engine().synthetic_acceptance] == [True, True]
    assert [item.how.split()[0] for item in _engine().synthetic_acceptance] == [
        "--spec-synth-len",
        "--spec-synth-rates",
    ]


def test_former_names_are_methods_that_are_gone_and_no_aliases() -> None:
    """An alias would let `--spec-type draft` pass on builds that end with it."""
    gone = {method.id: method.until for method in _engine().methods if method.removed}
    assert gone == {"draft": "b9158", "mtp": None, "eagle3": None}
    assert not any(method.aliases for method in _engine().methods)
