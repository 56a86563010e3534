"""What bench programs printed: curves, steps, rates with their spread, acceptance, and the load that they hold for."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import EvidenceError
from specrules.evidence.readers.reading import Reading, read_any, read_any_runs

from .support import PAIR, RECORDINGS, values

BENCH = RECORDINGS / "llama.cpp-b11434-bench"
GUIDELLM = RECORDINGS / "guidellm-0.8.1"
AIPERF = RECORDINGS / "aiperf-0.13.0"
TARGET, DRAFTER = "SmolLM2-135M-Instruct.Q4_1", "SmolLM2-drop12"


@cache
def programs():
    catalog = Catalog.load(environ={}, cwd=Path(__file__).parent)
    return [*(catalog.engine(name).model for name in catalog.engine_ids), *catalog.benches]


def read(path: Path, arm: str | None = None, **where: float | str) -> Reading:
    return read_any(str(path), programs(), arm, where=where)


class TestBatchedBench:
    """One pass over as many rows as there are sequences."""

    def test_a_table_gives_the_curve(self):
        found = values(read(PAIR / f"batched-bench-{TARGET}.md", "off"))
        # T_TG over the 48 passes that it is for.
        passes = [0.630, 1.231, 1.827, 1.572, 1.921, 2.641]
        assert found["off.verify_widths"] == (1, 2, 3, 4, 5, 8)
        assert found["off.verify_ms"] == pytest.approx([1000 * seconds / 48 for seconds in passes])
        assert found["off.rate_tok_s"] == pytest.approx(76.17, rel=1e-3)
        assert (found["off.rate_kind"], found["off.concurrency"], found["off.context_tokens"]) == ("decode", 1, 88)

    def test_the_same_of_the_drafter_alone_gives_its_step(self):
        found = values(read(PAIR / f"batched-bench-{DRAFTER}.md", "drafter"))
        assert found["drafter.rate_tok_s"] == pytest.approx(76.17, rel=1e-3)
        assert found["drafter.verify_ms"][-1] == pytest.approx(3268 / 48)

    def test_json_lines_and_table_agree_but_for_the_noise_of_two_runs(self):
        lines, table = read(PAIR / "batched-bench-target.jsonl"), read(PAIR / f"batched-bench-{TARGET}.md")
        assert lines.facts.keys() == table.facts.keys()
        assert lines.facts.value("verify_widths") == table.facts.value("verify_widths")
        assert lines.facts.value("verify_ms") == pytest.approx(table.facts.value("verify_ms"), rel=0.3)

    def test_each_prompt_length_is_a_curve_and_repeats_are_its_spread(self):
        found = values(read(BENCH / "llama-batched-bench.md", prompt=128))
        assert found["verify_widths"] == (1, 2, 4)
        assert found["verify_ms"] == pytest.approx([(232 + 222) / 32, (379 + 369) / 32, 502 / 16])
        assert found["verify_low_ms"] == pytest.approx([222 / 16, 369 / 16, 502 / 16])
        assert found["verify_high_ms"] == pytest.approx([232 / 16, 379 / 16, 502 / 16])
        assert found["context_tokens"] == 128 + 8
        with pytest.raises(EvidenceError, match=r"holds 2 runs: prompt=16; prompt=128 \(choose one by prompt\)"):
            read(BENCH / "llama-batched-bench.md")


class TestLlamaBench:
    """Tests of generation alone are rates; those of prompts are not."""

    @pytest.mark.parametrize("ending", ["json", "md"])
    @pytest.mark.parametrize(("model", "rates"), [(TARGET, (74.167246, 69.89)), (DRAFTER, (69.02857, 67.92))])
    def test_the_rate_of_generation(self, ending, model, rates):
        fact = read(PAIR / f"llama-bench-{model}.{ending}").facts["rate_tok_s"]
        assert fact.value == rates[ending == "md"]
        assert fact.low < fact.value < fact.high

    def test_repeats_are_samples_and_give_the_interval(self):
        fact = read(PAIR / f"llama-bench-{TARGET}.json").facts["rate_tok_s"]
        assert fact.samples == (72.7884, 62.8912, 76.7126, 80.49, 77.954)
        assert fact.high - fact.value == pytest.approx(2.132 * 6.889229 / 5**0.5, rel=1e-4)

    def test_a_printed_deviation_is_taken_as_the_interval(self):
        fact = read(PAIR / f"llama-bench-{TARGET}.md").facts["rate_tok_s"]
        assert (fact.low, fact.high) == (pytest.approx(69.89 - 5.72), pytest.approx(69.89 + 5.72))

    @pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "md"])
    def test_every_format_holds_the_same_four_tests(self, ending):
        runs = read_any_runs(str(BENCH / f"llama-bench.{ending}"), programs())
        told = [(run.run["generated"], run.run["depth"]) for run in runs]
        assert told == [(16, 0), (32, 0), (16, 128), (32, 128)]
        assert [run.facts.value("context_tokens") for run in runs] == [8, 16, 136, 144]

    def test_a_file_of_prompts_alone_has_no_rate(self, tmp_path):
        rows = json.loads((PAIR / f"llama-bench-{TARGET}.json").read_text())[:1]
        (tmp_path / "pp.json").write_text(json.dumps(rows))
        reading = read(tmp_path / "pp.json")
        assert "rate_tok_s" not in values(reading)
        assert "none of its 1 records counts" in reading.warnings[0].message


class TestFitParams:
    """What a model takes, as the engine reckons it."""

    def test_the_estimate_is_cut_to_whole_mebibytes(self):
        fact = read(PAIR / f"fit-params-{DRAFTER}.txt", "drafter").facts["drafter.memory_gib"]
        assert fact.value == pytest.approx((89 + 21 + 103) / 1024)
        assert (fact.low, fact.high) == (fact.value, pytest.approx((89 + 21 + 103 + 3) / 1024))

    def test_on_devices_the_host_does_not_count(self, tmp_path):
        (tmp_path / "fit").write_text("CUDA0 4000 300 200 \nCUDA1 3000 200 100 \nHost 500 0 20 \n")
        fact = read(tmp_path / "fit").facts["memory_gib"]
        assert fact.value == pytest.approx(7800 / 1024)
        assert fact.high == pytest.approx(7806 / 1024)

    def test_fitted_settings(self):
        assert values(read(BENCH / "llama-fit-params.txt")) == {"engine.context_tokens": 8192}


class TestGuideLlm:
    """Each load is a run; the acceptance of vLLM's answers is kept."""

    def test_a_run_with_acceptance(self):
        reading = read(GUIDELLM / "spec.json", streams=1)
        found = values(reading)
        assert (reading.engine_id, found["drafting"], found["draft_length"]) == ("guidellm", True, 3)
        assert (found["rounds"], found["accepted"], found["drafted"]) == (230, 345, 690)
        assert found["tokens_per_round"] == 2.5
        assert sum(found["position_acceptance"]) == pytest.approx(1.5)
        assert len(reading.facts["tokens_per_round"].samples) == 12
        assert len(reading.facts["rate_tok_s"].samples) == 12

    def test_its_time_per_token_is_the_one_without_the_first(self):
        # The server commits 2.45 tokens every 12 ms: some 5 ms a token, and 5.6 with the time to the first.
        assert 1000 / values(read(GUIDELLM / "spec.json", streams=1))["rate_tok_s"] == pytest.approx(5.07, abs=0.01)

    def test_without_acceptance_nothing_is_said_of_drafting(self):
        found = values(read(GUIDELLM / "off.json", streams=4))
        assert 1000 / found["rate_tok_s"] == pytest.approx(12.1, abs=0.4)
        assert (found["concurrency"], found["rate_kind"]) == (4, "client")
        assert not {"drafting", "rounds", "tokens_per_round", "position_acceptance"} & found.keys()

    def test_the_loads_are_told_apart(self):
        with pytest.raises(EvidenceError, match=r"holds 2 runs: streams=1, started=.*; streams=4, started="):
            read(GUIDELLM / "spec.json")


