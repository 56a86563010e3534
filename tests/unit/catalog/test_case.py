from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.case import LoadedCase, engine_misfits, load_case
from specrules.catalog.catalogue import Catalog
from specrules.errors import LoadError, Location, UsageError, UserError

EXAMPLES = Path(__file__).parents[3] / "examples"
CASE = """\
schema: 1
target: {name: big, step_ms: 40}
drafter:
  name: small
  class: model
  step_ms: {value: 4, kind: measured}
engine: llama.cpp
host:
  devices:
    - {name: CUDA0}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "case.yaml"
    file.write_text(CASE, encoding="utf-8")
    return file


def refused(error: type[UserError], *settings: str) -> list[str]:
    with pytest.raises(error) as raised:
        load_case(None, settings)
    return [problem.render().splitlines()[0] for problem in raised.value.problems]


class TestFiles:
    def test_every_example_loads(self) -> None:
        files = sorted(EXAMPLES.rglob("*.yaml"))
        assert len(files) >= 7
        for file in files:
            loaded = load_case(file)
            assert loaded.path == str(file)
            assert loaded.folder == file.parent

    def test_places_of_values(self, path: Path) -> None:
        loaded = load_case(path)
        assert loaded.location(("target", "name")) == Location(str(path), 2, 16)
        assert loaded.place(("host", "devices", 0, "name")) == f"{path}:10"

    def test_a_route_of_the_model_leads_to_the_key_of_the_file(self, path: Path) -> None:
        assert load_case(path).location(("drafter", "drafter_class")) == Location(str(path), 5, 10)

    def test_a_value_that_was_not_stated_has_the_place_of_what_holds_it(self, path: Path) -> None:
        assert load_case(path).location(("target", "kind")) == Location(str(path), 2, 9)
        assert load_case(path).location(("engine", "id")) == Location(str(path), 7, 9)

    def test_the_digest_follows_content_and_settings_and_not_the_folder(self, path: Path, tmp_path: Path) -> None:
        def digest_of(file: Path, *settings: str) -> tuple[str, str]:
            found = load_case(file, settings).digest
            return found.name, found.sha256

        elsewhere = tmp_path / "deep"
        elsewhere.mkdir()
        (elsewhere / "case.yaml").write_text(CASE, encoding="utf-8")
        assert digest_of(path) == digest_of(elsewhere / "case.yaml")
        different = [
            digest_of(path),
            digest_of(path, "title=x"),
            digest_of(path, "title=y"),
            digest_of(path, "notes=x"),
        ]
        assert len(set(different)) == 4


class TestSettings:
    def test_without_a_file_they_are_the_case(self) -> None:
        loaded = load_case(None, ["engine=llama.cpp", "target.step_ms=40"])
        assert (loaded.path, loaded.folder) == ("--set", Path())
        assert (loaded.case.engine.id, loaded.case.drafter.drafter_class) == ("llama.cpp", "model")
        assert loaded.case.target.step_ms is not None
        assert loaded.case.target.step_ms.value == 40
        assert loaded.location(("target", "step_ms")) == Location("--set", 2, 16)

    def test_they_count_more_than_the_file_and_the_last_counts_most(self, path: Path) -> None:
        loaded = load_case(path, ["target.name=one", "title=T", "target.name=two"])
        assert (loaded.case.target.name, loaded.case.title) == ("two", "T")
        assert loaded.place(("target", "name")) == "--set:3"
        assert loaded.place(("target", "step_ms")) == f"{path}:2"

    def test_the_file_itself_is_not_changed(self, path: Path) -> None:
        load_case(path, ["target.name=other", "drafter.step_ms.value=9"])
        again = load_case(path)
        assert again.case.target.name == "big"
        assert again.place(("target", "name")) == f"{path}:2"

    def test_part_of_a_quantity_or_all_of_it(self, path: Path) -> None:
        part = load_case(path, ["drafter.step_ms.value=5"]).case.drafter.step_ms
        whole = load_case(path, ["drafter.step_ms=5"]).case.drafter.step_ms
        assert part is not None
        assert whole is not None
        assert (part.value, part.kind) == (5, "measured")
        assert (whole.value, whole.kind) == (5, "reported")

    def test_an_engine_given_as_a_string_can_be_added_to(self, path: Path) -> None:
        for loaded in (
            load_case(path, ["engine.version=b1"]),
            load_case(None, ["engine=llama.cpp", "engine.version=b1"]),
        ):
            assert (loaded.case.engine.id, loaded.case.engine.version) == ("llama.cpp", "b1")

    def test_an_engine_replaces_all_that_was_said_of_another(self) -> None:
        loaded = load_case(EXAMPLES / "dflash2-fleet.yaml", ["engine=halogen-flash-server"])
        use = loaded.case.engine
        assert (use.id, use.version, use.methods, use.flags) == ("halogen-flash-server", None, (), ())

    def test_lists_and_mappings_keep_the_places_inside(self) -> None:
        setting = "host.devices=  [{name: CUDA0}, {name: CUDA1, memory_gib: 24}]"
        loaded = load_case(None, ["engine=llama.cpp", setting])
        assert [device.name for device in loaded.case.host.devices] == ["CUDA0", "CUDA1"]
        where = loaded.location(("host", "devices", 1, "memory_gib"))
        assert where == Location("--set", 2, setting.index("24") + 1)

    def test_a_list_under_a_short_path_is_placed_as_well_as_it_can_be(self) -> None:
        with pytest.raises(LoadError) as raised:
            load_case(None, ["a=[&x 1]"])
        assert str(raised.value.problems[0].where).startswith("--set:1:")

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("x", "x"),
            ("  x ", "x"),
            ("012", "012"),
            ("a=b", "a=b"),
            ("a: b", "a: b"),
            ("# 1", "# 1"),
            ("*x", "*x"),
            ('"x"', '"x"'),
        ],
    )
    def test_text_is_taken_as_it_is(self, text: str, value: str) -> None:
        assert load_case(None, ["engine=llama.cpp", f"title={text}"]).case.title == value

    @pytest.mark.parametrize("text", ["", "~", "null"])
    def test_nothing_takes_a_value_away(self, path: Path, text: str) -> None:
        assert load_case(path, [f"drafter.step_ms={text}"]).case.drafter.step_ms is None

    def test_a_mapping_in_the_way_of_a_path_is_made(self) -> None:
        assert load_case(None, ["engine=llama.cpp", "workload.concurrency=4"]).case.workload.concurrency == 4

    @pytest.mark.parametrize("setting", ["target", "=1", "target..name=x", ".=", "target.=x"])
    def test_what_is_no_path_and_value(self, setting: str) -> None:
        assert refused(UsageError, setting) == [f"--set {setting}: expected PATH=VALUE, such as target.step_ms=67"]

    @pytest.mark.parametrize("character", ["\n", "\x1b", "\x7f", "\x85", "\udcff"])
    def test_control_characters(self, character: str) -> None:
        assert refused(UsageError, f"title={character}")[0].endswith(": control characters are not allowed")

    def test_problems_of_all_settings_come_at_once_each_at_its_place(self) -> None:
        assert refused(LoadError, "engine=llama.cpp", "target.step_ms=1.0e999", "engine.flags=[!a x]", "host=[1") == [
            "--set:2:16: number 1.0e999 is out of range",
            "--set:3:15: tag '!a' is not allowed (leave it out; text goes in quotes)",
            "--set:4:6: not valid YAML: the file ends while parsing a flow sequence that begins here",
        ]


class TestAcceptanceWithoutAKind:
    @pytest.mark.parametrize("where", ["measurements.acceptance", "measurements.candidate.acceptance"])
    def test_it_is_refused_wherever_it_stands(self, where: str) -> None:
        (problem,) = refused(LoadError, "engine=llama.cpp", f"{where}=0.5")
        assert problem.startswith(f"--set:2:{len(where) + 2}: {where} has no 'kind', and 0.5 means different things.")

    def test_the_readings_are_those_of_the_economics(self) -> None:
        # Conditional: (1 - p^(K+1)) / (1 - p). Ratio: 1 + r K; its p solves p (1 - p^K) / (1 - p) = r K.
        (problem,) = refused(LoadError, "engine=llama.cpp", "measurements.acceptance={value: 0.41, draft_length: 7}")
        assert "At K=7: read as 'conditional' (p) it commits 1.69 tokens per round;" in problem
        assert "read as 'ratio' (accepted / drafted) it commits 3.87, which is p 0.775." in problem

    @pytest.mark.parametrize("depth", ["0", "-1", "true", "deep", "1" + "0" * 300, "7.0"])
    def test_a_depth_that_is_none_is_passed_over(self, depth: str) -> None:
        acceptance = f"measurements.acceptance={{value: 0.5, draft_length: {depth}}}"
        (problem,) = refused(LoadError, "engine=llama.cpp", acceptance)
        assert "At K=3: " in problem
        assert "At K=7: " in problem

    def test_other_problems_are_reported_beside_it_in_order_of_place(self) -> None:
        problems = refused(LoadError, "engine=llama.cpp", "target.kind=danse", "measurements.acceptance=0.5", "titel=x")
        assert [problem.split(": ")[0] for problem in problems] == ["--set:2:13", "--set:3:25", "--set:4:7"]

    @pytest.mark.parametrize("value", ["yes", "[0.5]"])
    def test_what_is_no_number_is_left_to_the_model(self, value: str) -> None:
        (problem,) = refused(LoadError, "engine=llama.cpp", f"measurements.acceptance={value}")
        assert "must be a mapping" in problem

    @pytest.mark.parametrize("value", ["{}", "{draft_length: 7}", "{low: x, high: 0.5}", "{value: 3.2}"])
    def test_without_numbers_of_the_unit_interval_there_are_no_readings(self, value: str) -> None:
        (problem,) = refused(LoadError, "engine=llama.cpp", f"measurements.acceptance={value}")
        assert problem.endswith(
            "measurements.acceptance has no 'kind': say whether it is conditional, ratio, position_vector, "
            "tokens_per_round, counts or histogram"
        )


class TestEngineMisfits:
    """What a case says of its engine, held against the engine's file."""

    CATALOG = Catalog.load(environ={}, cwd=Path(__file__).parent)

    def misfits(self, *settings: str) -> list[str]:
        loaded: LoadedCase = load_case(None, ["engine=llama.cpp", *settings])
        engine = self.CATALOG.engine(loaded.case.engine.id).model
        return [problem.render().splitlines()[0] for problem in engine_misfits(loaded, engine)]

    def test_nothing_to_say(self) -> None:
        assert self.misfits() == []
        assert self.misfits("engine.version=b11434", "engine.methods=[draft-simple, draft-mtp]") == []

    def test_removed_methods_and_other_names_are_known(self) -> None:
        engine = self.CATALOG.engine("llama.cpp").model
        removed = next(method for method in engine.methods if method.removed)
        renamed = engine.methods[0].model_copy(update={"aliases": ("draft-easy",)})
        changed = engine.model_copy(update={"methods": (renamed, *engine.methods[1:])})
        loaded = load_case(None, ["engine=llama.cpp", f"engine.methods=[{removed.id}, draft-easy, {renamed.id}]"])
        assert engine_misfits(loaded, changed) == []
        assert len(engine_misfits(loaded, engine)) == 1

    def test_versions_of_another_numbering(self) -> None:
        assert self.misfits("engine.version=0.33.0") == [
            "--set:2:16: engine.version: '0.33.0' is not a build number such as b11434"
        ]

    def test_every_unknown_method_at_its_place(self) -> None:
        problems = self.misfits("engine.methods=[draft-smple, draft-mtp, zzz]")
        assert [problem.split(": ")[0] for problem in problems] == ["--set:2:17", "--set:2:41"]
        assert problems[0].endswith(" (did you mean 'draft-simple'?)")
        assert "no method 'zzz'" in problems[1]


def test_a_misspelt_kind_is_a_misspelt_key(tmp_path: Path) -> None:
    text = (EXAMPLES / "frank-large-27b.yaml").read_text().replace("kind: conditional", "kynd: conditional")
    path = tmp_path / "case.yaml"
    path.write_text(text)
    with pytest.raises(LoadError) as caught:
        load_case(path)
    assert "unknown key 'measurements.acceptance.kynd' (did you mean 'kind'?)" in str(caught.value)
    assert "means different things" not in str(caught.value)
