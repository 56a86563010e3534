from __future__ import annotations

import pytest

from specrules.derive.deployed.items import method_items, pair_items, setting_items

from .building import deployment, derived, engine, setting


def one(made, of=None):
    (item,) = setting_items(derived(made, of).settled, made)
    return item


def states(item, *names):
    return tuple(item.values[f"setting.{name}"] for name in names)


def test_a_current_setting():
    item = one(deployment(setting("-d", "x", line=3)))
    assert (states(item, "name", "state", "gone", "accepted"), item.key, item.place.line) == (
        ("-d", "current", False, True), "-d", 3,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("written", "version", "gone"),
    [("--gone", "b300", True), ("--gone", "b299", None), ("--gone", None, True), ("--left", "b250", False),
     ("--left", "b251", True)],
)  # fmt: skip
def test_a_removed_setting_is_gone_from_the_version_that_was_read(written, version, gone):
    item = one(deployment(setting(written, "1", name=written), version=version))
    assert states(item, "gone") == (gone,)
    assert states(item, "state") == ("current" if gone is False else "removed",)
    if written == "--gone":
        assert states(item, "instead", "effect") == ("--length", "Unknown argument.")


def test_a_setting_that_a_later_version_removed_has_a_value_that_nobody_has_to_judge():
    item = one(deployment(setting("--left", "1", name="--left"), version="b249"))
    assert states(item, "state", "accepted", "until") == ("current", True, "b250")


def test_a_setting_of_another_version():
    item = one(deployment(setting("--fresh", "1"), version="b199"))
    assert states(item, "state", "since", "until") == ("other-version", "b200", None)
    assert states(one(deployment(setting("--fresh", "1"), version="b200")), "state") == ("current",)


def test_misspelt_and_out_of_scope():
    assert states(one(deployment(setting("--metrisc"))), "state", "instead") == ("misspelt", "--metrics")
    made = deployment(setting("--host", "localhost"))
    assert setting_items(derived(made).settled, made) == ()


def test_a_misspelt_key_is_held_against_flags_without_their_dashes():
    flags = [{"name": "--spec-type", "doc": "d", "known": "read"}]
    key = setting("spec_type", "mtp", name=None).model_copy(update={"kind": "config"})
    item = one(deployment(key), engine(flags=flags))
    assert states(item, "state", "instead") == ("misspelt", "spec-type")
    key = setting("spec_confg.depth", "1", name=None).model_copy(update={"kind": "config"})
    inner = [{"name": "--spec-config.depth", "doc": "d", "known": "read"}]
    assert states(one(deployment(key), engine(flags=inner)), "state", "instead") == ("misspelt", "spec-config.depth")
    variable = deployment(setting("spec_type", "mtp", name=None))
    assert setting_items(derived(variable, engine(flags=flags)).settled, variable) == ()


def test_a_flag_cut_so_short_that_several_begin_with_it():
    of = engine(launch={"abbreviations": ["--"], "known": "read"})
    item = one(deployment(setting("--me", "1", name=None)), of)
    assert states(item, "state", "instead") == ("misspelt", "--metrics")
    item = one(deployment(setting("--l", "1", name=None)), of)
    assert states(item, "state", "instead") == ("misspelt", "--left or --length")
    whole = deployment(setting("--l", "1", name=None))
    assert setting_items(derived(whole).settled, whole) == ()


def test_a_key_of_a_closed_value():
    item = one(deployment(setting("--config.dpeth", "3", inside=True)))
    assert states(item, "state", "takes") == ("unlisted", "depth")
    assert states(one(deployment(setting("--config.depth", "3"))), "state") == ("current",)


@pytest.mark.parametrize(
    ("written", "value", "fields", "accepted", "takes"),
    [
        ("--kind", "a", {}, True, "a, b"),
        ("--kind", "c", {}, False, "a, b"),
        ("--kind", None, {"rendered": False}, None, "a, b"),
        ("--length", None, {"rendered": False}, True, "a number"),
        ("--length", None, {}, False, "a number"),
        ("--length", "three", {}, False, "a number"),
        ("--length", "8k", {}, True, "a number"),
        ("--length", "-1", {}, True, "a number"),
        ("--length", "auto", {}, True, "a number"),
        ("KEY", "", {}, True, "a number"),
        ("KEY", "2,5", {}, False, "a number"),
        ("--metrics", None, {}, True, None),
        ("--kind", "c", {"effective": False}, True, "a, b"),
        ("--config", "{", {"fault": "not JSON: it ends too early"}, False, "JSON (it ends too early)"),
        ("--kind", "a", {"fault": "its value as a word of its own"}, False, "its value as a word of its own"),
        ("--spec", "mtp,unheard-of", {}, True, "none, mtp, small, old"),
        ("--spec", "mtp, small", {}, False, "names joined by commas without blanks"),
    ],
)
def test_values(written, value, fields, accepted, takes):
    item = one(deployment(setting(written, value, **fields)))
    assert states(item, "accepted", "takes") == (accepted, takes)


def test_a_secret_is_not_among_the_values():
    assert states(one(deployment(setting("-d", "hf_123", secret=True))), "value") == (None,)


def methods(made, of=None):
    return {item.key: item.values for item in method_items(derived(made, of).settled)}


def test_methods_as_this_version_has_them():
    found = methods(deployment(facts={"engine.methods": ("nextn", "old", "medusa")}))
    assert list(found) == ["mtp", "old", "medusa"]
    assert [(item["method.known"], item["method.in_version"]) for item in found.values()] == [
        (True, True), (True, False), (False, None),
    ]  # fmt: skip
    assert found["medusa"]["method.others"] == "small, mtp"
    before = methods(deployment(facts={"engine.methods": ("mtp", "old")}, version="b99"))
    assert [item["method.in_version"] for item in before.values()] == [False, True]


def test_pairs_in_the_words_of_the_engine():
    settled = derived(deployment(facts={"engine.methods": ("mtp", "small", "old")})).settled
    found = {item.key: (item.values["pair.works"], item.values["pair.status"]) for item in pair_items(settled)}
    assert found == {"mtp+small": (False, "dies-at-load"), "mtp+old": (None, None), "small+old": (None, None)}


def test_a_pair_that_nobody_verified_is_not_known_to_work():
    heard = engine(combinations=[{"methods": ["small", "mtp"], "status": "works", "effect": "e", "known": "heard"}])
    settled = derived(deployment(facts={"engine.methods": ("mtp", "small")}), heard).settled
    assert [item.values["pair.works"] for item in pair_items(settled)] == [None]
