"""Values inside shell commands stay values."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.pipeline.shell import comment, filled_shell, requoted

PLAIN = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=20)


def said(command):
    return subprocess.run(["bash", "-c", command], capture_output=True, check=True).stdout.decode()


@settings(max_examples=25, deadline=None)
@given(PLAIN)
def test_any_value_arrives_as_it_is(value):
    assert said(filled_shell("printf %s {target}", {"target": value})) == value


@settings(max_examples=25, deadline=None)
@given(st.text("abc'$`\\ ;|&", max_size=12))
def test_and_inside_single_quotes_too(value):
    assert said(filled_shell("printf %s '<{target}>'", {"target": value})) == f"<{value}>"


def test_json_in_single_quotes():
    template = 'printf %s \'{"model":"{drafter}","k":{draft_length}}\''
    assert json.loads(said(filled_shell(template, {"drafter": "it's mine", "draft_length": "3"}))) == {
        "model": "it's mine",
        "k": 3,
    }


def test_variables_of_the_script_and_unknown_names():
    assert filled_shell("curl {url}/x {other}", {"url": '"$off_url"'}) == 'curl "$off_url"/x {other}'


@pytest.mark.parametrize(
    ("entry", "quoted"),
    [
        ("-c 2048", "-c 2048"),
        ("--sc '{\"a\": 1}'", "--sc '{\"a\": 1}'"),
        ("-m $(rm x)", "-m '$(rm' 'x)'"),
        ("-x 'open", "'-x '\"'\"'open'"),
    ],
)
def test_flags_of_a_case(entry, quoted):
    assert requoted(entry) == quoted


def test_a_comment_stays_on_its_line():
    assert comment("a\nrm -rf /\r\x1b[31m b") == "a rm -rf / [31m b"
