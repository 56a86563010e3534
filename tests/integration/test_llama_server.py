"""init, measure, agree, plan and triage against a real llama-server."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from specrules.catalog.case import load_case

from .conftest import environment, number, running, specrules

pytestmark = pytest.mark.llama_server

DRAFTING = ("--spec-type", "draft-simple", "--spec-draft-n-max", "3", "--metrics", "-md")
PATIENT = ("--timeout", "300")
FEW = ("--max-tokens", "20", "--warm-up", "1", "--requests", "9", *PATIENT)


@pytest.fixture
def case_of(tmp_path, target, drafter):
    """A case about the pair that a server was asked about."""

    def written(more=""):
        file = tmp_path / "case.yaml"
        file.write_text(
            f"schema: 1\ntarget: {{name: small, file: {target}, kind: dense}}\n"
            f"drafter: {{name: less one layer, class: model, file: {drafter}}}\n"
            "engine: {id: llama.cpp, methods: [draft-simple], draft_length: 3, flags: [-c 1024, -t 1]}\n"
            "workload: {concurrency: 1, temperature: 0, output_tokens: 24}\nincumbent: {drafting: false}\n" + more
        )
        return file

    return written


def test_init_sees_what_really_drafts(tmp_path, target, drafter):
    with running(tmp_path, "-m", target, *DRAFTING, drafter) as server:
        ran = specrules(
            "init",
            "--target",
            server.url,
            "--drafter",
            drafter,
            *PATIENT,
            "-o",
            "case.yaml",
            cwd=tmp_path,
        )
    assert ran.code == 0, ran.err
    case = load_case(tmp_path / "case.yaml").case
    assert case.engine.id == "llama.cpp"
    assert case.engine.methods == ("draft-simple",)
    assert case.incumbent.drafting is True
    # llama-server tells nobody with which method it drafts.
    assert case.incumbent.method is None
    assert "# method: the one that the server was started with" in (tmp_path / "case.yaml").read_text()
    assert case.target.file == target
    assert case.target.kind == "dense"
    assert case.drafter.drafter_class == "model"
    assert case.workload.concurrency == 1


def test_init_sees_a_drafter_that_was_refused(tmp_path, target, other_vocabulary):
    with running(tmp_path, "-m", target, *DRAFTING, other_vocabulary) as server:
        ran = specrules(
            "init", "--target", server.url, "--log", server.log, "--timeout", 300, "-o", "case.yaml", cwd=tmp_path
        )
    assert ran.code == 0, ran.err
    text = (tmp_path / "case.yaml").read_text()
    assert "slots: Nothing drafts, whatever speculative.types in the same answer says." in text
    case = load_case(tmp_path / "case.yaml").case
    assert case.incumbent.drafting is False
    assert case.incumbent.method is None
    assert [item.path for item in case.evidence] == [str(server.log)]


def test_measure_the_pair_and_judge_it(tmp_path, target, drafter, prompts, case_of):
    """A drafter that costs nearly a target: keep what runs today. Output is the same with and without drafting."""
    with (
        running(tmp_path, "-m", target, "--metrics", name="off") as off,
        running(tmp_path, "-m", target, *DRAFTING, drafter, name="drafting") as drafting,
    ):
        ran = specrules(
            "measure",
            f"incumbent={off.url}",
            f"candidate={drafting.url}",
            "--prompts",
            prompts,
            *FEW,
            "-o",
            "pair.jsonl",
            "--format",
            "json",
            cwd=tmp_path,
        )
    assert ran.code == 0, ran.err
    assert "asking" in ran.err
    assert "measuring: up to 9 requests to each arm" in ran.err
    data = json.loads(ran.out)
    facts = {fact["name"]: fact["value"] for fact in data["facts"]}
    assert facts["incumbent.drafting"] is False
    assert facts["candidate.drafting"] is True
    assert facts["candidate.same_outputs"] == 1.0
    assert 1.5 < facts["candidate.tokens_per_round"] <= 4
    assert facts["candidate.coverage"] > 0.9
    positions = facts["candidate.position_acceptance"]
    assert positions == sorted(positions, reverse=True)
    assert facts["candidate.tokens_per_round"] == pytest.approx(1 + sum(positions), rel=1e-6)
    assert data["comparisons"][0]["ratio"]["high"] < 1
    assert data["comparisons"][0]["side"] == "below"

    case = case_of("evidence:\n  - {path: pair.jsonl, arm: incumbent}\n  - {path: pair.jsonl, arm: candidate}\n")
    ran = specrules("triage", case, "--format", "json", cwd=tmp_path)
    assert ran.code == 0, ran.err
    verdict = json.loads(ran.out)
    assert verdict["economics"] == "keep-incumbent"


def test_measure_n_gram_drafts(tmp_path, target, prompts):
    flags = (
        "--spec-type",
        "ngram-simple",
        "--spec-ngram-simple-size-n",
        "3",
        "--spec-ngram-simple-size-m",
        "4",
        "--metrics",
    )
    echo = tmp_path / "echo.jsonl"
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda"
    echo.write_text(
        "".join(
            json.dumps({"prompt": f"Repeat exactly, {index} times: {words}. {words}. {words}."}) + "\n"
            for index in range(2, 11)
        )
    )
    with running(tmp_path, "-m", target, *flags) as server:
        ran = specrules(
            "measure", f"candidate={server.url}", "--prompts", echo, *FEW, "--all", "--format", "json", cwd=tmp_path
        )
    assert ran.code == 0, ran.err
    facts = {fact["name"]: fact["value"] for fact in json.loads(ran.out)["facts"]}
    assert facts["candidate.drafting"] is True
    # n-grams draft in a part of the passes only, so that there is no one time of a round.
    assert 0 < facts["candidate.coverage"] < 1
    assert "candidate.round_ms" not in facts


def test_measure_a_server_that_is_killed(tmp_path, target, prompts):
    with running(tmp_path, "-m", target, "--metrics") as server:
        killer = threading.Thread(target=_kill_after, args=(server, tmp_path / "samples.jsonl", 3))
        killer.start()
        ran = specrules("measure", server.url, "--prompts", prompts, *FEW, "--all", cwd=tmp_path)
        killer.join()
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("the server of incumbent was lost: ")
    assert "samples are kept in samples.jsonl" in ran.err
    read = specrules("read", "samples.jsonl", cwd=tmp_path)
    assert read.code == 0
    assert number(read.out, "incumbent.requests") >= 2


def _kill_after(server, samples: Path, lines: int) -> None:
    for _ in range(1200):
        if samples.exists() and samples.read_text(errors="replace").count("\n") >= lines:
            break
        time.sleep(0.05)
    server.kill()


def test_agree(tmp_path, target, drafter, other_vocabulary, prompts):
    with (
        running(tmp_path, "-m", target, name="target") as one,
        running(tmp_path, "-m", drafter, name="drafter") as other,
    ):
        words = (
            "--prompts",
            prompts,
            "--number",
            "8",
            "--max-tokens",
            "20",
            "--cuts",
            "4",
            "--draft-length",
            "3",
            "--timeout",
            "300",
        )
        ran = specrules("agree", one.url, other.url, *words, "--format", "json", cwd=tmp_path)
        refused = specrules("agree", one.url, other.url, *words, "--tokenizers", target, other_vocabulary, cwd=tmp_path)
    assert ran.code == 0, ran.err
    data = json.loads(ran.out)
    assert data["tokenizers"] == "identical, compared id by id"
    assert 1.3 < data["tokens_per_round"]["value"] <= 4
    assert data["shaded"]["low"] < data["shaded"]["high"]
    assert refused.code == 2
    assert "the tokenizers differ (" in refused.err


def test_plan_runs_and_its_folder_is_evidence(tmp_path, drafter, case_of):
    """The script of the drafted run, as printed: two servers, requests in turns, the verdict."""
    case = case_of()
    planned = specrules("plan", case, "--recipe", "speculative-run", "--port", "28180", "-o", "plan.sh", cwd=tmp_path)
    assert planned.code == 0, planned.err
    script = (tmp_path / "plan.sh").read_text()
    short = tmp_path / "short.yaml"
    lines = "".join(f"  - {{id: p{index}, text: 'What is {index} and one?'}}\n" for index in range(9))
    short.write_text(f"schema: 1\nid: short\ntask: chat\ntitle: short\nprompts:\n{lines}")
    script = script.replace('--case "$case_file"', f'--case "$case_file" --prompts {short} --requests 9 --timeout 300')
    done = subprocess.run(
        ["bash", "-c", script, "plan.sh", "results"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=900,
        env=environment() | {"SPECRULES": f"{sys.executable} -m specrules"},
    )
    assert done.returncode == 0, done.stderr
    listed = (tmp_path / "results" / "evidence.yaml").read_text()
    assert "{path: samples.jsonl, arm: candidate}" in listed
    assert "{path: candidate.log, arm: candidate}" in listed
    assert done.stdout.count("# VERDICT: ") == 1
    again = specrules("triage", case, "--evidence", "results", "--format", "json", cwd=tmp_path)
    verdict = json.loads(again.out)
    assert verdict["economics"] == "keep-incumbent"
    assert verdict["incumbent"]["rate_tok_s"] > 0


def test_plan_of_the_verify_curve(tmp_path, case_of):
    case = case_of()
    specrules("plan", case, "--recipe", "verify-curve", "-o", "plan.sh", cwd=tmp_path)
    script = (
        (tmp_path / "plan.sh").read_text().replace("-npp 128 -ntg 64 -npl 1,2,3,4,5,8", "-npp 16 -ntg 8 -npl 1,2,4")
    )
    done = subprocess.run(
        ["bash", "-c", script, "plan.sh", "results"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=900,
        env=environment() | {"SPECRULES": f"{sys.executable} -m specrules"},
    )
    assert done.returncode == 0, done.stderr
    assert "{path: verify-curve.jsonl, arm: off}" in (tmp_path / "results" / "evidence.yaml").read_text()
    again = specrules("triage", case, "--evidence", "results", "--format", "json", cwd=tmp_path)
    names = {fact["name"] for fact in json.loads(again.out)["facts"]}
    assert {"off.verify_widths", "off.verify_ms"} <= names
