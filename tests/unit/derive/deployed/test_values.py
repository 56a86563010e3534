from __future__ import annotations

import json

import pytest

from specrules.model.case import Case
from specrules.model.deployment import Gap

from .building import GAP, deployment, derived, engine, place, setting


def value(name, made, of=None, base=None):
    return derived(made, of, base).settled.values[name]


@pytest.mark.parametrize(
    ("made", "speculation"),
    [
        (deployment(), "off"),
        (deployment(facts={"engine.methods": ()}), "off"),
        (deployment(facts={"engine.methods": ("mtp",)}), "on"),
        (deployment(facts={"engine.methods": None}), "unknown"),
        (deployment(gaps=GAP), "unknown"),
        (deployment(facts={"engine.methods": ("mtp",)}, gaps=GAP), "on"),
        (deployment(setting("--gone", "1", name="--gone"), version="b299"), "unknown"),
        (deployment(setting("--gone", "1", name="--gone"), version="b300"), "off"),
        (deployment(setting("--left", "1", name="--left"), version="b200"), "off"),
    ],
)
def test_whether_anything_drafts(made, speculation):
    assert derived(made).speculation == speculation


SAYS = [
    {"fact": "deployment.speculates", "value": "given.draft", "known": "read"},
    {"fact": "engine.methods", "value": '["mtp"]', "when": "flag.quick", "known": "read"},
    {"fact": "deployment.draft_length", "value": "flag.length + 1", "when": '"mtp" in engine.methods', "known": "read"},
    {"fact": "deployment.draft_length", "value": "99", "known": "read"},
    {"fact": "deployment.metrics", "value": True, "since": "b250", "known": "read"},
    {"fact": "deployment.metrics", "value": False, "known": "read"},
]


def test_what_the_engine_derives_adds_methods_and_replaces_all_else():
    of = engine(deployed=SAYS)
    made = deployment(facts={"engine.methods": ("small",), "engine.draft_length": 7.0})
    found = derived(made, of).settled.values
    assert found["engine.methods"] == ("small", "mtp")
    assert (found["deployment.draft_length"], found["deployment.metrics"]) == (4.0, True)
    slow = deployment(setting("--quick", "false"), facts={"engine.methods": ("small",)}, version="b249")
    found = derived(slow, of).settled.values
    assert (found["engine.methods"], found["deployment.draft_length"]) == (("small",), 99.0)
    assert found["deployment.metrics"] is False


def test_something_drafts_and_no_setting_names_it():
    of = engine(deployed=SAYS[:1])
    found = derived(deployment(setting("-d", "x")), of)
    assert (found.speculation, found.settled.values["engine.methods"]) == ("on", None)
    assert derived(deployment(gaps=GAP), of).speculation == "unknown"


def test_a_derived_value_stands_where_its_setting_does():
    of = engine(deployed=[{"fact": "deployment.metrics", "value": "flag.metrics", "known": "read"}])
    assert derived(deployment(setting("--no-metrics", line=6)), of).settled.places["deployment.metrics"].line == 6
    assert "deployment.metrics" not in derived(deployment(), of).settled.places


def test_rows_of_a_verify_pass():
    facts = {"engine.methods": ("mtp",), "engine.draft_length": 3.0, "workload.concurrency": 2.0}
    found = derived(deployment(facts=facts)).settled.values
    assert (found["deployment.rows_at_least"], found["deployment.verify_rows"]) == (4.0, 8.0)
    auto = derived(deployment(facts={**facts, "workload.concurrency": -1.0})).settled.values
    assert (auto["deployment.rows_at_least"], auto["deployment.verify_rows"]) == (4.0, None)


LIMITS = [
    {"id": "wide", "max_rows": 32, "known": "read", "effect": "e", "backends": ["HIP"]},
    {"id": "narrow", "max_rows": 8, "known": "read", "effect": "e", "backends": ["CUDA"]},
]


@pytest.mark.parametrize(
    ("device", "concurrency", "limited", "rows"),
    [("CUDA0", 2.0, True, 8.0), ("CPU", 2.0, False, None), (None, 2.0, True, 8.0), (None, 3.0, None, None),
     (None, None, None, None)],
)  # fmt: skip
def test_the_width_of_a_backend_and_of_one_that_nobody_names(device, concurrency, limited, rows):
    backends = [
        {"id": name, "device_pattern": pattern, "known": "read"}
        for name, pattern in (("CUDA", r"^CUDA\d+$"), ("HIP", r"^ROCm\d+$"), ("CPU", "^CPU$"))
    ]
    routing = {"possible": False, "effect": "e", "known": "read"}
    of = engine(row_limits=LIMITS, devices={"backends": backends, "draft_routing": routing})
    facts = {"engine.methods": ("mtp",), "engine.draft_length": 3.0, "workload.concurrency": concurrency}
    facts |= {} if device is None else {"target.device": device}
    found = derived(deployment(facts=facts), of).settled.values
    assert (found["deployment.row_limited"], found["engine.max_verify_rows"]) == (limited, rows)


