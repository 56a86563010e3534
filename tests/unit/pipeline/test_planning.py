"""Scripts of measurements: which servers, which flags, which steps, and that bash takes them."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from specrules.catalog.case import load_case
from specrules.catalog.catalogue import Catalog
from specrules.errors import UsageError
from specrules.pipeline.planning import plan_script
from specrules.pipeline.triage import triage

NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.fixture(scope="module")
def catalog():
    return Catalog.load()


@pytest.fixture
def plan(tmp_path, catalog):
    """The script for a case of which only some lines are given. Named recipes of one engine share a verdict."""
    verdicts = {}

    def planning(
        engine="{id: llama.cpp, methods: [draft-simple]}",
        more="",
        recipe=None,
        drafter="model",
        incumbent="{drafting: false}",
        **options,
    ):
        file = tmp_path / "it's a case.yaml"
        file.write_text(
            f"schema: 1\ntarget: {{name: big model.gguf}}\ndrafter: {{name: small.gguf, class: {drafter}}}\n"
            f"engine: {engine}\nincumbent: {incumbent}\n{more}"
        )
        loaded = load_case(file)
        if engine not in verdicts:
            verdicts[engine] = triage(loaded, catalog=catalog, now=NOW)
        options |= {} if recipe is None else {"verdict": verdicts[engine]}
        script = plan_script(loaded, catalog=catalog, recipe=recipe, now=NOW, **options)
        checked = subprocess.run(["bash", "-n"], input=script.text, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        if shutil.which("shellcheck"):
            subprocess.run(["shellcheck", "-s", "bash", "-"], input=script.text, text=True, check=True)
        return script

    return planning


def lines(script, start):
    return [line.strip() for line in script.text.splitlines() if line.strip().startswith(start)]


class TestLlama:
    """llama.cpp: two servers in turns."""

    def test_candidate_against_the_target_alone(self, plan):
        script = plan(recipe="speculative-run")
        incumbent, candidate = lines(script, "llama-server")
        assert incumbent == (
            "llama-server -m 'big model.gguf' --host 127.0.0.1 --port 18080 -np 1 --metrics --spec-type none "
            '> "$out/incumbent.log" 2>&1 &'
        )
        assert candidate.startswith(
            "llama-server -m 'big model.gguf' --host 127.0.0.1 --port 18082 -np 1 --metrics "
            "--spec-type draft-simple -md small.gguf --spec-draft-n-max "
        )
        (measure,) = lines(script, "$specrules measure")
        assert measure.startswith(
            '$specrules measure incumbent="$incumbent_url" candidate="$candidate_url" --engine llama.cpp'
        )
        assert "--concurrency 1 --temperature 0 --max-tokens 128" in measure
        assert 'if grep -q \'"arm":"candidate"\' "$out/samples.jsonl"' in script.text
        assert (
            lines(script, "$specrules triage")[0]
            == '$specrules triage "$case_file" --evidence "$out" -o "$out/report.md"'
        )
        assert "case_file='" in script.text

    def test_flags_of_the_case_are_kept_and_drafting_ones_go_with_the_drafter(self, plan):
        drafting = "-md small.gguf, --spec-type draft-simple, --draft-p-min 0.5"
        flags = f"[-ngl 99, -c 4096, {drafting}, -np 4, --host 10.1.1.1, -m x]"
        script = plan(
            f"{{id: llama.cpp, methods: [draft-simple], flags: {flags}}}",
            "workload: {concurrency: 2}\n",
            "speculative-run",
        )
        incumbent, candidate = lines(script, "llama-server")
        assert "-np 2 --metrics -ngl 99 -c 4096 --spec-type none >" in incumbent
        assert (
            "-np 2 --metrics -ngl 99 -c 4096 -md small.gguf --spec-type draft-simple --draft-p-min 0.5 >" in candidate
        )
        assert "10.1.1.1" not in script.text

    def test_a_running_incumbent_is_measured_where_it_is(self, plan):
        script = plan(recipe="speculative-run", incumbent="{drafting: true, url: 'http://prod:8080'}")
        assert "incumbent_url=http://prod:8080" in script.text
        assert len(lines(script, "llama-server")) == 1

    def test_an_incumbent_that_drafts_and_is_not_to_be_had(self, plan):
        script = plan(recipe="speculative-run", incumbent="{drafting: true}")
        assert 'off="$off_url" candidate="$candidate_url"' in script.text
        assert "name it in incumbent.url to have it measured" in script.text

    def test_the_verify_curve_needs_no_server(self, plan):
        script = plan(recipe="verify-curve")
        assert lines(script, "llama-server") == []
        (bench,) = lines(script, "llama-batched-bench")
        assert bench.startswith("llama-batched-bench -m 'big model.gguf' -c 4096")
        assert '> "$out/verify-curve.jsonl" ||' in bench
        assert "evidence verify-curve.jsonl off" in script.text

    def test_agreement_asks_target_and_drafter(self, plan):
        script = plan(recipe="greedy-agreement")
        assert [line.split()[2] for line in lines(script, "llama-server")] == ["'big", "small.gguf"]
        assert '$specrules agree "$off_url" "$drafter_url" --engine llama.cpp --draft-length ' in script.text

    def test_an_hour_of_counters_needs_a_server_that_runs(self, plan):
        with pytest.raises(UsageError, match="no script can carry out 'incumbent-hour'"):
            plan(recipe="incumbent-hour")
        script = plan(recipe="incumbent-hour", incumbent="{url: 'http://prod:8080'}")
        assert 'curl -fsS "$incumbent_url"/metrics -o "$out/before.txt" && sleep "${PAUSE_S:-3600}"' in script.text
        assert "evidence after.txt incumbent before.txt" in script.text

    def test_one_after_the_other(self, plan):
        script = plan(recipe="speculative-run", sequential=True)
        assert len(lines(script, "$specrules measure")) == 2
        assert all("--append" in line for line in lines(script, "$specrules measure"))

    def test_the_best_is_chosen_where_none_is_named(self, plan):
        script = plan()
        assert script.recipe.id in {"speculative-run", "drafting-off", "verify-curve", "drafter-alone"}
        assert f"# {script.recipe.title}, for it's a case.yaml" in script.text

    def test_a_measurement_that_there_is_none_of(self, plan):
        with pytest.raises(UsageError, match="offers no measurement 'verify-curv'") as raised:
            plan(recipe="verify-curv")
        assert raised.value.problems[0].hint == "did you mean 'verify-curve'?"

    def test_a_port_and_a_folder(self, plan):
        script = plan(recipe="drafting-off", port=9000, folder="my run")
        assert "--port 9000" in script.text
        assert "out=${1:-'my run'}" in script.text


def test_vllm_gets_its_json_quoted(plan):
    script = plan("{id: vllm, methods: [draft_model], draft_length: 4}", recipe="speculative-run")
    (_, candidate) = lines(script, "vllm serve")
    assert candidate.startswith(
        "vllm serve 'big model.gguf' --host 127.0.0.1 --port 18082 --speculative-config "
        '\'{"method":"draft_model","model":"small.gguf","num_speculative_tokens":4}\''
    )


def test_halogen_needs_one_server_and_requests_that_choose(plan):
    script = plan(
        "{id: halogen-flash-server, methods: [mtp]}",
        recipe="drafting-off",
        drafter="mtp-head",
        incumbent="{url: 'http://strix:8731'}",
    )
    (measure,) = lines(script, "$specrules measure")
    assert measure.startswith('$specrules measure incumbent="$incumbent_url" --engine halogen-flash-server')
    assert measure.rstrip(" |true").find("--on-off") > 0
    assert lines(script, "llama-server") == []


def test_an_engine_without_a_command_asks_for_its_servers(plan):
    script = plan("{id: tabbyapi, methods: [model]}", recipe="drafting-off", incumbent="{drafting: true}")
    assert "off_url=${OFF_URL:?start this server and set OFF_URL to its URL}" in script.text
    assert "#   with: draft_mode=disabled" in script.text


def test_every_recipe_of_every_engine_gives_a_script_or_says_why_not(catalog, plan):
    for name in ("llama.cpp", "vllm", "sglang", "ik-llama.cpp", "mlx-lm", "halogen-flash-server"):
        engine = catalog.engine(name).model
        method = next(item for item in engine.methods if not item.removed)
        made = []
        for recipe in engine.recipes:
            with suppress(UsageError):
                options = {"drafter": method.drafter_class, "incumbent": "{url: 'http://h:1'}"}
                made.append(plan(f"{{id: {name}, methods: [{method.id}]}}", recipe=recipe.id, **options).recipe.id)
        assert "drafting-off" in made, name
        assert len(made) >= 2, name
