from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.catalog.engine_checks import Names, engine_problems
from specrules.catalog.loaded import Loaded
from specrules.catalog.located import load_document
from specrules.catalog.validate import validate
from specrules.expressions import Type
from specrules.model.engine import Engine

CATALOG = Catalog.load(environ={}, cwd=Path(__file__).parent)
SYMBOLS: Mapping[str, Type] = {"target.kind": Type.STRING, "drafter.step_ms": Type.NUMBER, "policy.margin": Type.NUMBER}

ENGINE = """\
schema: 1
id: ours
title: Ours
description: An engine.
sources:
  - {id: ran, title: we ran it, by: run, on: 2026-11-01}
version: {scheme: dotted, facts_from: "1.0", how_to_find: ask}
methods:
  - {id: draft-one, title: One, drafter_class: model, draft_device: routable, known: ran}
  - {id: draft-two, title: Two, drafter_class: block, draft_device: routable, known: ran}
devices:
  draft_routing: {possible: true, effect: goes anywhere, known: ran}
combinations:
  - {methods: [draft-one, "draft-*"], status: works, effect: fine, known: ran}
tokenizer_gates:
  - methods: [draft-one]
    known: ran
    checks:
      - {id: same, accepts: drafter.step_ms > 1, otherwise: refused-loudly, message: no, known: ran}
readers:
  - id: log
    kind: log
    title: its log
    known: ran
    fields:
      tokens: {}
      rate: {combine: mean, weight: tokens}
    patterns:
      - id: done
        pattern: 'done (?P<tokens>\\d+) at (?P<rate>\\d+)'
        sets: {tokens: 1}
        examples:
          - {line: done 5 at 6, fields: {tokens: 5, rate: 6}, source: here}
    facts:
      - {fact: tokens, value: tokens, when: tokens > 0}
      - {fact: parts, value: "rounded(tokens / 2)"}
    checks:
      - {id: positive, require: tokens > 0, message: none}
known_issues:
  - {id: slow, title: Slow, condition: target.kind == "moe", effect: slow, known: ran}
"""


def found(text: str) -> list[str]:
    document = load_document(text, "ours.yaml")
    loaded = Loaded(validate(document, Engine), document)
    names = Names(SYMBOLS, ("model", "block"))
    return [problem.render() for problem in engine_problems(loaded.model, loaded.locate, names)]


def changed(old: str, new: str) -> tuple[list[str], str]:
    assert ENGINE.count(old) == 1, old
    text = ENGINE.replace(old, new)
    return found(text), text


@pytest.mark.parametrize("name", CATALOG.engine_ids)
def test_shipped_engines_have_none(name: str) -> None:
    CATALOG.check_engine(CATALOG.engine(name))


def test_an_engine_without_problems() -> None:
    assert found(ENGINE) == []


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("effect: goes anywhere, known: ran", "effect: goes anywhere, known: run", "run}",
         "no source 'run' in this file (did you mean 'ran'?)"),
        ("message: no, known: ran", "message: no, known: hearsay", "hearsay", "no source 'hearsay' in this file"),
        ("drafter_class: block", "drafter_class: blok", "blok",
         "no drafter class 'blok'; known are model, block (did you mean 'block'?)"),
        ('"draft-*"]', '"suffix-*"]', '"suffix-*"', "no method matches 'suffix-*'"),
        ("  - methods: [draft-one]", "  - methods: [draft-on]", "draft-on]",
         "no method matches 'draft-on' (did you mean 'draft-one'?)"),
        ("effect: slow, known", "since: next, effect: slow, known", "next", "'next' is not a version such as 0.33.0"),
        ("effect: slow, known", 'since: "2.0", until: "1.9", effect: slow, known', '"2.0"',
         "'until' lies before 'since': this can never apply"),
        ("accepts: drafter.step_ms > 1", "accepts: drafter.step_ms", "drafter.step_ms,",
         "the expression has to be true or false, and it is a number"),
        ('target.kind == "moe"', 'target.knd == "moe"', "target.knd",
         "unknown name 'target.knd' (did you mean 'target.kind'?)"),
        ("value: tokens, when", "value: tokns, when", "tokns", "unknown name 'tokns' (did you mean 'tokens'?)"),
        ("when: tokens > 0", "when: target.kind == 'moe'", "target.kind ==", "unknown name 'target.kind'"),
        ("rounded(tokens / 2)", "round(tokens / 2)", "round(", "unknown function 'round' (did you mean 'rounded'?)"),
        ("require: tokens > 0", "require: tokens + 1", "tokens + 1",
         "the expression has to be true or false, and it is a number"),
        ("weight: tokens", "weight: tokens > 1", "tokens > 1",
         "the expression has to be a number, and it is true or false"),
        ("sets: {tokens: 1}", "sets: {tokns: 1}", "1}", "no field 'tokns' in this reader (did you mean 'tokens'?)"),
    ],
)  # fmt: skip
def test_one_problem_at_its_place(old: str, new: str, at: str, message: str) -> None:
    problems, text = changed(old, new)
    offset = text.index(at, text.index(new))
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    assert problems == [f"ours.yaml:{line}:{column}: {message}"]


def test_a_range_of_one_version_and_open_ranges_can_apply() -> None:
    for span in ('since: "2.0", until: "2.0"', 'since: "2.0"', 'until: "0.1"', 'since: "1.9", until: "1.10"'):
        problems, _ = changed("effect: slow, known", f"{span}, effect: slow, known")
        assert problems == []


def test_functions_of_readers_are_not_for_conditions() -> None:
    problems, _ = changed('target.kind == "moe"', "rounded(drafter.step_ms) > 1")
    assert len(problems) == 1
    assert "unknown function 'rounded'" in problems[0]


def test_all_problems_come_in_order_of_place() -> None:
    text = ENGINE.replace("drafter_class: block", "drafter_class: blok").replace("weight: tokens", "weight: tokns")
    assert [problem.split(":")[1] for problem in found(text)] == ["10", "27"]
