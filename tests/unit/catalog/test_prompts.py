"""Prompts that ship, and prompts of users."""

from __future__ import annotations

import json

import pytest

from specrules.catalog.prompts import from_files, shipped, tasks
from specrules.errors import LoadError, UsageError


def test_what_ships():
    found = shipped()
    assert tasks() == ("chat", "code", "code-edit", "structured", "summarise")
    assert len(found) == 30
    assert len({item.id for item in found}) == 30
    assert len({item.text for item in found}) == 30
    # The first of each task come first, so that a short run has all of them.
    assert {item.task for item in found[:5]} == set(tasks())
    assert max(len(item.text) for item in found) < 1500


def test_some_tasks():
    assert [item.task for item in shipped(["code", "chat"])[:4]] == ["chat", "code", "chat", "code"]
    with pytest.raises(UsageError, match="no prompts for the task 'cod'") as raised:
        shipped(["cod"])
    assert raised.value.problems[0].hint == "did you mean 'code'?"


def test_messages():
    (plain,) = [item for item in shipped(["chat"]) if item.id == "chat/tides"]
    assert plain.messages == [{"role": "user", "content": plain.text}]


def test_yaml_of_a_user(tmp_path):
    file = tmp_path / "ours.yaml"
    file.write_text(
        "schema: 1\nid: ours\ntask: support\ntitle: t\nprompts:\n  - {id: a, text: hello, system: be kind}\n"
    )
    (ask,) = from_files([file])
    assert (ask.id, ask.task) == ("ours/a", "support")
    assert ask.messages == [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("line", "system", "text"),
    [
        ({"prompt": "p"}, "", "p"),
        ({"text": "t"}, "", "t"),
        ({"question_id": 81, "turns": ["first", "second"]}, "", "first"),
        ({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}, "s", "u"),
        ({"conversations": [{"from": "human", "value": "h"}, {"from": "gpt", "value": "g"}]}, "", "h"),
        ("a bare text", "", "a bare text"),
    ],
)
def test_lines_of_a_user(tmp_path, line, system, text):
    file = tmp_path / "My set.jsonl"
    file.write_text("\n" + json.dumps(line) + "\n")
    (ask,) = from_files([file])
    assert (ask.id, ask.task, ask.system, ask.text) == ("my-set/line-2", "my-set", system, text)


def test_every_mistake_of_all_files(tmp_path):
    lines, yaml = tmp_path / "a.jsonl", tmp_path / "b.yaml"
    lines.write_text('{"prompt": "ok"}\nnonsense\n{"other": 1}\n')
    yaml.write_text("schema: 1\nid: b\ntask: t\ntitle: t\nprompts: []\n")
    with pytest.raises(LoadError) as raised:
        from_files([lines, yaml, tmp_path / "none.jsonl"])
    found = [problem.render().replace(str(tmp_path) + "/", "").partition("\n")[0] for problem in raised.value.problems]
    assert found[0] == "a.jsonl:2: this line is no JSON"
    assert found[1].startswith("a.jsonl:3: no prompt here: one of prompt, text")
    assert found[2].startswith("b.yaml:5:")
    assert found[3] == "none.jsonl: cannot be read: No such file or directory"


def test_a_file_without_prompts(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text("\n\n")
    with pytest.raises(LoadError, match="the file holds no prompts"):
        from_files([file])