class TestAiPerf:
    """Summary and requests of one run say the same."""

    def test_both_files_agree(self):
        summary = read(AIPERF / "spec.profile_export_aiperf.json")
        requests = read(AIPERF / "spec.profile_export.jsonl")
        for name in ("requests", "tokens", "rounds", "accepted", "drafted", "tokens_per_round", "position_acceptance"):
            assert requests.facts.value(name) == pytest.approx(summary.facts.value(name)), name
        assert requests.facts.number("rate_tok_s") == pytest.approx(summary.facts.number("rate_tok_s"))
        assert summary.facts.value("concurrency") == 4
        assert summary.facts.value("round_ms") == pytest.approx(11.87, abs=0.01)

    def test_requests_are_samples(self):
        reading = read(AIPERF / "spec.profile_export.jsonl")
        assert len(reading.facts["tokens_per_round"].samples) == 12
        assert reading.facts["tokens_per_round"].samples[0] == pytest.approx(1 + 30 / 17)

    def test_without_acceptance_nothing_is_said_of_drafting(self):
        for name in ("off.profile_export_aiperf.json", "off.profile_export.jsonl"):
            found = values(read(AIPERF / name))
            assert 1000 / found["rate_tok_s"] == pytest.approx(12.14, abs=0.01)
            assert not {"drafting", "rounds", "tokens_per_round", "round_ms"} & found.keys()


def test_a_method_of_spec_bench_and_its_baseline(tmp_path):
    def line(lengths):
        choice = {
            "index": 0,
            "turns": [""],
            "new_tokens": [sum(lengths)],
            "wall_time": [1.0],
            "accept_lengths": lengths,
        }
        return json.dumps({"question_id": 1, "category": "qa", "choices": [choice]}) + "\n"

    (tmp_path / "eagle.jsonl").write_text(line([4, 1, 3]) + line([2, 2]))
    (tmp_path / "vanilla.jsonl").write_text(line([1] * 40) + line([1] * 20))
    drafted, plain = (values(read(tmp_path / f"{name}.jsonl")) for name in ("eagle", "vanilla"))
    assert (drafted["drafting"], drafted["tokens_per_round"], drafted["rate_tok_s"]) == (True, 12 / 5, 6)
    assert drafted["position_acceptance"] == pytest.approx([0.8, 0.4, 0.2])
    assert (plain["drafting"], plain["rate_tok_s"]) == (False, 30)
    assert not {"tokens_per_round", "position_acceptance", "rounds"} & plain.keys()
