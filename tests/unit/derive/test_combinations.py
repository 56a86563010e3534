from __future__ import annotations

import pytest

from specrules.derive.combinations import combination
from specrules.derive.methods import Finding

from .build import case, engine


def together(*methods: str, version: str | None = "b11434", on: str = "llama.cpp") -> Finding:
    return combination(case(engine={"id": on, "version": version, "methods": list(methods)}), engine(on))


@pytest.mark.parametrize(
    ("methods", "holds", "status"),
    [
        (("draft-mtp", "draft-dflash"), False, "dies at load"),
        (("draft-dflash", "draft-mtp"), False, "dies at load"),
        (("draft-mtp", "draft-dspark"), False, "dies at load"),
        (("draft-mtp", "draft-simple"), False, "dies at load"),
        (("draft-mtp", "draft-eagle3"), False, "dies at load"),
        (("draft-simple", "draft-dflash"), None, "untested"),
        (("draft-simple", "draft-dspark"), None, "untested"),
        (("draft-simple", "draft-eagle3"), False, "refused"),
        (("draft-eagle3", "draft-dflash"), False, "refused"),
        (("draft-simple", "ngram-simple"), True, "works"),
        (("draft-dflash", "ngram-mod"), True, "works"),
        (("draft-mtp", "ngram-mod"), True, "works"),
        (("draft-dflash", "ngram-map-k4v"), True, "works"),
        (("ngram-mod", "ngram-cache"), True, "works"),
        (("draft-dflash", "draft-mtp", "ngram-mod"), False, "dies at load"),
    ],
)
def test_what_llama_cpp_does_with_methods_together(methods: tuple[str, ...], holds: bool | None, status: str) -> None:
    found = together(*methods)
    assert found.holds is holds
    assert f": {status}. " in found.note


@pytest.mark.parametrize(
    ("methods", "holds"), [(("mtp", "pld"), True), (("mtp", "dflash2"), False), (("pld", "dflash2"), False)]
)
def test_what_the_closed_engine_does(methods: tuple[str, ...], holds: bool) -> None:
    assert together(*methods, version="0.17.3", on="halogen-flash-server").holds is holds


def test_the_evidence_is_named_with_its_day() -> None:
    note = together("draft-mtp", "draft-dflash").note
    assert note.endswith("(llama.cpp source at build b11434, read file by file, 2026-11-29)")


def test_one_method_and_none_are_no_combination() -> None:
    assert (
        together()
        == together("draft-simple")
        == together("ngram-mod", "ngram-mod")
        == Finding(True, "one method alone")
    )


def test_a_pair_that_nobody_wrote_down_is_unknown() -> None:
    silent = engine(combinations=[])
    found = combination(case(engine={"methods": ["draft-simple", "ngram-mod"]}), silent)
    assert found == Finding(None, "nobody wrote down what draft-simple and ngram-mod do together")


def test_a_claim_that_nobody_verified_is_unknown() -> None:
    works = {"methods": ["draft-simple", "ngram-mod"], "status": "works", "effect": "It does.", "known": "qwen38-mtp"}
    found = combination(case(engine={"methods": ["ngram-mod", "draft-simple"]}), engine(combinations=[works]))
    assert found.holds is None
    assert found.note.endswith("(not verified)")


@pytest.mark.parametrize(("version", "holds"), [("b11000", True), ("b10999", None), (None, None)])
def test_a_claim_counts_for_its_versions_only(version: str | None, holds: bool | None) -> None:
    works = {
        "methods": ["draft-*", "ngram-*"],
        "status": "works",
        "effect": "It does.",
        "known": "run-b11434",
        "since": "b11000",
    }
    one = case(engine={"version": version, "methods": ["draft-simple", "ngram-mod"]})
    assert combination(one, engine(combinations=[works])).holds is holds
