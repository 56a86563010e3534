from __future__ import annotations

import pytest

from specrules.derive.settings import filled, settings, words

from .build import case, engine, given


def test_placeholders_are_filled_in_and_unknown_ones_stay() -> None:
    assert filled("-md {drafter} --url {url} {1}", {"drafter": "d.gguf"}) == "-md d.gguf --url {url} {1}"


def test_words_are_quoted_for_a_shell() -> None:
    one = case(target={"name": "a model"}, drafter={"name": "$(rm -r x)", "device": "RTX 3090"})
    assert words(given(one), 7) == {
        "target": "'a model'",
        "drafter": "'$(rm -r x)'",
        "method": "draft-simple",
        "draft_length": "7",
        "verify_rows": "8",
        "drafter_device": "'RTX 3090'",
    }
    assert "draft_length" not in words(given(one), None)


def test_on_and_off_of_a_block_drafter() -> None:
    one = case(drafter={"name": "z-lab/Qwen3.8-27B-DFlash2", "class": "block"}, engine={"methods": ["draft-dflash"]})
    found = settings(given(one), 7)
    assert found is not None
    assert found.draft_length == 7
    assert found.switch_on == (
        "--spec-type draft-dflash",
        "-md z-lab/Qwen3.8-27B-DFlash2",
        "--spec-draft-n-max 7",
    )
    assert found.switch_off == ("--spec-type none",)


@pytest.mark.parametrize(
    ("target", "drafter", "routed"), [("CUDA0", "CUDA1", True), ("CUDA0", "CUDA0", False), ("CUDA0", None, False)]
)
def test_a_device_of_its_own_is_routed(target: str, drafter: str | None, routed: bool) -> None:
    found = settings(given(case(target={"device": target}, drafter={"device": drafter})), 3)
    assert found is not None
    assert ("--spec-draft-device CUDA1" in found.switch_on) is routed


def test_a_method_that_stays_with_its_target_gets_no_device() -> None:
    methods = [{**method.model_dump(), "draft_device": "same-device"} for method in engine().methods]
    one = case(target={"device": "CUDA0"}, drafter={"device": "CUDA1"})
    found = settings(given(one, on=engine(methods=methods)), 3)
    assert found is not None
    assert "--spec-draft-device CUDA1" not in found.switch_on


def test_without_a_method_there_are_none() -> None:
    assert settings(given(case(drafter={"class": "block"})), 7) is None
