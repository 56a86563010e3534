from __future__ import annotations

import pytest

from specrules.derive.deployed.claims import claim_items

from .building import GAP, claim, deployment, derived, engine, setting


def items(made, **lists):
    found = derived(made, engine(**lists))
    return {item.key: item for item in claim_items(found.settled, found.case)}


def holds(made, **fields):
    found = items(made, start_refusals=[claim(condition="flag.length > 4", **fields)])
    return found["c"].values["claim.holds"] if found else "not asked"


def test_a_condition_over_settings():
    assert holds(deployment(setting("--length", "5"))) is True
    assert holds(deployment()) is False
    assert holds(deployment(setting("--length", None, rendered=False))) is None


@pytest.mark.parametrize(
    ("version", "answer"),
    [("b100", "not asked"), ("b101", True), ("b200", True), ("b201", "not asked"), (None, "not asked")],
)
def test_a_claim_is_about_its_versions_and_an_unknown_one_is_the_newest(version, answer):
    made = deployment(setting("--length", "5"), version=version)
    assert holds(made, since="b101", until="b200") == answer


def test_a_claim_is_about_its_methods():
    on = deployment(setting("--length", "5"), facts={"engine.methods": ("mtp",)})
    assert holds(on, methods=["mt*"]) is True
    assert holds(on, methods=["small"]) == "not asked"
    behind = deployment(setting("--length", "5"), gaps=GAP)
    item = items(behind, start_refusals=[claim(condition="flag.length > 4", methods=["small"])])["c"]
    assert (item.values["claim.holds"], item.missing) == (None, {"engine.methods"})


def test_a_claim_that_nobody_verified_is_unknown_where_it_would_hold():
    made = deployment(setting("--length", "5"))
    assert holds(made, known="heard") is None
    assert holds(deployment(), known="heard") is False


def test_without_a_condition_a_claim_is_only_shown():
    assert items(deployment(), start_refusals=[claim()]) == {}


def test_a_claim_shows_its_condition_stands_at_the_setting_and_names_what_is_missing_as_written():
    made = deployment(setting("--length", "5", line=4), setting("-d", "x", line=2))
    refusal = claim(condition="given.draft and flag.length > 4", fix="Shorten  it.", text="too long", note="n")
    item = items(made, start_refusals=[refusal])["c"]
    assert item.conditions["claim.holds"] == ("given.draft and flag.length > 4", "true and 5 > 4")
    assert (item.place.line, item.fix) == (2, "Shorten it.")
    assert item.values["claim.says"] == "too long"
    unknown = items(deployment(gaps=GAP), start_refusals=[refusal])["c"]
    assert unknown.missing == {"--draft", "--length"}


def test_claims_of_every_list_have_a_kind_and_an_effect():
    lists = {
        "start_refusals": [claim(condition="given.draft", effect="setting-ignored")],
        "features": [
            {"feature": "lora", "status": "refused", "effect": "No.", "known": "read", "condition": "given.draft"}
        ],
        "limits": [{"id": "cap", "of": "context", "effect": "Less.", "known": "read", "condition": "given.draft"}],
        "request_refusals": [
            {"id": "min-p", "trigger": "min_p", "status": 400, "text": "no", "means": "m", "known": "read",
             "condition": "given.draft"}
        ],
        "known_issues": [
            {"id": "slow", "title": "Slow", "effect": "Slow.", "known": "read", "condition": '"mtp" in engine.methods'},
            {"id": "dead", "title": "Dead", "effect": "Dead.", "known": "read", "fatal": True,
             "condition": "target.is_hybrid"},
            {"id": "other", "title": "Other", "effect": "o", "known": "read", "condition": '"small" in engine.methods'},
        ],
    }  # fmt: skip
    made = deployment(setting("-d", "x"), facts={"engine.methods": ("mtp",)})
    found = {
        key: (item.values["claim.kind"], item.values["claim.effect"], item.values["claim.holds"])
        for key, item in items(made, **lists).items()
    }
    assert found == {
        "c": ("start", "setting-ignored", True),
        "lora": ("feature", "refused", True),
        "cap": ("limit", "context", True),
        "min-p": ("request", "refused", True),
        "slow": ("issue", "known", True),
        "dead": ("issue", "fatal", None),
    }
