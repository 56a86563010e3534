from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.catalogue import RULE_KINDS, Catalog
from specrules.catalog.collection import collect
from specrules.catalog.layers import BUILTIN, Layer
from specrules.errors import CatalogError, LoadError, Location, Problem, UserError
from specrules.expressions import Type
from specrules.model.policy import PolicyFile
from specrules.model.rule import FormulaFile, InputFile, RuleFile, VerdictTable

ROOT = Path(__file__).parents[3]
ENGINE = """\
schema: 1
id: ours
title: Ours
aliases: [theirs]
description: An engine.
sources:
  - {id: ran, title: we ran it, by: run, on: 2026-11-01}
version: {scheme: dotted, facts_from: "1.0", how_to_find: ask}
methods:
  - {id: plain, title: Plain, drafter_class: model, draft_device: routable, known: ran}
devices:
  draft_routing: {possible: true, effect: goes anywhere, known: ran}
"""
POLICY = "schema: 1\nextends: default\nthresholds: {margin: 0.5}\n"


class Layers:
    """Folders of a user, and the catalogue with them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, path: str, text: str) -> Layers:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return self

    def load(self) -> Catalog:
        return Catalog.load(
            engines=[path for path in [self.root / "engines"] if path.exists()],
            rules=[path for path in [self.root / "rules"] if path.exists()],
            cwd=self.root,
            environ={},
        )


@pytest.fixture
def layers(tmp_path: Path) -> Layers:
    return Layers(tmp_path)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return Catalog.load(cwd=tmp_path_factory.mktemp("empty"), environ={})


def refusal(error: type[UserError], action: object) -> list[str]:
    assert callable(action)
    with pytest.raises(error) as raised:
        action()
    return [problem.render() for problem in raised.value.problems]


class TestEngines:
    def test_every_shipped_file_is_an_engine_named_after_its_id(self, shipped: Catalog) -> None:
        assert list(shipped.engine_ids) == sorted(path.stem for path in (ROOT / "engines").glob("*.yaml"))
        for name in shipped.engine_ids:
            assert shipped.engine(name).model.id == name

    def test_ids_and_aliases_lead_to_the_same_engine(self, shipped: Catalog) -> None:
        taken: dict[str, str] = {}
        for name in shipped.engine_ids:
            engine = shipped.engine(name)
            for alias in engine.model.aliases:
                assert shipped.engine(alias) is engine
                assert taken.setdefault(alias, name) == name
                assert alias not in shipped.engine_ids

    def test_an_engine_is_validated_once(self, shipped: Catalog) -> None:
        assert shipped.engine("llama.cpp") is shipped.engine("llama.cpp")

    def test_reading_them_one_by_one_or_all_at_once_gives_the_same(self, shipped: Catalog, layers: Layers) -> None:
        beside = layers.put("engines/ours.yaml", ENGINE).load().engine_documents
        alone = shipped.engine_documents
        assert [*alone.documents, "ours"] == list(beside.documents)
        for name, document in alone.documents.items():
            assert (beside.documents[name].data, beside.documents[name].path) == (document.data, document.path)
        assert alone.digests == beside.digests[:-1]
        assert alone.overrides == beside.overrides == ()

    def test_built_in_ones_are_read_when_they_are_asked_for(self, tmp_path: Path) -> None:
        folder = tmp_path / "engines"
        folder.mkdir()
        (folder / "good.yaml").write_text("schema: 1\nid: good\n", encoding="utf-8")
        (folder / "bad.yaml").write_text("schema: 1\nid: bad\nid: bad\n", encoding="utf-8")
        (folder / "new.yaml").write_text("schema: 2\nid: new\n", encoding="utf-8")
        layer = [Layer(BUILTIN, tmp_path, "")]
        found = collect(layer, "engines", lambda data: data.get("id"), named=True).documents
        assert (list(found), len(found), found.get("other")) == (["bad", "good", "new"], 3, None)
        assert found["good"].data["id"] == "good"
        assert refusal(LoadError, lambda: found["bad"])[0].startswith("engines/bad.yaml:3:1: duplicate key 'id'")
        assert refusal(LoadError, lambda: found["new"])[0].startswith(
            "engines/new.yaml:1:9: written for a newer specrules"
        )
        assert len(refusal(LoadError, lambda: collect(layer, "engines", lambda data: data.get("id")))) == 2

    def test_one_that_does_not_exist(self, shipped: Catalog) -> None:
        (problem,) = refusal(CatalogError, lambda: shipped.engine("lama.cpp"))
        known = ", ".join(shipped.engine_ids)
        assert problem == f"no engine 'lama.cpp'; known are {known} (did you mean 'llama.cpp'?)"

    def test_a_broken_one_is_no_harm_until_it_is_asked_for(self, layers: Layers) -> None:
        catalog = layers.put("engines/ours.yaml", ENGINE.replace("title:", "titel:", 1)).load()
        assert "ours" in catalog.engine_ids
        catalog.engine("llama.cpp")
        assert len(refusal(LoadError, lambda: catalog.engine("ours"))) == 2

    def test_those_of_a_layer_are_checked_when_they_load(self, layers: Layers) -> None:
        catalog = layers.put("engines/ours.yaml", ENGINE.replace("class: model", "class: modle")).load()
        (problem,) = refusal(LoadError, lambda: catalog.engine("theirs"))
        place = f"{layers.root}/engines/ours.yaml:10:46"
        first, line, caret = problem.splitlines()
        assert first.startswith(f"{place}: no drafter class 'modle'; known are model, ")
        assert line.strip().startswith("- {id: plain")
        assert caret == " " * (4 + 45) + "^"

    def test_shipped_ones_are_checked_where_a_layer_changes_what_they_read(self, layers: Layers) -> None:
        inputs = (ROOT / "rules" / "inputs.yaml").read_text(encoding="utf-8")
        name = "tokenizers.last_differing_id"
        assert inputs.count(f"name: {name},") == 1
        changed = inputs.replace(f"name: {name},", "name: tokenizers.other,").replace(
            "id: inputs", "id: inputs\noverrides: true"
        )
        catalog = layers.put("rules/inputs.yaml", changed).load()
        problems = refusal(LoadError, lambda: catalog.engine("llama.cpp"))
        assert all(f"unknown name '{name}'" in problem for problem in problems)
        assert problems[0].startswith("engines/llama.cpp.yaml:")


class TestRules:
    def test_every_shipped_document_is_of_a_known_kind(self, shipped: Catalog) -> None:
        files = [path for path in (ROOT / "rules").glob("*.yaml") if not path.name.endswith(".test.yaml")]
        assert len(shipped.rule_models) == len(files)
        assert {item.model.scope for item in shipped.of_kind(RuleFile)} == {"case", "deployment"}
        for kind in (FormulaFile, VerdictTable):
            assert len(shipped.of_kind(kind)) == 1
        assert {item.model.id for item in shipped.of_kind(InputFile)} == {"inputs", "deployment-inputs"}
        assert set(shipped.policies) == {"default", "strict", "advisory"}
        assert len(shipped.rule_cases) == len(shipped.of_kind(RuleFile))

    def test_rule_kinds_are_told_apart_by_keys_that_only_they_have(self) -> None:
        for key, model in RULE_KINDS.items():
            assert [other for other, fields in RULE_KINDS.items() if key in fields.model_fields][-1:] or key == "inputs"
            assert key in model.model_fields

    def test_the_place_of_a_value_and_of_a_column_in_it(self, shipped: Catalog) -> None:
        loaded = next(item for item in shipped.of_kind(RuleFile) if item.model.part == "a")
        text = (ROOT / "rules" / "a-incumbent.yaml").read_text(encoding="utf-8").splitlines()
        where = loaded.locate(("rules", 0, "require"))
        assert text[where.line - 1][where.column - 1 :] == loaded.model.rules[0].require
        assert loaded.locate(("rules", 0, "require"), 4) == Location(where.path, where.line, where.column + 3)

    def test_a_document_of_no_kind(self, layers: Layers) -> None:
        catalog = layers.put("rules/x.yaml", "schema: 1\nid: x\nrulez: []\n").load()
        (problem,) = refusal(LoadError, lambda: catalog.rule_models)
        assert "not a document of rules: it holds none of the keys formulas, drafter_classes, " in problem

    def test_only_the_document_of_a_kind_that_counts(self, shipped: Catalog, layers: Layers) -> None:
        assert shipped.only(FormulaFile, "formulas").model is shipped.only(FormulaFile, "formulas", "formulas").model
        (problem,) = refusal(CatalogError, lambda: shipped.only(InputFile, "inputs", "input"))
        assert problem == "inputs input not found among deployment-inputs, inputs (did you mean 'inputs'?)"
        ours = POLICY.replace("extends: default", "extends: default\nid: ours")
        catalog = layers.put("rules/policy.yaml", ours).load()
        assert catalog.policy.thresholds["margin"] == 0.05
        assert catalog.only(PolicyFile, "policy", "ours").model.thresholds["margin"] == 0.5
        refusal(CatalogError, lambda: catalog.only(PolicyFile, "policy"))


class TestNames:
    def test_symbols_are_inputs_and_thresholds(self, shipped: Catalog) -> None:
        symbols = shipped.symbols
        assert symbols["drafter.step_ms"] is Type.NUMBER
        assert symbols["incumbent.drafting"] is Type.BOOL
        thresholds = {name for name in symbols if name.startswith("policy.")}
        assert thresholds == {f"policy.{name}" for name in shipped.policy.thresholds}
        assert all(symbols[name] is Type.NUMBER for name in thresholds)
        assert len(symbols) == len(shipped.inputs.inputs) + len(thresholds)

    def test_a_new_threshold_may_be_read_once_it_is_described(self, layers: Layers) -> None:
        layers.put("rules/policy.yaml", POLICY.replace("{margin: 0.5}", "{margn: 0.5}"))
        (problem,) = refusal(LoadError, lambda: layers.load().policy)
        assert "threshold 'margn' is not described under 'docs' (did you mean 'margin'?)" in problem
        layers.put("rules/policy.yaml", POLICY.replace("{margin: 0.5}", "{ours: 0.5}\ndocs: {ours: our own}"))
        assert layers.load().symbols["policy.ours"] is Type.NUMBER

    def test_drafter_classes(self, shipped: Catalog) -> None:
        assert shipped.drafter_class("model").id == "model"
        assert set(shipped.drafter_classes) >= {"model", "mtp-head", "eagle-head", "block", "ngram"}
        where = Location("case.yaml", 3, 4)
        (problem,) = refusal(CatalogError, lambda: shipped.drafter_class("blok", where))
        assert problem.startswith("case.yaml:3:4: no drafter class 'blok'; known are model, ")
        assert problem.endswith(" (did you mean 'block'?)")


class TestOverrides:
    def test_nothing_is_overridden_without_layers(self, shipped: Catalog) -> None:
        assert shipped.overridden == ()
        assert shipped.table_is_shipped

    def test_what_is_overridden_and_where(self, layers: Layers) -> None:
        layers.put("engines/llama.yaml", "schema: 1\nextends: llama.cpp\ntitle: Ours\n").put(
            "rules/policy.yaml", POLICY
        )
        catalog = layers.load()
        assert catalog.overridden == (
            f"llama.cpp ({layers.root}/engines/llama.yaml)",
            f"default ({layers.root}/rules/policy.yaml)",
        )
        assert catalog.engine("llama.cpp").model.title == "Ours"
        assert catalog.policy.thresholds["margin"] == 0.5
        assert catalog.table_is_shipped

    def test_a_table_of_a_layer_is_not_the_shipped_one(self, layers: Layers) -> None:
        layers.put("rules/verdict.yaml", "schema: 1\nextends: verdict\n")
        assert not layers.load().table_is_shipped

    def test_the_digest_follows_every_file(self, shipped: Catalog, layers: Layers) -> None:
        digests = {shipped.rules_digest, layers.load().rules_digest}
        assert len(digests) == 1
        for path, text in (
            ("engines/ours.yaml", ENGINE),
            ("engines/ours.yaml", f"{ENGINE}# more\n"),
            ("rules/p.yaml", POLICY),
        ):
            digests.add(layers.put(path, text).load().rules_digest)
        assert len(digests) == 4
        assert all(len(digest) == 12 for digest in digests)

    def test_template_folders_from_the_one_that_wins(self, tmp_path: Path) -> None:
        (tmp_path / "t").mkdir()
        (tmp_path / "t" / "report.md.j2").write_text("x", encoding="utf-8")
        catalog = Catalog.load(templates=[tmp_path / "t"], cwd=tmp_path, environ={})
        assert [str(folder) for folder in catalog.template_folders] == [str(tmp_path / "t"), str(ROOT / "templates")]


class TestQuoted:
    def test_problems_get_the_line_that_they_point_to(self, shipped: Catalog) -> None:
        path = "rules/policy.yaml"
        second = (ROOT / path).read_text(encoding="utf-8").splitlines()[1]
        here, elsewhere = Problem("x", Location(path, 2, 3)), Problem("x", Location("other.yaml", 2, 3))
        own, placeless = Problem("x", Location(path, 2, 3), excerpt="own"), Problem("x")
        quoted = shipped.quoted([here, elsewhere, own, placeless])
        assert [problem.excerpt for problem in quoted] == [second, "", "own", ""]
