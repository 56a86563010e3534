"""What llama.cpp printed in other years, from lines of public threads, and logs that contradict themselves."""

from __future__ import annotations

import pytest

from .support import RUNS, read, shipped, values

TASK = "slot print_timing: id  0 | task {task} | \n"
BLOCK = (
    "prompt eval time =    7915.24 ms /  8318 tokens (    0.95 ms per token,  1050.88 tokens per second)\n"
    "       eval time =    9432.51 ms /   440 tokens (   21.44 ms per token,    46.65 tokens per second)\n"
    "      total time =   17347.75 ms /  8758 tokens\n"
)
HALF = "draft acceptance rate = 0.50000 (    1 accepted /     2 generated)\n"


def test_the_2023_printout_of_two_models() -> None:
    text = (
        "generated 129 tokens in 248.340 seconds, speed: 0.519 t/s\n\nn_draft   = 8\nn_predict = 129\n"
        "n_drafted = 132\nn_accept  = 47\naccept    = 35.606%\n\ndraft:\n\n"
        "llama_print_timings:        eval time = 27360.44 ms /   214 runs   (  127.85 ms per token)\n"
    )
    reading = read(text, shipped())
    assert (reading.reader_id, reading.unread_lines) == ("program-log", 0)
    facts = values(reading)
    assert (facts["drafted"], facts["accepted"], facts["target_passes"]) == (132.0, 47.0, 129.0 - 1 - 47)
    # The eval line is the drafter's: neither tokens nor rate come from it.
    assert (facts["tokens"], facts["rate_tok_s"]) == (129.0, pytest.approx(128 / 248.34))


@pytest.mark.parametrize("name", ["llama_print_timings", "llama_perf_context_print", "common_perf_print"])
def test_timings_of_one_model_and_what_was_not_measured(name: str) -> None:
    text = (
        f"{name}: prompt eval time =       8.59 ms /    94 tokens (    0.09 ms per token, 10946.78 tokens per second)\n"
        f"{name}:        eval time =     322.80 ms /   216 runs   (    1.49 ms per token,   669.15 tokens per second)\n"
    )
    facts = read(text, shipped()).facts
    assert facts.number("rate_tok_s") == pytest.approx(669.15, abs=0.01)
    assert facts["rate_tok_s"].samples == (facts.number("rate_tok_s"),)
    assert (facts.number("tokens"), facts.number("requests")) == (217.0, 1.0)
    nothing = f"{name}:        eval time =       0.00 ms /     1 runs   ( 0.00 ms per token, inf tokens per second)\n"
    assert values(read(nothing, shipped())) == {}


def test_lines_without_prefix_after_a_task_line() -> None:
    text = (
        TASK.format(task=1) + BLOCK + "draft acceptance rate = 0.57576 (  171 accepted /   297 generated)\n"
        "slot release: id  0 | task 1 | stop processing: n_past = 8757, truncated = 0\n" + TASK.format(task=2) + BLOCK
    )
    facts = read(text, shipped()).facts
    assert (facts.number("requests"), facts.number("tokens"), facts.number("accepted")) == (2.0, 880.0, 171.0)
    assert facts.number("accepted_ratio") == 171 / 297
    assert facts["rate_tok_s"].samples == pytest.approx((439 * 1000 / 9432.51,) * 2)
    # One task line per log call: the acceptance line of the same task still belongs to the request.
    split = read(TASK.format(task=1) + BLOCK + TASK.format(task=1) + HALF, shipped())
    assert split.facts.number("target_passes") == 440.0 - 1 - 1
    # Neither rounds nor a mean length are printed in these years.
    assert not {"rounds", "tokens_per_round", "mean_draft_length"} & set(facts)


def test_without_acceptance_line_nothing_was_drafted_only_where_the_log_goes_on() -> None:
    excerpt = TASK.format(task=1) + BLOCK
    assert "drafting" not in read(excerpt, shipped()).facts
    assert "drafted" not in read(excerpt, shipped()).facts
    ended = excerpt + "slot release: id  0 | task 1 | stop processing: n_past = 8757, truncated = 0\n"
    assert read(ended, shipped()).facts.value("drafting") is False


ROUTER = (
    "[40455]        eval time =  156488.86 ms /  1793 tokens (   87.28 ms per token,    11.46 tokens per second)\n"
    "[40455] draft acceptance rate = 0.63658 ( 1093 accepted /  1717 generated)\n"
    "[40455] 3.16.185.174 I statistics draft-simple: #calls(b,g,a) = 1 699 364, #gen drafts = 470, #acc drafts = 364, "
    "#gen tokens = 1717, #acc tokens = 1093, dur(b,g,a) = 0.001, 40346.627, 0.207 ms\n"
)


def test_rounds_come_from_drafts_not_from_the_call_count_that_changed_its_meaning() -> None:
    facts = read(ROUTER, shipped()).facts
    assert (facts.number("rounds"), facts.value("method")) == (470.0, "draft-simple")
    assert facts.number("tokens_per_round") == pytest.approx(3.3255, abs=1e-4)
    assert facts.number("target_passes") == 699.0
    assert facts.number("draft_ms") == pytest.approx(57.72, abs=0.01)
    assert facts.number("pass_ms") == pytest.approx(166.16, abs=0.01)
    assert "round_ms" not in facts


