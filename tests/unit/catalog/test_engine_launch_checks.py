"""What an engine file says about how it is started has to lead somewhere."""

from __future__ import annotations

import pytest

from specrules.catalog.case_facts import fact_kind
from tests.unit.catalog.test_engine_checks import ENGINE, found

LAUNCH = """\
flags:
  - {name: --draft, doc: the drafter, known: ran, states: [drafter.name, drafter.step_ms]}
launch:
  known: ran
  images: [{name: our/image, positional: [target.name]}]
  programs: [{words: [ours], positional: [target.name]}]
  config: {inner: [{flag: --draft, keys: [a]}]}
"""


def test_a_launch_section_without_problems() -> None:
    assert found(ENGINE + LAUNCH) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[drafter.name, drafter.step_ms]", "[seats.taken]", "no fact or input 'seats.taken'"),
        ("[drafter.name, drafter.step_ms]", "[drafter.stepms]",
         "no fact or input 'drafter.stepms' (did you mean 'drafter.step_ms'?)"),
        ("our/image, positional: [target.name]", "our/image, positional: [target.nme]",
         "no fact or input 'target.nme' (did you mean 'target.kind'?)"),
        ("words: [ours], positional: [target.name]", "words: [ours], positional: [x.y]", "no fact or input 'x.y'"),
        ("flag: --draft, keys", "flag: --drafts, keys", "no flag '--drafts' in this file (did you mean '--draft'?)"),
    ],
)  # fmt: skip
def test_one_problem_at_its_place(old: str, new: str, message: str) -> None:
    assert LAUNCH.count(old) == 1
    problems = found(ENGINE + LAUNCH.replace(old, new))
    assert [problem.split(": ", 1)[1].split("\n")[0] for problem in problems] == [message]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("engine.methods", "list"),
        ("engine.draft_length", "number"),
        ("workload.context_tokens", "number"),
        ("drafter.step_ms", "number"),
        ("drafter.class", "text"),
        ("incumbent.drafting", "flag"),
        ("target.name", "text"),
        ("engine.made_up", None),
        ("target.name.inner", None),
        ("deployment.metrics", None),
    ],
)
def test_the_kind_of_a_fact_is_that_of_the_case(name: str, kind: str | None) -> None:
    assert fact_kind(name) == kind
