from __future__ import annotations

from typing import Any

import pytest

from specrules.derive.methods import attachment, candidate_method, in_version, is_verified, method_named

from .build import case, engine

HALOGEN = {"id": "halogen-flash-server", "version": "0.17.3"}


def name_of(kind: str, on: str = "llama.cpp", methods: list[str] | None = None, **more: Any) -> str | None:
    one = case(drafter={"class": kind}, engine={"id": on, "version": None, "methods": methods or []}, **more)
    found = candidate_method(one, engine(on))
    return None if found is None else found.id


@pytest.mark.parametrize(
    ("kind", "methods", "found"),
    [
        ("model", [], "draft-simple"),
        ("mtp-head", [], "draft-mtp"),
        ("eagle-head", [], "draft-eagle3"),
        ("block", [], None),
        ("block", ["draft-mtp", "draft-dspark"], "draft-dspark"),
        ("ngram", [], None),
        ("ngram", ["draft-mtp", "ngram-mod"], "ngram-mod"),
        ("model", ["draft"], "draft"),
        ("suffix", [], None),
        ("tree", [], None),
    ],
)
def test_the_method_is_the_stated_one_of_the_class_or_the_only_one(
    kind: str, methods: list[str], found: str | None
) -> None:
    assert name_of(kind, methods=methods) == found


def test_the_closed_engine_has_a_head_and_prompt_lookup() -> None:
    on = "halogen-flash-server"
    assert [name_of(kind, on) for kind in ("mtp-head", "ngram", "block", "model")] == ["mtp", "pld", None, None]


def test_a_method_is_known_by_its_aliases() -> None:
    named = engine(methods=[{**engine().methods[0].model_dump(), "aliases": ["simple"]}])
    found = method_named(named, "simple")
    assert found is not None
    assert found.id == "draft-simple"
    assert method_named(named, "complex") is None


class TestAttachment:
    def test_a_closed_engine_takes_no_model(self) -> None:
        found = attachment(case(engine=HALOGEN), engine("halogen-flash-server"))
        assert found.holds is False
        assert found.note == "its methods are mtp (mtp-head), pld (ngram)"

    def test_a_method_that_is_gone_is_no_surface(self) -> None:
        found = attachment(case(drafter={"class": "block"}, engine=HALOGEN), engine("halogen-flash-server"))
        assert found.holds is False

    @pytest.mark.parametrize("kind", ["model", "mtp-head", "eagle-head", "block", "ngram"])
    def test_llama_cpp_takes_every_class_but_trees_and_suffixes(self, kind: str) -> None:
        assert attachment(case(drafter={"class": kind}), engine()).holds is True

    @pytest.mark.parametrize("kind", ["tree", "suffix"])
    def test_which_it_does_not_take(self, kind: str) -> None:
        assert attachment(case(drafter={"class": kind}), engine()).holds is False

    def test_a_method_of_another_class_leaves_the_drafter_unused(self) -> None:
        found = attachment(case(engine={"methods": ["draft-mtp", "ngram-mod"]}), engine())
        assert found.holds is False
        assert found.note == "draft-mtp, ngram-mod drafts with no drafter of this class; for it there is draft-simple"
        assert attachment(case(engine={"methods": ["draft-simple", "ngram-mod"]}), engine()).holds is True

    def test_a_name_that_it_does_not_know_fails(self) -> None:
        found = attachment(case(engine={"methods": ["draft-simpel"]}), engine())
        assert found.holds is False
        assert "draft-simpel" in found.note

    def test_what_nobody_verified_is_unknown(self) -> None:
        simple = next(method for method in engine().methods if method.id == "draft-simple")
        hearsay = engine(methods=[{**simple.model_dump(), "known": "qwen38-mtp"}])
        found = attachment(case(), hearsay)
        assert found.holds is None
        assert "nobody verified it" in found.note

    @pytest.mark.parametrize(
        ("source", "verified"),
        [
            ("source-b11434", True),
            ("run-b11434", True),
            ("docs-build", True),
            ("issue-27839", False),
            ("qwen38-mtp", False),
            ("derived", False),
            ("unverified", False),
        ],
    )
    def test_read_sources_runs_and_documentation_verify(self, source: str, verified: bool) -> None:
        claim = engine().methods[0].model_copy(update={"known": source})
        assert is_verified(engine(), claim) is verified


class TestVersion:
    @pytest.mark.parametrize(
        ("method", "kind", "version", "holds"),
        [
            ("draft-simple", "model", "b11434", True),
            ("draft-simple", "model", None, True),
            ("draft-mtp", "mtp-head", "b11434", True),
            ("draft-mtp", "mtp-head", "b9200", True),
            ("draft-mtp", "mtp-head", "b9199", False),
            ("draft-mtp", "mtp-head", None, None),
            ("draft", "model", "b9158", True),
            ("draft", "model", "b9159", False),
            ("draft", "model", None, False),
            ("mtp", "mtp-head", "b9100", False),
        ],
    )
    def test_methods_come_and_go(self, method: str, kind: str, version: str | None, holds: bool | None) -> None:
        one = case(drafter={"class": kind}, engine={"version": version, "methods": [method]})
        assert in_version(one, engine(), candidate_method(one, engine())) is holds

    def test_without_a_method_nothing_is_known(self) -> None:
        assert in_version(case(), engine(), None) is None


class TestServed:
    """The front end of halogen serves a name only where the loaded checkpoint reports the capability behind it."""

    def attached(self, engine_id: str, capabilities: list[str] | None) -> bool | None:
        asked = case(
            drafter={"class": "block"},
            engine={"id": engine_id, "version": None, "methods": ["dflash2"], "capabilities": capabilities},
        )
        return attachment(asked, engine(engine_id)).holds

    def test_the_checkpoint_decides(self) -> None:
        assert self.attached("halogen-server", ["mtp", "dflash2"]) is True
        assert self.attached("halogen-server", ["mtp"]) is False
        assert self.attached("halogen-server", None) is None

    def test_names_stand_for_methods_and_wire_values(self) -> None:
        for engine_id in ("halogen-server", "halogen-flash-server"):
            named = engine(engine_id).request_drafters
            assert {item.name: item.wire_value for item in named} == {"serial": 0, "mtp": 1, "dflash2": 2}
            assert {item.name: item.capability for item in named} == {
                "serial": None,
                "mtp": "mtp",
                "dflash2": "dflash2",
            }