def test_statistics_that_go_back_further_than_the_log_are_not_mixed_with_its_requests() -> None:
    text = (
        "[53409] 2.55.386.411 I slot print_timing: id  0 | task 229 | \n"
        "[53409]        eval time =   15000.17 ms /   192 tokens (   78.13 ms per token,    12.80 tokens per second)\n"
        "[53409] draft acceptance rate = 0.68449 (  128 accepted /   187 generated)\n"
        "[53409] 5.05.552.787 I statistics draft-mtp: #calls(b,g,a) = 11 796 796, #gen drafts = 796, "
        "#acc drafts = 694, #gen tokens = 1585, #acc tokens = 1252, dur(b,g,a) = 0.008, 33271.024, 1.264 ms\n"
    )
    reading = read(text, shipped())
    facts = reading.facts
    assert reading.contradictions == ()
    assert (facts.number("drafted"), facts.number("accepted")) == (187.0, 128.0)
    assert not {"rounds", "tokens_per_round", "pass_ms"} & set(facts)
    assert facts.number("draft_ms") == pytest.approx(33271.024 / 796)
    only = read(text.splitlines(keepends=True)[-1], shipped()).facts
    assert (only.number("rounds"), only.number("drafted")) == (796.0, 1585.0)
    assert only.number("tokens_per_round") == 1 + 1252 / 796


def test_old_names_of_methods() -> None:
    line = "statistics {name}: #calls = 9, #gen drafts = 9, #acc drafts = 5, #gen tokens = 20, #acc tokens = 10\n"
    names = {"draft": "draft-simple", "mtp": "draft-mtp", "eagle3": "draft-eagle3", "ngram_map_k4v": "ngram-map-k4v"}
    for old, new in names.items():
        assert read(line.format(name=old), shipped()).facts.value("method") == new


def test_fields_that_forks_add_to_a_line_do_not_matter() -> None:
    line = ROUTER.splitlines(keepends=True)[-1]
    more = line.replace("#gen drafts", "#resets = 2, #gen drafts").replace(
        "dur(b,g,a)", "p_acc_recent = 0.5, dur(b,g,a)"
    )
    assert more.count("=") == line.count("=") + 2
    assert values(read(more, shipped())) == values(read(line, shipped()))


def test_the_hybrid_counter_bug_is_a_contradiction_and_the_statistics_are_right() -> None:
    text = (
        "draft acceptance rate = 1.00000 (  115 accepted /   115 generated)\n"
        "statistics draft: #calls(b,g,a) = 1 82 33, #gen drafts = 81, #acc drafts = 33, #gen tokens = 214, "
        "#acc tokens = 115, dur(b,g,a) = 0.001, 999.634, 0.005 ms\n"
    )
    reading = read(TASK.format(task=0) + BLOCK + text, shipped())
    (problem,) = reading.contradictions
    assert problem.render() == (
        "file:6: the requests count 115 of 115 tokens accepted, the statistics 115 of 214: "
        "on hybrid targets the requests leave out rounds that were rejected in part"
    )
    assert reading.facts.number("drafted") == 214.0
    assert reading.facts.number("accepted_ratio") == pytest.approx(0.537, abs=0.001)


SELF = (RUNS / "self4.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("50 accepted /    50 g", "60 accepted /    50 g", "more tokens accepted than drafted: 60 of 50"),
        ("draft acceptance = 1.0", "draft acceptance = 0.9", "print an acceptance of 0.9 and count 50 accepted"),
        ("/    64 tokens (  564.61", "/    57 tokens (  564.61", "13 rounds do not fit into the target passes of 57"),
        ("#gen tokens =     50", "#gen tokens =     60", "of 50 tokens accepted, the statistics 50 of 60"),
    ],
)
def test_counters_that_cannot_all_be_true(old: str, new: str, message: str) -> None:
    assert old in SELF
    found = [problem.render() for problem in read(SELF.replace(old, new), shipped()).contradictions]
    assert any(message in problem for problem in found), found
    assert all(problem.startswith(("file:349: ", "file:351: ")) for problem in found)


def test_two_server_starts_in_one_log_contradict_each_other() -> None:
    reading = read(SELF + SELF, shipped())
    assert [problem.message for problem in reading.contradictions] == [
        "the log holds 2 server starts: cut it to one, the statistics start again with each"
    ]
    assert reading.facts["rate_tok_s"].samples == pytest.approx((63000 / 35570.51,) * 2)


def test_lines_as_collectors_and_terminals_hand_them_on() -> None:
    expected = values(read(SELF, shipped()))
    lines = SELF.splitlines()
    for dress in (
        lambda line: f"\x1b[32m{line[:13]}\x1b[0m{line[13:]}",
        lambda line: f"[18103] {line}",
        lambda line: f"llama-1  | {line}",
        lambda line: f"Nov 29 18:34:01 host llama-server[812]: {line}",
        lambda line: f"2026-11-29T18:34:01.123456789Z {line}",
        lambda line: '{"type":"log","time":42242894,"level":"I","msg":"' + line + '\\n"}',
    ):
        assert values(read("\n".join(dress(line) for line in lines) + "\n", shipped())) == expected


def test_translated_vocabularies_are_marked() -> None:
    text = (
        "common_speculative_are_compatible: draft model special tokens must match target model to use speculation\n"
        "the target and draft vocabs are not compatible - tokens will be translated between the two\n"
    )
    reading = read(TASK.format(task=0) + BLOCK + HALF + text, shipped())
    assert (reading.facts.value("translated"), reading.facts.value("drafting")) == (True, True)
    assert "refusal" not in reading.facts


def test_an_unknown_shape_of_a_known_line_is_shown() -> None:
    reading = read(SELF + "9.42.242.836 I slot print_timing: id  0 | task 9 | draft acceptance: 93 %\n", shipped())
    assert (reading.unread_lines, str(reading.unread[0].where)) == (1, f"file:{SELF.count(chr(10)) + 1}")