def test_the_longest_draft_is_that_of_drafters_with_a_model():
    found = derived(deployment(facts={"engine.methods": ("mtp", "small")})).settled.values
    assert (found["deployment.longest_draft"], found["engine.method"]) == (4.0, None)
    assert (found["drafter.kind"], found["drafter.needs_weights"]) == (None, True)
    alone = derived(deployment(facts={"engine.methods": ("small",)})).settled.values
    assert (alone["engine.method"], alone["drafter.kind"], alone["deployment.longest_draft"]) == (
        "small",
        "model",
        16.0,
    )


def test_a_device_for_a_drafter_that_ignores_it():
    facts = {"engine.methods": ("mtp",), "drafter.device": "CUDA1", "target.device": "CUDA0"}
    found = derived(deployment(facts=facts)).settled.values
    assert (found["engine.routes_drafter"], found["engine.ignores_drafter_device"]) == (False, True)
    assert found["deployment.drafter_routed"] is True
    says = [{"fact": "engine.routing_note", "value": '"it stays"', "known": "read"}]
    assert value("engine.routing_note", deployment(facts=facts), engine(deployed=says)) == "it stays"


def test_variables_from_elsewhere_leave_open_what_variables_can_set():
    elsewhere = (Gap(of="environment", why="variables come from an env_file", place=place(7)),)
    assert value("deployment.drafter_given", deployment(gaps=elsewhere)) is False
    assert value("deployment.drafter_given", deployment(gaps=GAP)) is None
    assert derived(deployment(gaps=elsewhere)).speculation == "unknown"
    flags = [{"name": "--spec", "states": ["engine.methods"], "doc": "d", "known": "read"}]
    assert derived(deployment(gaps=elsewhere), engine(flags=flags, removed_flags=[])).speculation == "off"


def test_a_drafter_on_the_targets_own_device_is_not_routed():
    facts = {"engine.methods": ("mtp",), "drafter.device": "CUDA0"}
    made = deployment(facts=facts | {"target.device": "CUDA0"})
    assert value("deployment.drafter_routed", made) is False
    beside = case(target={"name": "t", "device": "CUDA0"})
    assert value("deployment.drafter_routed", deployment(facts=facts), base=beside) is False
    assert value("deployment.drafter_routed", deployment(facts=facts)) is True
    assert value("deployment.drafter_routed", deployment(facts={"engine.methods": ("mtp",)})) is False


def test_a_version_that_is_none_is_judged_as_the_newest():
    found = derived(deployment(version="nightly")).settled
    assert (found.version, found.values["deployment.judged_version"]) == ("b300", "b300")
    assert derived(deployment(version=None)).settled.values["deployment.version_stated"] is False


def test_statements_that_make_no_case_leave_the_rest_judged():
    facts = {"engine.methods": ("small",), "engine.draft_length": 0.0, "drafter.device": "CUDA1"}
    found = derived(deployment(facts=facts))
    assert found.case.engine.methods == ("small",)
    assert found.settled.values["deployment.draft_length"] == 0.0


def case(**fields):
    data = {
        "schema": 1,
        "target": {"name": "t"},
        "drafter": {"name": "d", "class": "model"},
        "engine": {"id": "toy"},
        **fields,
    }
    return Case.model_validate_json(json.dumps(data)), data


def test_what_a_case_knows_counts_where_the_deployment_says_nothing():
    base = case(target={"name": "t", "device": "CUDA0"}, drafter={"name": "d", "class": "model", "device": "CUDA1"})
    made = deployment(facts={"engine.methods": ("small",), "drafter.device": "CUDA2"})
    found = derived(made, base=base).settled.values
    assert (found["target.device"], found["drafter.device"]) == ("CUDA0", "CUDA2")
    assert (found["deployment.has_case"], found["deployment.case_misfits"]) == (True, 0.0)


def test_a_case_about_something_else():
    base = case(engine={"id": "toy", "version": "b299", "methods": ["small"], "draft_length": 5})
    made = deployment(facts={"engine.methods": ("mtp",), "engine.draft_length": 3.0})
    found = derived(made, base=base).settled.values
    assert found["deployment.case_misfits"] == 3.0
    assert found["deployment.case_note"] == (
        "the case switches small on, not mtp; the case drafts 5 tokens, not 3; the case is about version b299, not b300"
    )
    other = derived(made, base=case(engine={"id": "elsewhere"})).settled.values
    assert other["deployment.case_note"] == "the case is about elsewhere"


def test_whether_a_head_fits_is_the_cases_to_say_and_else_the_names():
    facts = {"engine.methods": ("mtp",), "drafter.name": "Qwen3.6-27B-head", "target.name": "Qwen3.8-27B"}
    assert value("deployment.head_fits", deployment(facts=facts)) is False
    stated = case(target={"name": "t", "checkpoint": "x"}, drafter={"name": "d", "class": "model", "trained_for": "x"})
    assert value("deployment.head_fits", deployment(facts=facts), base=stated) is True
    assert value("deployment.head_fits", deployment(facts={"engine.methods": ("mtp",)})) is None


def test_a_setting_that_loosens_verification():
    says = [{"fact": "deployment.lossy", "value": "flag.length < 3", "known": "read"}]
    made = deployment(setting("--length", "2"), facts={"engine.methods": ("small",)})
    assert value("deployment.lossy", made, engine(deployed=says)) is True
    assert value("deployment.lossy", made) is False
