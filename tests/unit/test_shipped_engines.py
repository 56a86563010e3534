"""The shipped llama.cpp, halogen-flash-server and drafter classes: whole, and right in the numbers that decide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
import re2
import yaml
from pydantic import BaseModel

from specrules.expressions import Type, Unknown, compile_expression
from specrules.model.claim import Claim
from specrules.model.drafter import DrafterClass, DrafterClassFile
from specrules.model.engine import Engine, TokenizerGate
from specrules.model.reader import Reader
from specrules.model.version import in_range, version_key

ROOT = Path(__file__).parents[2]
ENGINES = ("llama.cpp", "halogen-flash-server")
YIELDS = {
    "off.rate_tok_s",
    "target.step_ms",
    "target.verify_curve",
    "drafter.step_ms",
    "candidate.rate_tok_s",
    "candidate.tokens_per_round",
    "candidate.round_ms",
    "acceptance",
    "candidate.synthetic_zero",
    "tokenizers",
    "incumbent.rate_tok_s",
    "incumbent.tokens_per_round",
}


class _Core(yaml.SafeLoader):
    """Scalars as YAML 1.2 reads them: `on` is a text, and so is a date."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


_Core.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Core.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9]\d*)$"), list("-+0123456789"))
_Core.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+\.\d*$"), list("-+0123456789"))


@cache
def _data(path: str) -> Any:
    return yaml.load((ROOT / path).read_text(encoding="utf-8"), _Core)  # noqa: S506


@cache
def _engine(name: str) -> Engine:
    return Engine.model_validate(_data(f"engines/{name}.yaml"))


@cache
def _classes() -> dict[str, DrafterClass]:
    file = DrafterClassFile.model_validate(_data("rules/drafter-classes.yaml"))
    return {item.id: item for item in file.drafter_classes}


@cache
def _symbols() -> dict[str, Type]:
    return {item["name"]: Type(item["type"]) for item in _data("rules/inputs.yaml")["inputs"]}


