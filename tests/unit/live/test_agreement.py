"""Greedy agreement of two servers whose next tokens are functions, so that every number can be worked out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.errors import EvidenceError, UsageError
from specrules.live.agreement import Agreement, Guesses, played, run_of
from specrules.pipeline.agreeing import Pair, agree, case_lines
from specrules.pipeline.servers import Access

from .serving import Answer, Asked, Reply, serving

ACCESS = Access(silent_s=5, environ={"NETRC": "/none"})


def following(ids):
    """The target's next token."""
    return (3 * ids[-1] + len(ids)) % 50


def wrong_every(step):
    """A drafter that errs wherever the number of tokens before divides by `step`."""
    return lambda ids: (following(ids) + (len(ids) % step == 0)) % 50


@dataclass
class Model:
    """A llama-server over token ids: one id per character of a text, and `next_id` for what follows."""

    next_id: Any = following
    shift: int = 0
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Answer:
        body = asked.body
        if asked.path == "/props":
            return Reply({"default_generation_settings": {"n_ctx": 9}, "total_slots": 1, "build_info": "b11434-0"})
        if asked.path == "/apply-template":
            return Reply({"prompt": "".join(item["content"] for item in body["messages"])})
        if asked.path == "/tokenize":
            return Reply({"tokens": [ord(char) + self.shift for char in body["content"]]})
        if asked.path == "/completion":
            self.asked.append(body)
            ids = list(body["prompt"])
            for _ in range(body["n_predict"]):
                ids.append(self.next_id(ids))
            return Reply({"tokens": ids[len(body["prompt"]) :]})
        return Reply({}, 404)


@dataclass
class Scorer:
    """A vLLM that scores whole prompts."""

    next_id: Any = following
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Answer:
        body = asked.body
        if asked.path == "/v1/models":
            return Reply({"data": [{"id": "tiny", "owned_by": "vllm"}]})
        if asked.path == "/tokenize":
            text = body.get("prompt") or "".join(item["content"] for item in body["messages"])
            return Reply({"tokens": [ord(char) for char in text]})
        if asked.path == "/v1/completions":
            self.asked.append(body)
            ids = list(body["prompt"])
            scores = [
                None,
                *({str(ids[at]): {"rank": 1 if self.next_id(ids[:at]) == ids[at] else 7}} for at in range(1, len(ids))),
            ]
            return Reply({"choices": [{"text": "", "prompt_logprobs": scores}]})
        return Reply({}, 404)


def compare(target, drafter, **more):
    with serving(target) as one, serving(drafter) as other:
        return agree(
            Pair(one.url, other.url, **({"prompts": 9, "max_tokens": 40, "draft_length": 3} | more)), access=ACCESS
        )


def test_a_drafter_that_is_always_right():
    found = compare(Model(), Model()).agreement
    assert found.drafts == 9 * 8
    assert found.positions == (1.0, 1.0, 1.0)
    assert (found.tokens, found.conditional) == (4.0, 1.0)
    assert found.tokens_interval().high == 4.0


def test_a_drafter_that_is_never_right():
    found = compare(Model(), Model(next_id=lambda ids: (following(ids) + 1) % 50))
    assert found.agreement.tokens == 1.0
    assert found.agreement.conditional == 0.0
    assert found.expected.low == 1.0


def test_drafts_begin_where_the_target_wrote():
    drafter = Model()
    compare(Model(), drafter, cuts=4, prompts=1)
    assert len(drafter.asked) == 4
    lengths = [len(body["prompt"]) for body in drafter.asked]
    assert lengths == sorted(set(lengths))
    for body in drafter.asked:
        ids = body["prompt"]
        assert all(following(ids[:at]) == ids[at] for at in range(len(ids) - 1, max(len(ids) - 5, 200), -1))
    assert {body["n_predict"] for body in drafter.asked} == {3}
    assert all(body["temperature"] == 0 for body in drafter.asked)


def test_the_same_seed_gives_the_same_drafts():
    one = compare(Model(), Model(next_id=wrong_every(5)), seed=3).agreement
    assert compare(Model(), Model(next_id=wrong_every(5)), seed=3).agreement == one
    assert compare(Model(), Model(next_id=wrong_every(5)), seed=4).agreement != one


def test_every_position_once_is_the_plain_share():
    found = compare(Model(), Model(next_id=wrong_every(5)), cuts=1000).agreement
    # One position in five errs: the first is right in 4 of 5 places, all three in 2 of 5.
    assert found.positions == pytest.approx((0.8, 0.6, 0.4), abs=0.02)


