"""One YAML is enough: a made-up engine that no code knows is read, judged and checked."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.cli.main import run
from specrules.errors import EvidenceError
from specrules.model.verdict import Verdict
from specrules.pipeline.reading import read
from specrules.pipeline.triage import triage

HOUSE = Path(__file__).parent / "data/in-house"
NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return Path(shutil.copytree(HOUSE, tmp_path / "house"))


def catalog(house: Path) -> Catalog:
    return Catalog.load(engines=[house / "engines"], environ={}, cwd=house)


def judged(house: Path) -> Verdict:
    return triage(house / "case.yaml", catalog=catalog(house), now=NOW)


def changed(house: Path, old: str, new: str) -> None:
    case = house / "case.yaml"
    text = case.read_text()
    assert old in text
    case.write_text(text.replace(old, new))


def outcome(verdict: Verdict, gate: str) -> str:
    return next(item.outcome for item in verdict.gates if item.id == gate)


def test_its_log_is_recognised_and_read(house: Path) -> None:
    found = read(str(house / "flight.log"), catalog=catalog(house))
    assert found.engine_id == "pelican"
    assert found.facts.value("tokens_per_round") == 3.0
    assert found.facts.value("rate_tok_s") == 40.0
    assert found.facts["rate_tok_s"].samples == (40.0, 40.0)


def test_its_case_is_judged_down_to_the_settings(house: Path) -> None:
    verdict = judged(house)
    assert verdict.verdict == "deploy", [(gate.id, gate.outcome) for gate in verdict.gates]
    assert verdict.speedup.mid == pytest.approx(2.0)
    assert verdict.settings is not None
    assert verdict.settings.switch_on == ("--scout 'small bird'", "--scout-depth 4", "--scout-device F1")
    assert verdict.settings.switch_off == ("--no-scout",)
    assert verdict.measurement is not None
    assert verdict.measurement.command == "pelican --scout 'small bird' --scout-depth 4 'big bird'"


@pytest.mark.parametrize(
    ("old", "new", "gate", "expected"),
    [
        ("--scout small", "--lookahead 3", "flags-valid", "fail"),
        ('version: "2.4"', 'version: "1.5"', "method-in-version", "fail"),
        ("methods: [scout]", "methods: [scout, echo]", "combination-loads", "pass"),
        ("tokenizer: {size: 32000}\nengine", "tokenizer: {size: 32064}\nengine", "tokenizers-compatible", "pass"),
    ],
)
def test_its_claims_decide_gates(house: Path, old: str, new: str, gate: str, expected: str) -> None:
    """Two of them are claims that the measured run contradicts: it drafted, so it loads and the pair is accepted."""
    changed(house, old, new)
    assert outcome(judged(house), gate) == expected


def test_its_claims_decide_where_nothing_was_run(house: Path) -> None:
    changed(house, "evidence:\n  - {path: flight.log, arm: candidate}\n  - {path: nest.txt, arm: candidate}\n", "")
    changed(house, "methods: [scout]", "methods: [scout, echo]")
    changed(house, "tokenizer: {size: 32000}\nengine", "tokenizer: {size: 32064}\nengine")
    verdict = judged(house)
    assert outcome(verdict, "combination-loads") == "fail"
    assert outcome(verdict, "tokenizers-compatible") == "fail"
    assert verdict.verdict == "blocked"


def test_a_grounded_scout_is_seen_and_hearsay_is_unknown(house: Path) -> None:
    changed(house, "{path: flight.log, arm: candidate}", "{path: grounded.log, arm: candidate}")
    changed(house, "  - {path: nest.txt, arm: candidate}\n", "")
    facts = read(str(house / "grounded.log"), catalog=catalog(house)).facts
    assert facts.value("refusal") == "beak too small"
    assert "drafting" not in facts
    changed(house, "class: model", "class: ngram")
    changed(house, "methods: [scout]", "methods: [echo]")
    assert outcome(judged(house), "attachment-surface") == "unknown"


def test_issues_of_another_version_do_not_show(house: Path) -> None:
    assert judged(house).known_issues == ()
    changed(house, 'version: "2.4"', 'version: "2.3"')
    assert [issue.partition(":")[0] for issue in judged(house).known_issues] == ["Scouts molt in 2.3"]


def test_the_commands_know_it(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = ["--engines", str(house / "engines")]
    assert run(["engines", "check", "pelican", *layer]) == 0
    assert run(["engines", "show", "pelican-serve", *layer]) == 0
    assert run(["engines", "verify", "pelican", str(house / "help.txt"), *layer]) == 0
    assert run(["read", str(house / "nest.txt"), *layer]) == 0
    shown = capsys.readouterr().out
    assert "pelican: ok" in shown
    assert "the echo wins" in shown
    assert "nest metrics of pelican" in shown


def test_a_log_of_another_engine_is_named(house: Path) -> None:
    with pytest.raises(EvidenceError, match="Pelican recognises it as its flight log"):
        read(str(house / "flight.log"), "llama.cpp", catalog=catalog(house))


def test_one_changed_field_of_a_shipped_engine_shows_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "engines").mkdir()
    changed_file = tmp_path / "engines/llama.yaml"
    changed_file.write_text("schema: 1\nextends: llama.cpp\ntitle: llama.cpp of our own\n")
    case = Path(__file__).parent.parent / "examples/dflash2-fleet.yaml"
    made = Catalog.load(engines=[tmp_path / "engines"], environ={}, cwd=tmp_path)
    verdict = triage(case, catalog=made, now=NOW)
    assert verdict.engine == "llama.cpp of our own b11434"
    assert any(item.startswith("llama.cpp (") for item in verdict.footer.overridden)
    assert verdict.verdict == triage(case, catalog=Catalog.load(environ={}, cwd=tmp_path), now=NOW).verdict == "deploy"
