from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import LoadError
from specrules.pipeline.deployment_rules import every_rule
from specrules.pipeline.rule_cases import run_all
from specrules.pipeline.rules import compiled

from .build import catalog

RULES = Path(__file__).parents[3] / "rules"


def test_the_shipped_rules_and_table_compile() -> None:
    rules, table = compiled(catalog())
    ids = [item.rule.id for item in rules]
    assert len(set(ids)) == len(ids) > 20
    assert table.id == "verdict"


def test_every_shipped_case_holds_and_every_rule_has_its_cases() -> None:
    results, uncovered = run_all(catalog(), every_rule(catalog()))
    assert len(results) > 80
    assert [problem.render() for result in results for problem in result.problems] == []
    assert uncovered == []


def _mine(tmp_path: Path, change: tuple[str, str]) -> Catalog:
    text = (RULES / "verdict.yaml").read_text(encoding="utf-8")
    assert change[0] in text
    text = text.replace("id: verdict", "id: verdict\noverrides: true").replace(*change)
    (tmp_path / "verdict.yaml").write_text(text, encoding="utf-8")
    return Catalog.load(rules=[tmp_path], environ={})


def test_a_table_of_the_users_own_is_proved(tmp_path: Path) -> None:
    words = ("a blocking gate on the incumbent failed", "our own words")
    _, table = compiled(_mine(tmp_path, words))
    assert table.rows[0].because == "our own words"


def test_a_table_that_deploys_past_a_failed_gate_is_refused_at_its_row(tmp_path: Path) -> None:
    unsafe = ("  - {a: [fail], verdict: blocked,", "  - {a: [fail], speedup: [win], verdict: deploy,")
    with pytest.raises(LoadError) as error:
        compiled(_mine(tmp_path, unsafe))
    assert any(str(tmp_path / "verdict.yaml") in problem.render() for problem in error.value.problems)


def test_a_rule_that_reads_another_name_is_refused_at_its_place(tmp_path: Path) -> None:
    text = (RULES / "b-break-even.yaml").read_text(encoding="utf-8")
    text = text.replace("id: break-even", "id: break-even\noverrides: true", 1)
    text = text.replace("require: workload.concurrency >= 1", "require: workload.concurency >= 1")
    (tmp_path / "b.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(LoadError, match=r"b\.yaml:\d+:\d+: .*did you mean 'workload\.concurrency'"):
        compiled(Catalog.load(rules=[tmp_path], environ={}))
