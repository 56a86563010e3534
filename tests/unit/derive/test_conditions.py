from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.conditions import holds, known_issues, tokenizer_gate, tokenizers
from specrules.derive.methods import Finding, candidate_method
from specrules.errors import ExpressionError
from specrules.model.engine import TokenizerGate

from .build import case, catalog, engine, facts

SAME: dict[str, Any] = {
    "family": "gpt2",
    "pre": "smollm",
    "size": 49152,
    "add_bos": False,
    "bos_id": 1,
    "add_eos": False,
    "eos_id": 2,
}


def gate(name: str = "draft-simple") -> TokenizerGate:
    shipped = engine()
    method = next(method for method in shipped.methods if method.id == name)
    found = tokenizer_gate(shipped, method)
    assert found is not None
    return found


def pair(last: int | None = -1, target: dict[str, Any] | None = None, **drafter: Any) -> Finding:
    """What llama.cpp does with two tokenizers that differ in this."""
    one = case(
        target={"tokenizer": {**SAME, **(target or {})}},
        drafter={"tokenizer": {**SAME, **drafter}, "tokenizer_pair": {"last_differing_id": last}},
    )
    values: dict[str, object] = {name: facts(one).value(name) for name in catalog().symbols}
    return tokenizers(one, engine(), gate(), catalog().symbols, values)


class TestTokenizersOfLlamaCpp:
    """Run on build b11434 with copies of one model that differ in one thing, and read in its source."""

    @pytest.mark.parametrize(
        "difference",
        [
            {},
            {"last": 3},
            {"last": 4},
            {"size": 49152 - 100},
            {"size": 49152 + 128},
            {"bos_id": 7},
            {"eos_id": 7},
            {"pre": "qwen35"},
        ],
        ids=str,
    )
    def test_accepted(self, difference: dict[str, Any]) -> None:
        assert pair(**difference).holds is True

    @pytest.mark.parametrize(
        ("difference", "message"),
        [
            ({"last": 30000}, "token texts differ at an id of 5 or above"),
            ({"last": 5}, "token texts differ at an id of 5 or above"),
            ({"size": 49152 - 200}, "the vocabulary sizes differ by more than 128"),
            ({"size": 49152 + 129}, "the vocabulary sizes differ by more than 128"),
            ({"add_bos": True}, "only one of the two adds a BOS token"),
            ({"add_eos": True}, "only one of the two adds an EOS token"),
            ({"family": "llama"}, "the tokenizer families differ"),
            ({"target": {"add_bos": True}, "add_bos": True, "bos_id": 7}, "both add a BOS token, but different ones"),
            ({"target": {"add_eos": True}, "add_eos": True, "eos_id": 7}, "both add an EOS token, but different ones"),
        ],
        ids=str,
    )
    def test_refused_without_a_word_to_the_client(self, difference: dict[str, Any], message: str) -> None:
        assert pair(**difference) == Finding(False, f"{message} (refused silently)")

    def test_merges_are_not_compared(self) -> None:
        one = case(
            target={"tokenizer": SAME},
            drafter={"tokenizer": SAME, "tokenizer_pair": {"last_differing_id": -1, "merges_equal": False}},
        )
        values: dict[str, object] = {name: facts(one).value(name) for name in catalog().symbols}
        assert tokenizers(one, engine(), gate(), catalog().symbols, values).holds is True

    def test_what_is_not_known_is_named(self) -> None:
        found = pair(last=None, family=None)
        assert found == Finding(None, "not known: family, texts")

    def test_one_refusal_decides_whatever_else_is_unknown(self) -> None:
        assert pair(last=None, add_bos=True).holds is False

    def test_ids_that_nobody_adds_need_not_be_known(self) -> None:
        assert pair(bos_id=None, eos_id=None).holds is True
        assert pair(target={"add_bos": True}, add_bos=True, bos_id=None).holds is None

    @pytest.mark.parametrize(
        ("method", "kind"),
        [
            ("draft-eagle3", "eagle-head"),
            ("draft-mtp", "mtp-head"),
            ("draft-dflash", "block"),
            ("draft-dspark", "block"),
            ("ngram-mod", "ngram"),
        ],
    )
    def test_no_other_method_compares_tokenizers(self, method: str, kind: str) -> None:
        one = case(drafter={"class": kind}, engine={"methods": [method]})
        assert tokenizer_gate(engine(), candidate_method(one, engine())) is None

    def test_without_a_method_there_is_no_gate(self) -> None:
        assert tokenizer_gate(engine(), None) is None