def _models(value: Any) -> Iterator[BaseModel]:
    if isinstance(value, BaseModel):
        yield value
        for name in type(value).model_fields:
            yield from _models(getattr(value, name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _models(item)


def _holds(source: str, **values: object) -> bool | None:
    known = {name.replace("__", "."): value for name, value in values.items()}
    result = compile_expression(source, _symbols(), expect=Type.BOOL).evaluate(known)
    return None if isinstance(result, Unknown) else bool(result)


def _flag_names(engine: Engine) -> list[str]:
    shown = [name for flag in engine.flags for name in (flag.name, *flag.aliases)]
    return shown + [name for flag in engine.removed_flags for name in (flag.name, *flag.aliases)]


@pytest.mark.parametrize("name", ENGINES)
def test_every_claim_names_a_source_of_its_file(name: str) -> None:
    engine = _engine(name)
    sources = {source.id for source in engine.sources}
    claims = [item for item in _models(engine) if isinstance(item, Claim | TokenizerGate | Reader)]
    assert len(claims) > 30
    assert [claim for claim in claims if claim.known not in sources] == []
    assert sources - {claim.known for claim in claims} <= {"beellama-160", "issue-11506"}, (
        "a source that nothing rests on"
    )


@pytest.mark.parametrize("name", ENGINES)
def test_sources_have_one_id_and_a_day(name: str) -> None:
    sources = _engine(name).sources
    assert len({source.id for source in sources}) == len(sources)
    assert all(2023 <= source.on.year <= 2026 for source in sources)
    assert all(source.url for source in sources if source.by == "thread")


@pytest.mark.parametrize("name", ENGINES)
def test_versions_follow_the_scheme(name: str) -> None:
    engine = _engine(name)
    for claim in (item for item in _models(engine) if isinstance(item, Claim)):
        bounds = [version_key(bound, engine.version.scheme) for bound in (claim.since, claim.until) if bound]
        assert bounds == sorted(bounds)
    assert version_key(engine.version.facts_from, engine.version.scheme)


@pytest.mark.parametrize("name", ENGINES)
def test_flags_aliases_and_variables_are_unique(name: str) -> None:
    engine = _engine(name)
    assert [flag for flag, times in Counter(_flag_names(engine)).items() if times > 1] == []
    variables = Counter(flag.env for flag in (*engine.flags, *engine.removed_flags) if flag.env)
    assert max(variables.values()) == 1


@pytest.mark.parametrize("name", ENGINES)
def test_ids_are_unique_within_their_list(name: str) -> None:
    engine = _engine(name)
    for items in (engine.methods, engine.recipes, engine.probes, engine.known_issues, engine.memory, engine.row_limits):
        ids = [item.id for item in items]
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", ENGINES)
def test_combinations_are_about_methods_of_the_engine(name: str) -> None:
    engine = _engine(name)
    methods = [method.id for method in engine.methods]
    for combination in engine.combinations:
        for pattern in combination.methods:
            assert any(fnmatchcase(method, pattern) for method in methods), pattern
    statuses = [combination.status == "works" for combination in engine.combinations]
    assert statuses == sorted(statuses), "what fails has to come before what works: the first match decides"


@pytest.mark.parametrize("name", ENGINES)
def test_methods_refer_to_classes_and_flags_that_exist(name: str) -> None:
    engine = _engine(name)
    flags = {spelling: flag for flag in engine.flags for spelling in (flag.name, *flag.aliases)}
    for method in engine.methods:
        assert method.drafter_class in _classes()
        assert (method.draft_device == "none") is (not _classes()[method.drafter_class].needs_weights)
        assert method.removed or method.switch_on
        assert method.draft_length_flag is None or method.draft_length_flag in flags
        for entry in (*method.switch_on, *method.switch_off):
            flag_name, value = re.split(r"[ =]", entry, maxsplit=1)
            allowed = flags[flag_name].values
            assert not allowed or value in allowed
        if method.draft_length_flag:
            assert any(entry.startswith(method.draft_length_flag) for entry in method.switch_on)


@pytest.mark.parametrize("name", ENGINES)
def test_recipes_yield_known_facts_for_known_methods(name: str) -> None:
    engine = _engine(name)
    methods = {method.id for method in engine.methods if not method.removed}
    for recipe in engine.recipes:
        assert set(recipe.yields) <= YIELDS
        assert set(recipe.methods) <= methods
        assert set(re.findall(r"\{(\w+)\}", recipe.command)) <= {
            "target",
            "drafter",
            "draft_length",
            "method",
            "url",
            "container",
        }
    offered = {fact for recipe in engine.recipes for fact in recipe.yields}
    assert {"off.rate_tok_s", "target.step_ms", "incumbent.rate_tok_s", "incumbent.tokens_per_round"} <= offered
    if name == "llama.cpp":
        assert offered == YIELDS


@pytest.mark.parametrize("name", ENGINES)
def test_conditions_read_declared_inputs(name: str) -> None:
    conditions = [issue.condition for issue in _engine(name).known_issues if issue.condition]
    assert len(conditions) >= 4
    for condition in conditions:
        compile_expression(condition, _symbols(), expect=Type.BOOL)


SAME = {
    "target__tokenizer__family": "gpt2",
    "drafter__tokenizer__family": "gpt2",
    "target__tokenizer__add_bos": False,
    "drafter__tokenizer__add_bos": False,
    "target__tokenizer__bos_id": 1.0,
    "drafter__tokenizer__bos_id": 1.0,
    "target__tokenizer__add_eos": False,
    "drafter__tokenizer__add_eos": False,
    "target__tokenizer__eos_id": 2.0,
    "drafter__tokenizer__eos_id": 2.0,
    "target__tokenizer__size": 49152.0,
    "drafter__tokenizer__size": 49152.0,
    "tokenizers__last_differing_id": -1.0,
}


@pytest.mark.parametrize(
    ("change", "refused_by"),
    [
        ({}, []),
        ({"tokenizers__last_differing_id": 30000.0}, ["texts"]),
        ({"tokenizers__last_differing_id": 5.0}, ["texts"]),
        ({"tokenizers__last_differing_id": 4.0}, []),
        ({"tokenizers__last_differing_id": 3.0}, []),
        ({"drafter__tokenizer__size": 48952.0}, ["size"]),
        ({"drafter__tokenizer__size": 49023.0}, ["size"]),
        ({"drafter__tokenizer__size": 49024.0}, []),
        ({"drafter__tokenizer__size": 49280.0}, []),
        ({"drafter__tokenizer__size": 49281.0}, ["size"]),
        ({"drafter__tokenizer__add_bos": True}, ["add-bos"]),
        ({"drafter__tokenizer__bos_id": 11.0}, []),
        (
            {
                "target__tokenizer__add_bos": True,
                "drafter__tokenizer__add_bos": True,
                "drafter__tokenizer__bos_id": 11.0,
            },
            ["bos-id"],
        ),
        ({"drafter__tokenizer__eos_id": 11.0}, []),
        ({"drafter__tokenizer__add_eos": True}, ["add-eos"]),
        (
            {
                "target__tokenizer__add_eos": True,
                "drafter__tokenizer__add_eos": True,
                "drafter__tokenizer__eos_id": 11.0,
            },
            ["eos-id"],
        ),
        ({"drafter__tokenizer__family": "llama"}, ["family"]),
    ],
)
def test_llama_cpp_compares_tokenizers_as_the_server_did(change: dict[str, object], refused_by: list[str]) -> None:
    """The pairs of a run of b11434: one header, changed in one place."""
    (gate,) = _engine("llama.cpp").tokenizer_gates
    assert gate.methods == ("draft-simple",)
    answers = {check.id: _holds(check.accepts, **{**SAME, **change}) for check in gate.checks}
    assert [check for check, accepted in answers.items() if not accepted] == refused_by
    assert {check.otherwise for check in gate.checks} == {"refused-silently"}


@pytest.mark.parametrize(
    ("pair", "status"),
    [
        (("draft-mtp", "draft-dflash"), "dies-at-load"),
        (("draft-mtp", "draft-dspark"), "dies-at-load"),
        (("draft-mtp", "draft-simple"), "dies-at-load"),
        (("draft-mtp", "draft-eagle3"), "dies-at-load"),
        (("draft-simple", "draft-dflash"), "untested"),
        (("draft-simple", "draft-eagle3"), "refused"),
        (("draft-eagle3", "draft-dflash"), "refused"),
        (("draft-dflash", "draft-dspark"), "refused"),
        (("draft-simple", "ngram-simple"), "works"),
        (("draft-dflash", "ngram-mod"), "works"),
        (("draft-mtp", "ngram-map-k4v"), "works"),
        (("ngram-mod", "ngram-cache"), "works"),
    ],
)
def test_llama_cpp_combinations(pair: tuple[str, str], status: str) -> None:
    def fits(patterns: tuple[str, ...]) -> bool:
        return any(all(map(fnmatchcase, order, patterns)) for order in (pair, pair[::-1]))

    assert next(item.status for item in _engine("llama.cpp").combinations if fits(item.methods)) == status


def test_llama_cpp_flag_defaults() -> None:
    flags = {flag.name: flag for flag in _engine("llama.cpp").flags}
    defaults = {name: flag.default for name, flag in flags.items()}
    assert defaults["--spec-type"] == "none"
    assert defaults["--spec-draft-n-max"] == "3"
    assert defaults["--spec-draft-n-min"] == "0"
    assert defaults["--spec-draft-p-min"] == "0.00"
    assert defaults["--spec-draft-sampling"] == "greedy"
    assert defaults["--spec-draft-type-k"] == defaults["--spec-draft-type-v"] == "f16"
    assert defaults["--verbosity"] == "3"
    assert defaults["--fit-target"] == "1024"
    assert [defaults[f"--spec-ngram-mod-{end}"] for end in ("n-match", "n-min", "n-max")] == ["24", "48", "64"]
    for method in ("simple", "map-k", "map-k4v"):
        sizes = [defaults[f"--spec-ngram-{method}-{end}"] for end in ("size-n", "size-m", "min-hits")]
        assert sizes == ["12", "48", "1"]
    assert flags["--spec-draft-device"].env is None
    assert "-devd" in flags["--spec-draft-device"].aliases
    assert len(flags["--spec-type"].values) == 11


def test_llama_cpp_methods() -> None:
    methods = {method.id: method for method in _engine("llama.cpp").methods}
    catch_up = {name for name, method in methods.items() if method.round.catch_up == "batch" and not method.removed}
    assert catch_up == {"draft-simple", "draft-eagle3", "draft-mtp", "draft-dflash", "draft-dspark"}
    current = {name: method for name, method in methods.items() if not method.removed}
    restores = {name for name, method in current.items() if method.round.restores_hybrid}
    assert restores == {"draft-simple", *(name for name in methods if name.startswith("ngram-"))}
    assert {name for name, method in methods.items() if method.removed} == {"draft", "mtp", "eagle3"}
    assert current.keys() == {value for value in _flag("--spec-type").values if value != "none"}
    limits = {name: method.max_draft_length for name, method in current.items()}
    assert limits["draft-simple"] is limits["draft-mtp"] is limits["draft-eagle3"] is None
    assert (limits["draft-dflash"], limits["draft-dspark"]) == (15, 16)
    assert (limits["ngram-cache"], limits["ngram-mod"]) == (8, 1024)
    assert current["draft-simple"].draft_device == "routable"
    assert current["draft-mtp"].draft_device == current["draft-dflash"].draft_device == "conditional"
    assert current["ngram-mod"].lossless is None
    assert all(method.lossless for name, method in current.items() if name != "ngram-mod")
    assert "--spec-draft-n-max" not in {method.draft_length_flag for name, method in current.items() if "ngram" in name}


def _flag(name: str) -> Any:
    return next(flag for flag in _engine("llama.cpp").flags if flag.name == name)


def test_llama_cpp_devices_and_limits() -> None:
    engine = _engine("llama.cpp")
    patterns = {backend.id: backend.device_pattern for backend in engine.devices.backends}
    names = {"CUDA": "CUDA0", "HIP": "ROCm1", "Vulkan": "Vulkan0", "Metal": "MTL0", "SYCL": "SYCL0", "MUSA": "MUSA0"}
    for name in (*names.values(), "RPC0", "CPU"):
        assert [key for key, pattern in patterns.items() if pattern and re.fullmatch(pattern, name)] == [
            next((key for key, device in names.items() if device == name), name.rstrip("0"))
        ]
    pairs = {frozenset(claim.backends): claim.status for claim in engine.devices.coexistence}
    assert len(pairs) == len(engine.devices.coexistence)
    assert pairs[frozenset({"CUDA", "HIP"})] == "impossible"
    assert pairs[frozenset({"CUDA", "Vulkan"})] == "works"
    assert all(pairs[frozenset({"RPC", backend})] == "works" for backend in patterns if backend != "RPC")
    rows = {backend: limit.max_rows for limit in engine.row_limits for backend in limit.backends}
    assert rows == {"CUDA": 8, "HIP": 8, "Vulkan": 8}


@pytest.mark.parametrize(
    ("issue", "version", "applies"),
    [
        ("p-min-default", "b9234", True),
        ("p-min-default", "b9235", False),
        ("mtp-does-not-start", "b10740", False),
        ("mtp-does-not-start", "b10743", True),
        ("mtp-does-not-start", "b10749", False),
        ("hybrid-refused", "b8808", True),
        ("hybrid-refused", "b11434", False),
        ("bos-eos-always-compared", "b11434", False),
        ("statistics-accept-calls", "b9222", False),
    ],
)
def test_llama_cpp_issue_ranges(issue: str, version: str, applies: bool) -> None:
    claim = next(item for item in _engine("llama.cpp").known_issues if item.id == issue)
    assert in_range(version, claim.since, claim.until, "build") is applies


def test_halogen_takes_no_drafter_from_outside() -> None:
    engine = _engine("halogen-flash-server")
    assert engine.closed
    assert not engine.devices.draft_routing.possible
    current = {method.id: method for method in engine.methods if not method.removed}
    assert {name: method.drafter_class for name, method in current.items()} == {"mtp": "mtp-head", "pld": "ngram"}
    assert current["mtp"].draft_device == "same-device"
    assert current["pld"].max_draft_length == 3
    assert {refusal.status: refusal.text for refusal in engine.request_refusals if "unknown" in refusal.id} == {
        400: "drafter '{name}' unknown; use serial | mtp | dflash2"
    }
    assert {refusal.status: refusal.text for refusal in engine.request_refusals if "unavailable" in refusal.id} == {
        400: "drafter '{name}' unavailable: the loaded checkpoint cannot serve it"
    }
    flags = {flag.name: flag.default for flag in engine.flags}
    assert (flags["HALOGEN_MTP_DEPTH"], flags["HALOGEN_PLD"], flags["HALOGEN_DRAFTER_DEFAULT"]) == ("2", "3,3", "1")
    assert [limit.max_rows for limit in engine.row_limits] == [8]


def _reader(name: str) -> Reader:
    return next(reader for reader in _engine("halogen-flash-server").readers if reader.id == name)


def _fields_of(line: str) -> tuple[str, dict[str, object]]:
    reader = _reader("serve-api-log")
    for pattern in reader.patterns:
        found = re2.search(pattern.pattern, line)
        if found is None:
            continue
        values: dict[str, object] = dict(pattern.sets)
        for name, text in found.groupdict().items():
            if text is not None:
                values[name] = float(text) if reader.fields[name].type == "number" else text
        return pattern.id, values
    raise AssertionError(line)


def _facts_of(reader: Reader, values: dict[str, object]) -> dict[str, object]:
    symbols = {name: Type(field.type) for name, field in reader.fields.items()}
    filled = {name: field.default for name, field in reader.fields.items() if field.default is not None} | values
    facts: dict[str, object] = {}
    for rule in reader.facts:
        condition = compile_expression(rule.when, symbols, expect=Type.BOOL).evaluate(filled) if rule.when else True
        result = compile_expression(rule.value, symbols).evaluate(filled)
        if condition is True and not isinstance(result, Unknown):
            facts[rule.fact] = result
    return facts


def test_halogen_log_examples_give_their_fields() -> None:
    examples = [(pattern.id, example) for pattern in _reader("serve-api-log").patterns for example in pattern.examples]
    assert len(examples) >= 7
    for pattern, example in examples:
        assert _fields_of(example.line) == (pattern, dict(example.fields))


def test_halogen_commit_is_taken_as_printed_and_the_rate_recomputed() -> None:
    _, fields = _fields_of("serve_api: mtp 63 tok in 1.31s = 47.97 t/s | 33 rounds, commit 1.88/round")
    facts = _facts_of(_reader("serve-api-log"), fields)
    assert facts["tokens_per_round"] == 1.88
    assert facts["rounds"] == 33
    assert facts["rate_tok_s"] == pytest.approx(62 / 1.31)
    assert facts["round_ms"] == pytest.approx(1310 / 33)
    assert (facts["drafting"], facts["method"], facts["rate_kind"]) == (True, "mtp", "decode")


@pytest.mark.parametrize(
    "line",
    [
        "serve_api: serial 100 tok in 4.0s = 25.0 t/s | prompt 500, prefill 2.0s",
        "serve_api: batch 128 tok in 3.60s = 35.56 t/s | prompt 1287 (1035 cached), prefill 1.26s | detok 31us/tok",
    ],
)
def test_halogen_requests_without_rounds_did_not_draft(line: str) -> None:
    pattern, fields = _fields_of(line)
    facts = _facts_of(_reader("serve-api-log"), fields)
    assert pattern == "undrafted"
    assert facts["drafting"] is False
    assert not {"method", "tokens_per_round", "round_ms"} & facts.keys()


def test_halogen_request_of_one_token_has_no_rate() -> None:
    _, fields = _fields_of("serve_api: mtp 1 tok in 0.00s = n/a | prompt 75298, prefill 85.39s | detok 79us/tok")
    assert "rate_tok_s" not in _facts_of(_reader("serve-api-log"), fields)


def test_halogen_round_time_is_unknown_where_tokens_were_decoded_beside_other_streams() -> None:
    line = "serve_api: mtp 91 tok in 5.00s = 18.20 t/s | 10 rounds, commit 2.00/round | prompt 9, prefill 0.10s"
    _, alone = _fields_of(line)
    _, shared = _fields_of(f"{line} | detok 9us/tok | 70 tok beside other streams")
    assert shared["shared_tokens"] == 70
    assert "round_ms" not in _facts_of(_reader("serve-api-log"), shared)
    assert "round_ms" not in _facts_of(_reader("serve-api-log"), alone), "20 tokens in rounds of 91 are not all"


def test_halogen_metrics_have_no_rounds() -> None:
    reader = _reader("metrics")
    values = {"requests": 25.0, "tokens": 24920.0, "decode_s": 1582.82, "drafted": 334.0, "accepted": 282.0}
    facts = _facts_of(reader, {**values, "prompt_tokens": 806600.0, "prompt_s": 591.261})
    assert not {"tokens_per_round", "rounds"} & {rule.fact for rule in reader.facts}
    assert facts["rate_tok_s"] == pytest.approx(24895 / 1582.82)
    assert facts["target_passes"] == 24613
    (example,) = reader.examples
    assert facts.keys() == example.facts.keys()
    for name, value in example.facts.items():
        assert facts[name] == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    ("drafter_class", "draft_ms"),
    [
        ("model", 41),
        ("mtp-head", 41),
        ("eagle-head", 41),
        ("block", 17),
        ("parallel-model", 17),
        ("ngram", 0),
        ("suffix", 0),
        ("tree", 41),
    ],
)
def test_drafter_classes_price_a_round(drafter_class: str, draft_ms: float) -> None:
    item = _classes()[drafter_class]
    expression = compile_expression(item.draft_ms, _symbols() | _ROUND, expect=Type.NUMBER)
    known = {"draft_length": 3.0, "drafter.step_ms": 12.0, "drafter.catch_up_ms": 5.0}
    assert expression.evaluate(known) == draft_ms
    assert isinstance(expression.evaluate({"draft_length": 3.0}), Unknown) is bool(item.cost_inputs)


_ROUND = {"draft_length": Type.NUMBER, "drafter.catch_up_ms": Type.NUMBER}


def test_drafter_classes_say_what_they_need() -> None:
    classes = _classes()
    assert classes.keys() == {"model", "mtp-head", "eagle-head", "block", "parallel-model", "ngram", "suffix", "tree"}
    assert {name for name, item in classes.items() if item.target_specific} == {"mtp-head", "eagle-head", "block"}
    assert {name for name, item in classes.items() if item.reads_hidden_states} == {"mtp-head", "eagle-head", "block"}
    assert {name for name, item in classes.items() if item.needs_tokenizer_match} == {"model", "parallel-model", "tree"}
    assert {name for name, item in classes.items() if not item.covers_every_round} == {"ngram", "suffix"}
    assert {name for name, item in classes.items() if item.constant_in_depth} == {"block", "parallel-model"}
    assert {name for name, item in classes.items() if item.is_tree} == {"tree"}
