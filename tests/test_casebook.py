"""The casebook benchmark on a handful of rows: what it reads, what it hides from the engine, what it counts."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
ROW: dict[str, Any] = {
    "id": "deep",
    "source": "https://example.org/thread/1 (comment 2026-01-02)",
    "engine": "llama.cpp",
    "engine_version": "b1",
    "hardware": "RTX 3090 24GB",
    "target": {"model": "t", "quant": "Q4", "params_b": 27, "active_params_b": None, "moe": False},
    "drafter": {"class": "mtp", "model": "head", "quant": None, "params_b": None},
    "settings": {"k": 3, "p_min": None, "temperature": 0, "batch": 1, "context": None, "task": "code", "tree": None},
    "given": {
        "target_tok_s": 25,
        "target_step_ms": None,
        "acceptance_reported": None,
        "acceptance_definition": "unknown",
        "acceptance_length": 3.4,
        "rounds": None,
        "per_position": [],
    },
    "observed": {"spec_tok_s": 50, "speedup": None, "outcome": "win"},
    "quality": "A",
    "note": "",
}
FIGURES = {
    "rows",
    "decided",
    "right",
    "winners",
    "winners_rejected",
    "losers",
    "losers_deployed",
    "neutral",
    "invalid_evidence",
    "sign_right",
    "in_interval_90",
    "median_abs_error",
}


def row(name: str, **parts: object) -> dict[str, Any]:
    """The row above under another name, with fields of its parts replaced: `settings={"k": 1}`."""
    made = copy.deepcopy(ROW) | {"id": name}
    for part, value in parts.items():
        made[part] = made[part] | value if isinstance(value, Mapping) else value
    return made


@pytest.fixture(name="bench", scope="module")
def _bench() -> ModuleType:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import casebook  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(BENCHMARKS))
    return casebook


def read(bench: ModuleType, tmp_path: Path, *rows: object) -> tuple[list[Any], list[Any]]:
    file = tmp_path / "casebook.yaml"
    file.write_text(yaml.safe_dump(list(rows)), encoding="utf-8")
    found: tuple[list[Any], list[Any]] = bench.read_rows(file)
    return found


class TestRows:
    def test_what_cannot_be_judged_is_named_with_its_reason(self, bench: ModuleType, tmp_path: Path) -> None:
        rows, skipped = read(
            bench,
            tmp_path,
            row("good"),
            "not a row",
            {"id": "empty"},
            row("odd", drafter={"class": "telepathy"}),
            row("where", hardware="not stated", target={"moe": None}),
            row("open", observed={"spec_tok_s": None, "outcome": None}),
            {"id": 7, "drafter": {"class": "mtp"}, "hardware": "CPU", "observed": {"outcome": "loss"}},
        )
        assert [item.id for item in rows] == ["good", "7"]
        assert {item.id: item.reason.split(" ")[-1] for item in skipped} == {
            "row 2": "mapping",
            "empty": "class",
            "odd": "other",
            "where": "target",
            "open": "against",
        }

    def test_comments_of_one_thread_are_one_source(self, bench: ModuleType, tmp_path: Path) -> None:
        rows, _ = read(bench, tmp_path, row("a"), row("b", source="https://example.org/thread/1 benchmark/x.json"))
        assert {item.source for item in rows} == {"https://example.org/thread/1"}

    @pytest.mark.parametrize(
        ("parts", "depth", "tokens"),
        [
            ({}, 3, 3.4),
            ({"given": {"acceptance_length": 9}}, 3, None),
            ({"given": {"acceptance_length": None, "per_position": [0.9, 0.7, 0.5]}}, 3, 3.1),
            ({"given": {"acceptance_length": None, "per_position": [0.5, 0.7]}}, 3, None),
            (
                {"given": {"acceptance_length": None, "rounds": 10, "accepted_tokens": 8, "drafted_tokens": 16}},
                2,
                1.8,
            ),
            ({"settings": {"p_min": 0.5}}, None, 3.4),
            ({"settings": {"k": "three"}, "given": {"acceptance_length": True}}, None, None),
            (
                {
                    "given": {
                        "acceptance_length": None,
                        "acceptance_reported": 0.5,
                        "acceptance_definition": "accepted_over_drafted",
                    }
                },
                3,
                2.5,
            ),
            ({"given": {"acceptance_length": None, "acceptance_reported": 0.5}}, 3, None),
        ],
    )
    def test_depth_and_tokens_per_round(
        self, bench: ModuleType, tmp_path: Path, parts: dict[str, Any], depth: int | None, tokens: float | None
    ) -> None:
        (item,), _ = read(bench, tmp_path, row("x", **parts))
        assert item.depth == depth
        assert item.tokens_per_round == (None if tokens is None else pytest.approx(tokens))

    def test_the_outcome_follows_the_speedup(self, bench: ModuleType, tmp_path: Path) -> None:
        speeds = {"a": 1.031, "b": 1.029, "c": 0.971, "d": 0.969}
        rows, _ = read(bench, tmp_path, *(row(name, observed={"speedup": value}) for name, value in speeds.items()))
        assert [item.outcome for item in rows] == ["win", "neutral", "neutral", "loss"]


class TestCases:
    def test_the_rate_with_drafting_is_hidden(self, bench: ModuleType, tmp_path: Path) -> None:
        (one,), _ = read(bench, tmp_path, row("x", observed={"spec_tok_s": 47.125}))
        assert "47.125" not in json.dumps(bench.before(one))
        assert bench.before(one)["incumbent"] == {"drafting": False, "rate_tok_s": {"value": 25, "unit": "tok/s"}}

    def test_a_run_is_of_the_same_pair_at_another_depth(self, bench: ModuleType, tmp_path: Path) -> None:
        shallow = row("shallow", settings={"k": 1}, given={"acceptance_length": 1.8}, observed={"spec_tok_s": 40})
        others = [
            row("build", engine_version="b2", settings={"k": 1}),
            row("head", drafter={"model": "other"}, settings={"k": 1}),
            row("gate", settings={"k": 1, "p_min": 0.0}),
            row("same", observed={"spec_tok_s": 48}),
        ]
        rows, _ = read(bench, tmp_path, row("deep"), *others, shallow)
        assert [item.id for item in bench.runs_for(rows[0], rows)] == ["shallow"]
        candidate = bench.after(rows[0], rows[-1])["measurements"]["candidate"]
        assert candidate["draft_length"] == 1
        assert candidate["rate_tok_s"]["value"] == pytest.approx(40)
        assert candidate["tokens_per_round"]["value"] == pytest.approx(1.8)

    def test_another_text_serves_where_tokens_were_counted(self, bench: ModuleType, tmp_path: Path) -> None:
        prose = row("prose", settings={"k": 1, "task": "prose"}, given={"acceptance_length": 1.6})
        rows, _ = read(bench, tmp_path, row("deep"), prose)
        assert len(bench.runs_for(rows[0], rows)) == 1
        rows, _ = read(bench, tmp_path, row("deep", given={"acceptance_length": None}), prose)
        assert bench.runs_for(rows[0], rows) == []


class TestPriors:
    def test_leaving_a_source_out_leaves_it_out(self, bench: ModuleType) -> None:
        from specrules.model.prior import PriorFile

        left = "https://github.com/Luce-Org/lucebox"
        assert any(item.source == left for item in bench.fitting_rows())
        priors = bench.catalogue_without(left).only(PriorFile, "priors", "priors").model
        shipped = bench.shipped().only(PriorFile, "priors", "priors").model
        assert any(left in prior.sources for prior in shipped.priors)
        assert not any(left in prior.sources for prior in priors.priors)
        by_id = {prior.id: prior for prior in priors.priors}
        assert by_id["slope-block-dense-long"].mid != pytest.approx(
            next(prior.mid for prior in shipped.priors if prior.id == "slope-block-dense-long"), rel=0.01
        )

    def test_a_source_that_was_never_seen_gets_the_shipped_ones(self, bench: ModuleType) -> None:
        assert bench.catalogue_without("https://example.org/thread/1") is bench.shipped()

    def test_the_shipped_file_is_what_the_casebook_gives(self) -> None:
        run = subprocess.run(
            [sys.executable, str(BENCHMARKS / "fit_priors.py"), "--check"],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT)},
            check=False,
        )
        assert (run.returncode, run.stderr) == (0, ""), run.stdout


class TestFigures:
    def test_json_of_four_rows(self, tmp_path: Path) -> None:
        file = tmp_path / "casebook.yaml"
        rows = [
            row("deep"),
            row("shallow", settings={"k": 1}, given={"acceptance_length": 1.8}, observed={"spec_tok_s": 40}),
            row("lost", target={"moe": True}, given={"acceptance_length": 1.2}, observed={"spec_tok_s": 15}),
            {"id": "bare", "drafter": {"class": "suffix"}, "hardware": "Apple M3", "observed": {"outcome": "loss"}},
            "no row",
        ]
        file.write_text(yaml.safe_dump(rows), encoding="utf-8")
        run = subprocess.run(
            [sys.executable, str(BENCHMARKS / "casebook.py"), str(file), "--json", "--jobs", "1"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT)},
            check=False,
        )
        assert (run.returncode, run.stderr) == (0, "")
        found = json.loads(run.stdout)
        assert found["schema"] == 1
        assert set(found["tasks"]) == {"before", "after_one_run"}
        assert [item["id"] for item in found["skipped"]] == ["row 5"]
        for task in found["tasks"].values():
            assert set(task) == {"overall", "by_class", "by_hardware", "by_moe"}
            for part in (
                task["overall"],
                *(each for name in task if name != "overall" for each in task[name].values()),
            ):
                assert {who: set(figures) for who, figures in part.items()} == {"engine": FIGURES, "ceiling": FIGURES}
        before, after = (found["tasks"][name]["overall"]["engine"] for name in ("before", "after_one_run"))
        assert (before["rows"], before["winners"], before["losers"], before["neutral"]) == (4, 2, 2, 0)
        assert set(found["tasks"]["before"]["by_moe"]) == {"true", "false", "unknown"}
        assert found["tasks"]["before"]["by_moe"]["true"]["engine"]["losers_deployed"] == 0
        assert found["tasks"]["before"]["by_moe"]["true"]["ceiling"]["rows"] == 1
        # round = 3.4 / 2 = 1.7 steps at K = 3 and 1.8 / 1.6 = 1.125 at K = 1: each says the sign of the other.
        assert (after["rows"], after["sign_right"], after["winners_rejected"]) == (2, 2, 0)

    def test_counts(self, bench: ModuleType, tmp_path: Path) -> None:
        judged = bench.Judged
        rows, _ = read(
            bench,
            tmp_path,
            row("win", observed={"speedup": 2.0}),
            row("rejected", observed={"speedup": 1.5}),
            row("loss", observed={"speedup": 0.8}),
            row("neutral", observed={"speedup": 1.0}),
            row("told", observed={"spec_tok_s": None, "outcome": "loss"}),
        )
        said = [
            judged("deploy", 1.5, 1.8, 2.1),
            judged("keep-incumbent", 0.5, 0.7, 0.9),
            judged("deploy", 1.1, 1.2, 1.3),
            judged("deploy", 0.9, 1.2, 1.3),
            judged("measure-first", 0.9, 1.1, 1.3),
        ]
        assert bench.scores(list(zip(rows, said, strict=True))) == {
            "rows": 5,
            "decided": 4,
            "right": 1,
            "winners": 2,
            "winners_rejected": 1,
            "losers": 2,
            "losers_deployed": 1,
            "neutral": 1,
            "invalid_evidence": 0,
            "sign_right": 1,
            "in_interval_90": 3,
            "median_abs_error": 0.35,
        }

    def test_the_formula_that_is_compared_with(self, bench: ModuleType, tmp_path: Path) -> None:
        (free, priced, blind), _ = read(
            bench,
            tmp_path,
            row("free"),
            row("priced", given={"drafter_step_ms": 8}),
            row("blind", given={"acceptance_length": None}),
        )
        assert bench.ceiling(free).mid == pytest.approx(3.4 / 1.1)
        assert bench.ceiling(priced).mid == pytest.approx(3.4 / (3 * 8 / 40 + 1.1))
        assert bench.ceiling(blind) == bench.Judged("measure-first", None, None, None)
