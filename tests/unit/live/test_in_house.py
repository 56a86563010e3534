"""An engine of a user's own: one YAML file, and every command that asks servers works with it."""

from __future__ import annotations

import json

import pytest

from specrules.catalog.case import load_case

from .serving import Reply, Stream, serving
from .test_commands import FEW, alone, command

__all__ = ["alone"]

ENGINE = """\
schema: 1
id: ours
title: Ours
description: An engine of our own.
sources:
  - {id: ran, title: we ran it, by: run, on: 2026-11-01}
version: {scheme: dotted, facts_from: "1.0", how_to_find: ask it}
methods:
  - {id: plain, title: Plain, drafter_class: model, draft_device: routable, known: ran}
  - {id: head, title: Head, drafter_class: mtp-head, draft_device: same-device, known: ran}
request_drafters:
  - {name: none, body: '{"spec": {"on": false}}', known: ran}
  - {name: small, method: plain, body: '{"spec": {"on": true}}', known: ran}
devices:
  draft_routing: {possible: true, effect: goes anywhere, known: ran}
readers:
  - id: answer
    kind: json
    title: an answer
    known: ran
    requires: [counts.tokens]
    fields:
      tokens: {path: counts.tokens}
      rounds: {path: counts.rounds}
      accepted: {path: counts.accepted}
    facts:
      - {fact: tokens, value: tokens, unit: tokens}
      - {fact: rounds, value: rounds, unit: rounds}
      - {fact: accepted, value: accepted, unit: tokens}
      - {fact: drafting, value: rounds > 0}
    examples:
      - {text: '{"counts": {"tokens": 5, "rounds": 2, "accepted": 2}}', source: ours,
         facts: {tokens: 5, rounds: 2, accepted: 2, drafting: true}}
  - id: state
    kind: json
    title: /state
    known: ran
    requires: [release]
    fields:
      release: {type: text, combine: last, path: release}
      on: {type: flag, combine: any, path: drafts}
    facts:
      - {fact: engine.build, value: release, absolute: true}
      - {fact: drafting, value: on}
    examples:
      - {text: '{"release": "1.2", "drafts": true}', source: ours, facts: {engine.build: "1.2", drafting: true}}
probes:
  - id: state
    method: GET
    path: /state
    shows: the release
    answers:
      - {status: 200, contains: '"engine":"ours"', identifies: true, means: It is ours.}
    known: ran
serving:
  known: ran
  health: /state
  generate:
    - id: say
      path: /say
      takes: prompt
      body: '{"say": {prompt}, "n": {max_tokens}, "t": {temperature}}'
      text: [piece]
      done: [end]
      stream: lines
      known: ran
"""


def answers(asked):
    if asked.path == "/state":
        return Reply({"engine": "ours", "release": "1.2", "drafts": True})
    if asked.path != "/say":
        return Reply({}, 404)
    on = asked.body.get("spec", {}).get("on", True)
    count, step = asked.body["n"], 3 if on else 1

    def lines():
        yield json.dumps({"piece": "0 "}).encode() + b"\n"
        for start in range(1, count, step):
            yield 0.004
            yield b"".join(
                json.dumps({"piece": f"{index} "}).encode() + b"\n" for index in range(start, min(start + step, count))
            )
        rounds = -(-(count - 1) // 3) if on else 0
        yield json.dumps({"end": True, "counts": {"tokens": count, "rounds": rounds, "accepted": 2 * rounds}}).encode()

    return Stream(lines(), kind="application/x-ndjson")


@pytest.fixture
def engines(tmp_path):
    folder = tmp_path / "engines"
    folder.mkdir()
    (folder / "ours.yaml").write_text(ENGINE)
    return ("--engines", folder)


def test_its_file_holds(engines):
    code, out, err = command("engines", "check", "ours", *engines)
    assert (code, err) == (0, "")
    assert out.startswith("ours: ok")


def test_init(engines):
    with serving(answers) as running:
        code, _, _ = command("init", "--target", running.url, "-o", "case.yaml", *engines)
    case = load_case("case.yaml").case
    assert code == 0
    assert (case.engine.id, case.engine.version, case.incumbent.drafting) == ("ours", "1.2", True)


def test_measure_on_and_off(engines):
    with serving(answers) as running:
        code, out, _ = command("measure", running.url, "--on-off", *FEW, "--format", "json", "-o", "s.jsonl", *engines)
        posted = [item.body for item in running.asked if item.method == "POST"]
    assert code == 0
    assert [item.get("spec") for item in posted[:3]] == [None, {"on": False}, {"on": False}]
    data = json.loads(out)
    facts = {fact["name"]: fact["value"] for fact in data["facts"]}
    assert facts["incumbent.tokens_per_round"] == 3.0
    assert facts["off.drafting"] is False
    assert facts["off.same_outputs"] == 1.0
    assert data["comparisons"][0]["side"] == "below"


def test_a_body_that_is_no_json_is_found_when_the_file_loads(engines, tmp_path):
    (tmp_path / "engines" / "ours.yaml").write_text(ENGINE.replace('{"say": {prompt}', '{"say": {promt}'))
    code, _, err = command("engines", "check", "ours", *engines)
    assert code == 2
    assert "{promt} stands for nothing; known are ids, max_tokens, messages, model, prompt, temperature, text" in err
    (tmp_path / "engines" / "ours.yaml").write_text(ENGINE.replace('"t": {temperature}}', '"t": {temperature}'))
    code, _, err = command("engines", "check", "ours", *engines)
    assert code == 2
    assert "no JSON once it is filled in" in err
