"""A deployment file to the deployments in it, with the shipped engines and with one of a user's own."""

from __future__ import annotations

from pathlib import Path

from specrules.catalog.catalogue import Catalog
from specrules.pipeline.deployment_files import read_deployments

OURS = """\
schema: 1
id: pelican
title: Pelican
description: A made-up server.
sources: [{id: ran, by: run, title: we ran it, on: 2026-11-01}]
version: {scheme: dotted, facts_from: "2.0", how_to_find: ask}
methods:
  - {id: beak, title: B, drafter_class: model, draft_device: same-device, known: ran, lossless: true}
devices: {draft_routing: {possible: false, effect: stays, known: ran}}
launch:
  known: ran
  images: [{name: zoo/pelican}]
  programs: [{words: [pelican, fly], positional: [target.name]}]
flags:
  - {name: --beak, doc: the method, known: ran, states: [engine.methods]}
"""


def test_an_engine_of_ones_own_is_recognised_by_its_file_alone(tmp_path: Path) -> None:
    (tmp_path / "pelican.yaml").write_text(OURS)
    (tmp_path / "run.sh").write_text("docker run zoo/pelican:2.1 --beak beak\npelican fly big --beak beak\n")
    catalog = Catalog.load(engines=[tmp_path], environ={}, cwd=tmp_path)
    found = read_deployments(tmp_path / "run.sh", catalog)
    assert [(item.engine, item.version, item.recognised_by) for item in found.deployments] == [
        ("pelican", "2.1", "the image zoo/pelican"),
        ("pelican", None, "the command pelican fly"),
    ]
    assert [[fact.name for fact in item.facts] for item in found.deployments] == [
        ["engine.methods"],
        ["engine.methods", "target.name"],
    ]


def test_what_nobody_recognises_and_what_cannot_be_read_stand_beside_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "k.yaml"
    path.write_text(
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n"
        "    - {name: a, image: nginx, args: [-g, x]}\n"
        "    - {name: b, image: 'vllm/vllm-openai:v0.33.0', args: [--model, x]}\n---\na: [\n"
    )
    found = read_deployments(path, Catalog.load(environ={}))
    assert [item.engine for item in found.deployments] == ["vllm"]
    assert [launch.name for launch in found.others] == ["Pod, container a"]
    assert [problem.where.line for problem in found.problems if problem.where] == [9]
    assert found.problems[0].message.endswith("while parsing a flow node that begins at line 9")
