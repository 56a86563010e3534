from __future__ import annotations

from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from specrules.errors import EvidenceError, Problem
from specrules.evidence.readers.reading import Reading, read_file, read_text
from specrules.evidence.source import source_from_bytes

from .support import RUNS, engine, log_reader, read, shipped


def test_the_arm_stands_before_facts_of_the_arm_and_not_before_those_of_the_case() -> None:
    path = str(RUNS / "self4.log")
    bare, armed = read_file(path, shipped()), read_file(path, shipped(), "candidate")
    assert {"drafting", "rounds", "engine.context_tokens"} <= set(bare.facts)
    assert set(armed.facts) == {name if name.startswith("engine.") else f"candidate.{name}" for name in bare.facts}
    assert all(name == fact.name for name, fact in armed.facts.items())
    assert (armed.path, armed.engine_id) == (path, "llama.cpp")
    assert (armed.reader_id, armed.title) == ("server-log", "server log")


def test_warnings_of_the_file_come_first_and_endless_ones_are_counted() -> None:
    of = engine(log_reader({"n": {}}, [{"fact": "n", "value": "n"}], [r"^n=(?P<n>.*)"]))
    reading = read(b"n=1\xff\n" + b"n=x\n" * 50 + b"n=5\n", of)
    messages = [problem.render() for problem in reading.warnings]
    assert messages[0] == "file: 1 characters are not valid UTF-8 and were replaced"
    assert len(messages) == 21
    assert messages[-1] == "file: 32 more warnings like these"
    assert reading.facts.number("n") == 5.0


FRAGMENTS = [
    "slot print_timing: id  0 | task 0 |",
    " prompt eval time =  5069.34 ms /    21 tokens",
    "        eval time =   35570.51 ms /    64 tokens (  564.61 ms per token)",
    "       eval time =    nan ms /   440 tokens",
    "        eval time =  1e400 ms /  9999999999999999999999 tokens",
    "draft acceptance = 1.00000 (   50 accepted /    50 generated), mean len =  4.85",
    "draft acceptance rate = -nan (    0 accepted /     0 generated), mean acceptance length =  1.00",
    "statistics draft: #calls = 0, #gen drafts = 0, #acc drafts = 0, #gen tokens = 0, #acc tokens = 0, dur = 0.0 ms",
    "statistics mtp: #calls(b,g,a) = 1 8 8, #gen drafts = 8, #acc drafts = 1, #gen tokens = 9, #acc tokens = 99",
    "acc per pos = (1.000, , 0..9)",
    "E srv    load_model: failed to initialize speculative decoding context: ",
    "[53409] 132.15.702.026 I ",
    "\x1b[32m",
    '{"type":"log","time":1,"level":"I","msg":"',
    "llamacpp:tokens_predicted_total 64\nllamacpp:tokens_predicted_seconds_total NaN\n",
    'llamacpp:spec_decode_num_accepted_tokens_per_pos_total{position="0"} 3',
    '[{"timings": {"predicted_n": 1, "predicted_ms": 0, "predicted_per_token_ms": 0}}]',
    '{"id": 0, "n_ctx": "x", "speculative": "maybe"}',
    "n_drafted = 0\nn_accept  = 0\naccept    = nan%\ndecoded 1 tokens in 0.000 seconds, speed: inf t/s\n",
    "\n",
    "\r\n",
    "\0",
    "\ufffd",
]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=20)), max_size=12).map("".join))
@example("".join(FRAGMENTS))
@example("\n".join(FRAGMENTS).replace("\0", ""))
def test_any_text_gives_a_reading_or_an_evidence_error(text: str) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        reading = read_text(source_from_bytes("f", text.encode()), shipped(), "candidate")
    except EvidenceError as error:
        problems = error.problems
    else:
        assert isinstance(reading, Reading)
        assert all(fact.provenance.source.startswith("f") for fact in reading.facts.values())
    assert all(problem.message and problem.where is not None for problem in problems)


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 1700))
def test_any_cut_and_any_bytes_give_a_reading_or_an_evidence_error(junk: bytes, cut: int) -> None:
    data = (RUNS / "self.log").read_bytes()
    for text in (junk, data[:cut] + junk, junk + data[cut:]):
        try:
            read_text(source_from_bytes("f", text), shipped())
        except EvidenceError:
            continue


def test_a_log_that_is_cut_anywhere_never_says_more_than_the_whole(tmp_path: Path) -> None:
    data = (RUNS / "self.log").read_bytes()
    whole = read(data, shipped())
    allowed = {"drafting": {True}, "died_at_load": {False}}
    for cut in range(0, len(data), 31):
        if not data[:cut].strip():
            continue
        try:
            part = read(data[:cut], shipped())
        except EvidenceError:
            continue
        for name, fact in part.facts.items():
            assert fact.value in allowed.get(name, {whole.facts.value(name)}), (cut, name)
