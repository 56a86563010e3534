from __future__ import annotations

import pytest

from specrules.derive.deployed.settings import parts_stating, setting_places, setting_values

from .building import GAP, deployment, engine, setting

TOY = engine()


def values(*settings, **fields):
    return setting_values(TOY, deployment(*settings, **fields))


def test_what_is_not_set_has_its_default_and_is_not_given():
    found = values()
    assert (found["given.spec"], found["flag.spec"]) == (False, ("none",))
    assert (found["flag.length"], found["flag.metrics"], found["flag.quick"]) == (3.0, False, True)
    assert (found["flag.device"], found["flag.rates"]) == ((), ())
    assert found["flag.draft"] is None


def test_what_is_set():
    found = values(setting("-d", "small.gguf"), setting("--length", "5"), setting("--metrics"), setting("KEY", "2k"))
    assert (found["given.draft"], found["flag.draft"]) == (True, "small.gguf")
    assert (found["flag.length"], found["flag.metrics"], found["flag.key"]) == (5.0, True, 2000.0)


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("-1", -1), ("2.5", 2.5), ("1e3", 1000), ("4K", 4096), ("1m", 10**6), (" 8 ", 8), ("many", None),
     ("", None), ("9" * 50, None), ("1e400", None), ("nan", None), ("7 8", None)],
)  # fmt: skip
def test_numbers(text, number):
    assert values(setting("--length", text))["flag.length"] == number


@pytest.mark.parametrize(
    ("written", "value", "on"),
    [("--metrics", None, True), ("--no-metrics", None, False), ("METRICS", "1", True), ("METRICS", "off", False),
     ("METRICS", "yes", True), ("METRICS", "perhaps", False), ("--quick", "false", False), ("--quick", "TRUE", True)],
)  # fmt: skip
def test_switches(written, value, on):
    found = values(setting(written, value))
    assert found["flag.quick" if written == "--quick" else "flag.metrics"] is on


def test_words_that_switch_on_are_the_engines_own():
    strict = engine(true_words=["1"])
    assert setting_values(strict, deployment(setting("METRICS", "yes")))["flag.metrics"] is False


def test_a_list_adds_up_and_another_counts_once():
    twice = (setting("SPEC", "small", effective=False), setting("--spec", "mtp"))
    assert values(*twice)["flag.spec"] == ("small", "mtp")
    devices = (setting("--device", "A", effective=False), setting("--device", "B,C"))
    assert values(*devices)["flag.device"] == ("B", "C")
    assert values(setting("--rates", "[0.5, 0.25]"))["flag.rates"] == (0.5, 0.25)
    assert values(setting("--rates", "0.5,x"))["flag.rates"] is None


def test_what_nobody_rendered_is_given_and_unknown():
    found = values(setting("--length", None, rendered=False), setting("--spec", None, rendered=False))
    assert (found["given.length"], found["flag.length"], found["flag.spec"]) == (True, None, None)


def test_behind_a_gap_nothing_is_known_to_be_absent():
    found = values(setting("--length", "5"), gaps=GAP)
    assert (found["given.length"], found["flag.length"]) == (True, 5.0)
    assert (found["given.spec"], found["flag.spec"]) == (None, None)
    assert found["given.key"] is False, "a variable cannot come by the command line"


def test_a_setting_stands_where_the_one_that_counts_was_written():
    made = deployment(setting("--length", "1", line=2, effective=False), setting("--length", "2", line=4))
    assert {name: found.line for name, found in setting_places(TOY, made).items()} == {
        "given.length": 4,
        "flag.length": 4,
    }


def test_what_variables_from_elsewhere_leave_open():
    assert parts_stating(TOY, "engine.methods") == ("command", "config", "environment")
    assert parts_stating(TOY, "drafter.name") == ("command", "config")
    assert parts_stating(TOY, "target.name") == ("command", "config", "environment")
    says = {"fact": "deployment.speculates", "known": "read"}
    by_flag = engine(deployed=[{**says, "value": "given.draft or flag.length > 0"}])
    assert parts_stating(by_flag, "deployment.speculates") == ("command", "config")
    by_variable = engine(deployed=[{**says, "value": True, "when": "flag.metrics and not given.draft"}])
    assert parts_stating(by_variable, "deployment.speculates") == ("command", "config", "environment")