def test_a_server_that_scores_prompts_needs_one_request_per_prompt():
    scorer = Scorer(next_id=wrong_every(4))
    found = compare(Model(), scorer, engine="llama.cpp", drafter_engine="vllm")
    assert len(scorer.asked) == 9
    assert all(body["prompt_logprobs"] == 1 and body["max_tokens"] == 1 for body in scorer.asked)
    # After an error the target adds the right token, so every later round begins behind one and gets three right.
    assert found.agreement.positions == pytest.approx((1.0, 1.0, 1.0), abs=0.12)
    assert found.agreement.tokens == pytest.approx(4.0, abs=0.2)


def test_tokenizers_that_differ_are_refused():
    with pytest.raises(EvidenceError, match=r"the tokenizers differ: 'In 1984, 3\.14159") as raised:
        compare(Model(), Model(shift=1))
    assert "has other ids than on http://127.0.0.1" in str(raised.value)


def test_tokenizers_that_cannot_be_compared_are_refused():
    with pytest.raises(UsageError) as raised:
        compare(Model(), Model(), drafter_engine="ollama", engine="llama.cpp")
    (problem,) = raised.value.problems
    assert problem.message.endswith("the file of Ollama knows no request to tokenise")
    assert problem.hint == "name the tokenizers' files with --tokenizers TARGET DRAFTER"


def test_how_the_tokenizers_were_compared_is_said():
    assert compare(Model(), Model()).tokenizers.startswith("the same ids on ")


def test_answers_shorter_than_a_draft():
    with pytest.raises(EvidenceError, match="shorter than a draft: nothing was compared"):
        compare(Model(), Model(), max_tokens=3)


def test_the_low_end_is_shaded_and_the_high_end_is_not():
    found = Agreement(3, tuple(Guesses(f"p{index}", (3, 1, 2, index % 4)) for index in range(8)))
    from specrules.pipeline.agreeing import Agreed

    greedy, sampled = (Agreed(found, "", bias, "", "") for bias in (0.15, 0.30))
    interval = found.tokens_interval()
    assert greedy.expected.low == pytest.approx(max(1.0, interval.low / 1.15))
    assert sampled.expected.low == pytest.approx(max(1.0, interval.low / 1.30))
    assert greedy.expected.high == sampled.expected.high == pytest.approx(min(4.0, interval.high))


def test_few_prompts_give_no_low_end():
    found = compare(Model(), Model(), prompts=3)
    assert found.agreement.tokens_interval() is None
    assert (found.expected.low, found.expected.high) == (1.0, 4.0)


def test_what_is_printed_is_an_acceptance_that_a_case_takes(tmp_path):
    from datetime import UTC, datetime

    from specrules.catalog.case import load_case

    found = compare(Model(), Model(next_id=wrong_every(5)))
    text = "schema: 1\ntarget: {name: t}\ndrafter: {name: d, class: model}\nengine: llama.cpp\n"
    file = tmp_path / "case.yaml"
    file.write_text(text + "\n".join(case_lines(found, datetime(2026, 11, 29, tzinfo=UTC))) + "\n")
    stated = load_case(file).case.measurements.acceptance
    assert (stated.kind, stated.draft_length) == ("tokens_per_round", 3)
    assert 1 < stated.low < stated.high <= 4
    assert stated.source.startswith("greedy agreement over ")
    assert "(chat, " in stated.source
    assert "not a run that drafted" in stated.source


@pytest.mark.parametrize(
    ("right", "rounds"),
    [
        ([True] * 8, [3, 3]),
        ([False] * 6, [0, 0, 0, 0]),
        ([True, False, True, True, True, True, True], [1, 3]),
        ([True, True], []),
    ],
)
def test_playing_drafting_through(right, rounds):
    assert list(played(right, 3)) == rounds


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 6))
def test_played_rounds_cover_the_text_once(right, length):
    at = 0
    for match in played(right, length):
        assert all(right[at : at + match])
        assert match == length or not right[at + match]
        at += match + 1
    assert at + length > len(right)


def test_a_run_of_right_tokens():
    assert run_of([1, 2, 3], [1, 2, 4]) == 2
    assert run_of([], [1]) == 0
    assert run_of([1, 2, 3], [1, 2, 3]) == 3
