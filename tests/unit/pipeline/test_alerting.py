"""Rules for Prometheus: thresholds of a verdict, names of an engine's metric map, and what promtool says of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from specrules.catalog.case import load_case
from specrules.errors import EvidenceError, UsageError
from specrules.model.alerting import Watch
from specrules.pipeline.alerting import Watching, watch
from specrules.report.prometheus_rules import prometheus_rules

from .build import DEPLOY, NOW, catalog

needs_promtool = [
    pytest.mark.prometheus,
    pytest.mark.skipif(shutil.which("promtool") is None, reason="the program promtool is not installed"),
]
WITH_METRICS = ("llama.cpp", "vllm", "sglang", "tensorrt-llm", "halogen-flash-server")
MINIMAL = "schema: 1\ntarget: {name: t}\ndrafter: {name: d, class: block}\nengine: {id: llama.cpp}\n"
TITLED = 'title=A "head" {{ of # many'


def watched(*settings: str, watching: Watching | None = None) -> Watch:
    loaded = load_case(None, (*DEPLOY, TITLED, *settings))
    return watch(loaded, catalog=catalog(), watching=watching, now=NOW)


def of_engine(name: str) -> tuple[str, ...]:
    return () if name == "llama.cpp" else (f"engine={{id: {name}}}", "engine.draft_length=7", "engine.flags=[]")


def written(found: Watch) -> str:
    return prometheus_rules(found, catalog().template_folders, NOW)


def rules(text: str) -> list[dict]:
    (group,) = yaml.safe_load(text)["groups"]
    return group["rules"]


def alert(found: Watch, name: str) -> str:
    return next(item.query for item in found.alerts if item.name == name)


class TestThresholds:
    """Where the numbers come from."""

    def test_break_even_and_expectation_of_the_verdict(self):
        found = watched()
        # A round of 3.87 tokens at 43.5 tok/s, against 18.8 tok/s of the incumbent: 18.8 * 3.87 / 43.5.
        assert " < 1.67255 and " in alert(found, "SpeculationLosing")
        assert " < 3.483 and " in alert(found, "SpeculationAcceptanceFell")
        assert found.draft_length == 7
        assert found.remarks[0].startswith("The verdict: Deploy: ")

    def test_another_drop(self):
        found = watched(watching=Watching(drop=0.25))
        assert f" < {0.75 * 3.87:.6g} and " in alert(found, "SpeculationAcceptanceFell")

    def test_a_drop_below_the_break_even_is_watched_as_a_loss(self):
        found = watched(watching=Watching(drop=0.6))
        assert [item.name for item in found.alerts] == ["SpeculationSilentlyOff", "SpeculationLosing"]
        assert found.remarks[1] == "With 60% less than the expected 3.87 tokens per round it is losing already."

    def test_where_rounds_are_not_counted_the_ratio_is_watched(self):
        found = watched(*of_engine("tensorrt-llm"))
        assert "specrules:accepted:ratio{case=" in alert(found, "SpeculationLosing")
        assert f" < {(18.8 * 3.87 / 43.5 - 1) / 7:.6g} and " in alert(found, "SpeculationLosing")
        assert f" < {0.9 * 2.87 / 7:.6g} and " in alert(found, "SpeculationAcceptanceFell")
        assert "Rounds are not counted" in found.remarks[-1]

    def test_a_depth_at_which_nothing_pays_is_nothing_to_watch(self):
        slow = ("measurements.candidate.rate_tok_s=8", "measurements.candidate.tokens_per_round=3.87")
        with pytest.raises(
            EvidenceError, match=r"at K = 7 no acceptance pays: 9.09\d tokens per round are needed of 8"
        ):
            watched(*slow)

    def test_a_break_even_that_is_not_known_names_what_is_missing(self):
        without = tuple(setting for setting in DEPLOY if not setting.startswith("incumbent.rate"))
        with pytest.raises(
            EvidenceError, match=r"break-even at K = 7 is not known yet: it needs .*incumbent\.rate_tok_s"
        ):
            watch(load_case(None, without), catalog=catalog(), now=NOW)

    def test_an_engine_without_metrics(self):
        with pytest.raises(EvidenceError, match="the file of halogen-server knows no metrics for Prometheus"):
            watched(*of_engine("halogen-server"))

    def test_options_that_make_no_sense(self):
        with pytest.raises(UsageError) as raised:
            watched(watching=Watching(window="10", patience="", drop=1))
        assert [problem.message.split(":")[0] for problem in raised.value.problems] == ["--window", "--for", "--drop"]


class TestQueries:
    """How the fields of a reader are queried."""

    def test_a_fact_that_a_gauge_and_counters_give_is_queried_by_counters(self):
        (rate,) = [record for record in watched().records if record.name == "specrules:decode:rate"]
        assert "llamacpp:predicted_tokens_seconds" not in rate.query
        assert rate.query.count("llamacpp:tokens_predicted_seconds_total") == 1

    def test_window_selector_and_labels(self):
        found = watched(watching=Watching("5m", "1h", '{job="llm"}', ("pod",)))
        assert found.records[0].query == 'sum by (pod) (rate(llamacpp:tokens_predicted_total{job="llm"}[5m]))'
        assert found.records[-1].query == 'avg by (pod) (avg_over_time(llamacpp:requests_processing{job="llm"}[5m]))'
        assert found.patience == "1h"
        assert found.alerts[0].summary == "Silently not drafting on {{ $labels.pod }}"

    def test_a_selector_that_is_none(self):
        with pytest.raises(EvidenceError, match="is no selector"):
            watched(watching=Watching(selector='up{job="llm"}'))

    @pytest.mark.parametrize("engine", WITH_METRICS)
    def test_every_metric_is_one_of_the_engines_file(self, engine):
        loaded = catalog().engine(engine).model
        known = {field.metric for reader in loaded.readers for field in reader.fields.values() if field.metric}
        for record in watched(*of_engine(engine)).records:
            asked = set(re.findall(r"[a-z_]+:[a-z_]+|trtllm_[a-z_]+", record.query))
            assert asked
            assert asked <= known


class TestFile:
    """The YAML that is written."""

    def test_titles_cannot_break_out(self, tmp_path):
        path = tmp_path / "case.yaml"
        path.write_text(
            f"{MINIMAL}title: \"a\\n      - record: 'b'\"\nnotes: x\n".replace("{name: t}", '{name: "x\\ny: z"}')
        )
        found = watch(load_case(path, DEPLOY), catalog=catalog(), now=NOW)
        text = written(found)
        assert all(line.startswith("#") for line in text.splitlines()[:2])
        assert {rule["labels"]["case"] for rule in rules(text)} == {"a - record: 'b'"}
        assert {rule["labels"]["case"] for rule in rules(written(watched()))} == {'A "head" { { of # many'}

    def test_a_case_without_a_title_is_named_by_its_file(self, tmp_path):
        path = tmp_path / "our-case.yaml"
        path.write_text(MINIMAL)
        found = watch(load_case(path, DEPLOY), catalog=catalog(), now=NOW)
        assert found.case == "our-case"

    def test_the_same_moment_gives_the_same_bytes(self):
        assert written(watched()) == written(watched())


SCENARIO = """
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
{series}
    alert_rule_test:
{wanted}
"""
NAMES = ("SpeculationSilentlyOff", "SpeculationLosing", "SpeculationAcceptanceFell")
TOKENS_PER_MINUTE = 600


def promtool(folder: Path, *arguments: str) -> str:
    ran = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def series(name: str, per_minute: float) -> str:
    labels = '{job="llm",instance="gpu:8000"}'
    return f"      - {{series: '{name}{labels}', values: '0+{per_minute:g}x120'}}"


def scenario(found: Watch, tokens_per_round: float | None, tokens: float = TOKENS_PER_MINUTE) -> str:
    """A server of llama.cpp that serves for two hours at these tokens per round; None: without drafting."""
    rounds = 0 if tokens_per_round is None else tokens / tokens_per_round
    accepted = 0 if tokens_per_round is None else rounds * (tokens_per_round - 1)
    given = {
        "llamacpp:tokens_predicted_total": tokens,
        "llamacpp:tokens_predicted_seconds_total": 15,
        "llamacpp:spec_decode_num_drafts_total": rounds,
        "llamacpp:spec_decode_num_draft_tokens_total": rounds * 7,
        "llamacpp:spec_decode_num_accepted_tokens_total": accepted,
    }
    raised = {
        "SpeculationSilentlyOff": tokens > 0 and tokens_per_round is None,
        "SpeculationLosing": tokens_per_round is not None and tokens_per_round < 1.67,
        "SpeculationAcceptanceFell": tokens_per_round is not None and tokens_per_round < 3.48,
    }
    wanted = []
    for name in NAMES:
        wanted.append(
            f"      - eval_time: 110m\n        alertname: {name}\n        exp_alerts:{'' if raised[name] else ' []'}"
        )
        if raised[name]:
            item = next(item for item in found.alerts if item.name == name)
            value = f"{tokens / 60:.2f}" if tokens_per_round is None else f"{tokens_per_round:.2f}"
            shown = item.description.replace('{{ $value | printf "%.2f" }}', value)
            where = item.summary.replace("{{ $labels.job }}", "llm").replace("{{ $labels.instance }}", "gpu:8000")
            labels = {"case": found.case, "draft_length": "7", "engine": "llama.cpp", "severity": "warning"}
            entry = {
                "exp_labels": {**labels, "job": "llm", "instance": "gpu:8000"},
                "exp_annotations": {"summary": where, "description": shown},
            }
            wanted.append("          - " + yaml.safe_dump(entry, default_flow_style=True, width=10_000).strip())
    return SCENARIO.format(series="\n".join(series(*item) for item in given.items()), wanted="\n".join(wanted))


class TestPromtool:
    """What Prometheus itself says of the rules."""

    pytestmark = needs_promtool

    @pytest.mark.parametrize("engine", WITH_METRICS)
    def test_the_rules_of_every_engine_load(self, engine, tmp_path):
        (tmp_path / "rules.yml").write_text(written(watched(*of_engine(engine))))
        assert "SUCCESS" in promtool(tmp_path, "check", "rules", "rules.yml")

    @pytest.mark.parametrize("tokens_per_round", [3.87, 3.5, 3.4, 1.7, 1.6, 1.0, None])
    def test_alerts_are_raised_where_they_should_be(self, tokens_per_round, tmp_path):
        found = watched()
        (tmp_path / "rules.yml").write_text(written(found))
        (tmp_path / "test.yml").write_text(scenario(found, tokens_per_round))
        promtool(tmp_path, "test", "rules", "test.yml")

    def test_a_server_without_traffic_raises_nothing(self, tmp_path):
        found = watched()
        (tmp_path / "rules.yml").write_text(written(found))
        (tmp_path / "test.yml").write_text(scenario(found, None, tokens=0))
        promtool(tmp_path, "test", "rules", "test.yml")
