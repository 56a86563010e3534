from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

import specrules
from specrules.catalog.case import load_case
from specrules.catalog.catalogue import Catalog
from specrules.errors import CatalogError, LoadError
from specrules.pipeline.triage import triage

from .build import DEPLOY, EXAMPLES, NOW, catalog, gate, judge

FLEET = EXAMPLES / "dflash2-fleet.yaml"


def test_a_file_a_loaded_case_and_settings_are_the_same_question() -> None:
    by_path = triage(FLEET, catalog=catalog(), now=NOW)
    assert triage(str(FLEET), catalog=catalog(), now=NOW) == by_path
    assert triage(load_case(FLEET), catalog=catalog(), now=NOW) == by_path
    assert specrules.triage(FLEET, catalog=catalog(), now=NOW) == by_path


def test_settings_change_single_values() -> None:
    found = triage(FLEET, catalog=catalog(), now=NOW, settings=["incumbent.rate_tok_s=45"])
    assert found.incumbent.rate_tok_s == 45
    assert found.verdict == "keep-incumbent"


def test_a_case_of_settings_alone_has_a_name_and_a_verdict() -> None:
    found = judge(*DEPLOY)
    assert (found.case, found.title, found.verdict) == ("--set", "drafter for target", "deploy")
    assert found.engine == "llama.cpp b11434"


def test_the_same_moment_gives_the_same_verdict_to_the_byte() -> None:
    again = triage(None, catalog=Catalog.load(environ={}), now=NOW, settings=DEPLOY)
    assert again.model_dump_json() == judge(*DEPLOY).model_dump_json()


def test_the_footer_makes_it_reproducible() -> None:
    footer = judge(*DEPLOY).footer
    assert footer.tool_version == specrules.__version__
    assert footer.now == "2026-11-29T00:00:00+00:00"
    assert footer.rules_digest == catalog().rules_digest
    assert footer.overridden == ()
    assert judge(*DEPLOY, "incumbent.rate_tok_s=19").footer.inputs_digest != footer.inputs_digest


def test_ages_are_counted_to_the_given_moment_in_whatever_zone() -> None:
    def age(now: datetime) -> str:
        return gate(triage(FLEET, catalog=catalog(), now=now), "evidence-fresh").message

    assert age(datetime(2026, 11, 30, tzinfo=UTC)).startswith("The oldest measurement is 10 days old")
    assert age(datetime(2026, 11, 30)).startswith("The oldest measurement is 10 days old")
    east = timezone(timedelta(hours=12))
    assert age(datetime(2026, 11, 30, 12, tzinfo=east)).startswith("The oldest measurement is 10 days old")
    assert (
        gate(triage(FLEET, catalog=catalog(), now=datetime(2027, 3, 1, tzinfo=UTC)), "evidence-fresh").outcome == "fail"
    )


def test_without_a_moment_it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    before = datetime.now(UTC)
    stamp = datetime.fromisoformat(triage(FLEET, catalog=catalog()).footer.now)
    assert before - timedelta(seconds=1) <= stamp <= datetime.now(UTC)


def test_an_engine_by_its_alias_is_that_engine() -> None:
    found = judge(*DEPLOY, "engine={id: llama-server, version: b11434, methods: [draft-dflash], backends: [CUDA]}")
    assert found.engine == "llama.cpp b11434"


def line_of(text: str) -> int:
    """The line of the fleet's case that holds this text."""
    lines = FLEET.read_text(encoding="utf-8").splitlines()
    return 1 + next(index for index, line in enumerate(lines) if text in line)


class TestRefused:
    def fails(self, tmp_path: Path, change: tuple[str, str]) -> list[str]:
        text = FLEET.read_text(encoding="utf-8")
        assert change[0] in text
        (tmp_path / "case.yaml").write_text(text.replace(*change), encoding="utf-8")
        with pytest.raises((LoadError, CatalogError)) as error:
            triage(tmp_path / "case.yaml", catalog=catalog(), now=NOW)
        return [problem.render() for problem in error.value.problems]

    def test_an_engine_that_nobody_described_is_named_at_its_place(self, tmp_path: Path) -> None:
        (found,) = self.fails(tmp_path, ("id: llama.cpp", "id: llama.cqp"))
        assert found.startswith(f"{tmp_path / 'case.yaml'}:{line_of('id: llama.cpp')}:7: no engine 'llama.cqp'")
        assert "did you mean 'llama.cpp'" in found

    def test_a_drafter_class_that_does_not_exist(self, tmp_path: Path) -> None:
        (found,) = self.fails(tmp_path, ("class: block", "class: blok"))
        assert found.startswith(f"{tmp_path / 'case.yaml'}:{line_of('class: block')}:10: no drafter class 'blok'")

    def test_a_statement_that_no_run_can_have_given(self, tmp_path: Path) -> None:
        old = "      kind: ratio\n      value: 0.41\n"
        found = self.fails(tmp_path, (old, "      kind: tokens_per_round\n      value: 9\n"))
        assert len(found) == 1
        assert "9 tokens per round cannot be: a round of 7 drafted commits 8" in found[0]
        assert found[0].startswith(f"{tmp_path / 'case.yaml'}:")

    @pytest.mark.parametrize(
        ("setting", "fault"),
        [
            ("measurements.round_slope=[0.3, 0.1]", "is no slope of a round"),
            ("measurements.round_slope=[-1, 0.1]", "is no slope of a round"),
            ("measurements.verify_curve=[{width: 2, ms: 3}, {width: 2, ms: 4}]", "width 2 stands twice"),
            ("measurements.acceptance={kind: histogram, histogram: [0, 0]}", "rounds must be above 0"),
        ],
    )
    def test_others_of_that_kind(self, setting: str, fault: str) -> None:
        with pytest.raises(LoadError, match=fault):
            judge(*DEPLOY, setting)


def test_a_layer_of_the_user_is_named_in_the_footer(tmp_path: Path) -> None:
    policy = (EXAMPLES.parent / "rules" / "policy.yaml").read_text(encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(
        policy.replace("margin: 0.05", "margin: 2").replace("id: default", "id: default\noverrides: true"),
        encoding="utf-8",
    )
    mine = Catalog.load(rules=[tmp_path], environ={})
    found = triage(FLEET, catalog=mine, now=NOW)
    # Nothing short of three times the incumbent is a win, and nothing below five is more than marginal.
    assert found.verdict == "marginal"
    assert found.footer.overridden == (f"default ({tmp_path / 'policy.yaml'})",)
