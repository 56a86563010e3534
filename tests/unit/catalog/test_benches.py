from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import CatalogError, LoadError, UserError

ROOT = Path(__file__).parents[3]
TOOL = """\
schema: 1
id: ours
title: Ours
aliases: [theirs]
description: A bench tool.
sources:
  - {id: ran, title: we ran it, by: run, on: 2026-11-01}
version: {scheme: dotted, facts_from: "1.0", how_to_find: ask}
readers:
  - id: summary
    kind: json
    title: its summary
    known: ran
    requires: [ours.step_ms]
    fields:
      step_ms: {path: ours.step_ms}
      kind: {path: ours.kind, type: text}
    facts:
      - {fact: step_ms, value: step_ms}
    examples:
      - text: '{"ours": {"step_ms": 12.5, "kind": "mean"}}'
        source: ran
        facts: {step_ms: 12.5}
"""


class Layers:
    """Folders of a user, and the catalogue with them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, path: str, text: str) -> Layers:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return self

    def load(self, **environ: str) -> Catalog:
        return Catalog.load(cwd=self.root, environ=environ)


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


class TestShipped:
    def test_every_file_is_a_bench_tool_named_after_its_id(self, shipped: Catalog) -> None:
        assert list(shipped.bench_ids) == sorted(path.stem for path in (ROOT / "benches").glob("*.yaml"))
        for bench in shipped.benches:
            assert bench.readers

    def test_no_name_means_both_an_engine_and_a_bench_tool(self, shipped: Catalog) -> None:
        engines = {name for engine in shipped.engine_ids for name in (engine, *shipped.engine(engine).model.aliases)}
        benches = {name for bench in shipped.benches for name in (bench.id, *bench.aliases)}
        assert not engines & benches

    def test_every_fact_a_bench_reads_has_a_reference_and_a_date(self, shipped: Catalog) -> None:
        for bench in shipped.benches:
            assert all(source.on for source in bench.sources)
            for reader in bench.readers:
                assert reader.examples, (bench.id, reader.id)

    def test_an_alias_leads_to_the_tool(self, shipped: Catalog) -> None:
        assert shipped.bench("genai-perf").model.id == "aiperf"
        assert shipped.program("genai-perf").model.id == "aiperf"

    def test_an_unknown_tool_is_named_with_the_likely_one(self, shipped: Catalog) -> None:
        [problem] = refusal(CatalogError, lambda: shipped.bench("guidelm"))
        assert "no bench tool 'guidelm'; known are aiperf, guidellm, spec-bench" in problem
        assert "guidellm" in problem.splitlines()[-1]

    def test_an_engine_is_found_before_a_tool(self, shipped: Catalog) -> None:
        assert shipped.program("vllm").model.id == "vllm"


class TestLayers:
    def test_a_file_alone_adds_a_tool(self, layers: Layers) -> None:
        catalog = layers.put(".specrules/benches/ours.yaml", TOOL).load()
        assert catalog.bench("theirs").model.title == "Ours"
        assert "ours" in catalog.bench_ids
        catalog.check_program(catalog.program("ours"))

    def test_a_folder_of_the_path_adds_a_tool(self, layers: Layers) -> None:
        catalog = layers.put("mine/benches/ours.yaml", TOOL).load(SPECRULES_PATH=str(layers.root / "mine"))
        assert catalog.bench("ours").model.id == "ours"

    def test_the_file_of_a_shipped_tool_is_replaced_only_by_one_that_says_so(self, layers: Layers) -> None:
        other = TOOL.replace("id: ours\n", "id: aiperf\n").replace("[theirs]", "[genai-perf]")
        [problem] = refusal(
            CatalogError, lambda: layers.put(".specrules/benches/aiperf.yaml", other).load().bench("aiperf")
        )
        assert "overrides" in problem
        said = other.replace("title: Ours\n", "title: Ours\noverrides: true\n")
        assert layers.put(".specrules/benches/aiperf.yaml", said).load().bench("genai-perf").model.title == "Ours"

    def test_the_file_of_a_shipped_tool_is_changed_in_one_place(self, layers: Layers) -> None:
        layers.put(
            ".specrules/benches/aiperf.yaml", "extends: aiperf\nschema: 1\nid: aiperf\noverrides: true\ntitle: Mine\n"
        )
        bench = layers.load().bench("aiperf").model
        assert bench.title == "Mine"
        assert [reader.id for reader in bench.readers][:1] == ["summary"]

    def test_the_digest_depends_on_the_tools(self, layers: Layers, shipped: Catalog) -> None:
        assert layers.put(".specrules/benches/ours.yaml", TOOL).load().rules_digest != shipped.rules_digest


class TestChecks:
    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("known: ran", "known: walked", "walked"),
            ("value: step_ms", "value: stepms", "stepms"),
            ("value: step_ms", "value: step_ms, low: lowest", "lowest"),
            ("requires:", 'only: "kindly = 1"\n    requires:', "kindly"),
            ("requires:", "split: kindly\n    requires:", "kindly"),
        ],
    )
    def test_what_is_wrong_in_a_file_is_named_with_its_place(
        self, layers: Layers, old: str, new: str, said: str
    ) -> None:
        catalog = layers.put(".specrules/benches/ours.yaml", TOOL.replace(old, new)).load()
        problems = refusal(LoadError, lambda: catalog.bench("ours"))
        assert any(said in problem and "ours.yaml:" in problem for problem in problems), problems

    def test_an_unknown_key_is_named(self, layers: Layers) -> None:
        catalog = layers.put(".specrules/benches/ours.yaml", TOOL + "launch: {}\n").load()
        assert any("launch" in problem for problem in refusal(LoadError, lambda: catalog.bench("ours")))