@pytest.mark.parametrize(("version", "holds_"), [("b9000", True), ("b11434", False), (None, None)])
def test_a_check_counts_for_its_versions_only(version: str | None, holds_: bool | None) -> None:
    check = {
        "id": "pre",
        "accepts": "target.tokenizer.pre == drafter.tokenizer.pre",
        "otherwise": "refused-loudly",
        "message": "they differ",
        "known": "run-b11434",
        "since": "b10000",
    }
    newer = TokenizerGate.model_validate({"methods": ["*"], "checks": [check], "known": "run-b11434"})
    one = case(target={"tokenizer": SAME}, drafter={"tokenizer": {**SAME, "pre": "x"}}, engine={"version": version})
    values: dict[str, object] = {name: facts(one).value(name) for name in catalog().symbols}
    assert tokenizers(one, engine(), newer, catalog().symbols, values).holds is holds_


class TestConditions:
    def test_a_condition_is_true_false_or_unknown(self) -> None:
        symbols = catalog().symbols
        assert holds("workload.concurrency > 1", symbols, {"workload.concurrency": 2.0}) is True
        assert holds("workload.concurrency > 1", symbols, {"workload.concurrency": 1.0}) is False
        assert holds("workload.concurrency > 1", symbols, {}) is None

    def test_a_condition_over_other_names_is_refused(self) -> None:
        with pytest.raises(ExpressionError, match=r"did you mean 'workload\.concurrency'"):
            holds("workload.concurency > 1", catalog().symbols, {})

    def issues(self, version: str | None, **values: Any) -> set[str]:
        named = {name.replace("__", "."): value for name, value in values.items()}
        found = known_issues(case(engine={"version": version}), engine(), catalog().symbols, named)
        return {issue.id for issue in found.matching}

    def test_an_issue_matches_by_version_and_condition(self) -> None:
        starts = {"engine__method": "draft-mtp"}
        assert "mtp-does-not-start" in self.issues("b10741", **starts)
        assert "mtp-does-not-start" not in self.issues("b10749", **starts)
        assert "mtp-does-not-start" not in self.issues("b10741", engine__method="draft-simple")
        assert "mtp-does-not-start" not in self.issues("b10741")

    def test_an_issue_of_some_versions_does_not_match_an_unknown_one(self) -> None:
        assert "mtp-does-not-start" not in self.issues(None, engine__method="draft-mtp")
        assert "gain-ends-with-streams" in self.issues(None, workload__concurrency=2.0)

    def test_the_pair_that_dies_at_load_is_a_known_issue(self) -> None:
        assert "two-draft-types" in self.issues("b11434", engine__methods=("draft-mtp", "draft-dflash"))
        assert "two-draft-types" not in self.issues("b11434", engine__methods=("draft-mtp", "ngram-mod"))

    def test_an_issue_without_a_condition_is_listed_nowhere(self) -> None:
        assert "gemma4-assistant-device" not in self.issues("b11434")

    def test_a_fatal_issue_that_may_match_is_undecided(self) -> None:
        starts = {"engine.method": "draft-mtp"}
        found = known_issues(case(engine={"version": None}), engine(), catalog().symbols, starts)
        assert "mtp-does-not-start" in {issue.id for issue in found.undecided}
        assert found.fatal == ()
        settled = known_issues(case(engine={"version": "b10742"}), engine(), catalog().symbols, starts)
        assert [issue.id for issue in settled.fatal] == ["mtp-does-not-start"]
        other = known_issues(
            case(engine={"version": None}), engine(), catalog().symbols, {"engine.method": "ngram-mod"}
        )
        assert "mtp-does-not-start" not in {issue.id for issue in other.undecided}
