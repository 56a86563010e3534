from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from specrules.catalog.catalogue import Catalog
from specrules.catalog.schemas import json_schema
from specrules.errors import UsageError
from specrules.model.fit import Fit, FitAnswer, FitDevice, FitModel, FitPart, FitSettings, FitTaken, Span
from specrules.report.fitting import gib, render_fit, span

LAYERS = Catalog.load().template_folders
HOSTILE = "evil|`*_<b>\n# heading](x).gguf"


def made(**changes: object) -> Fit:
    settings = FitSettings(
        context=8192,
        slots=2,
        tokens_per_slot=4096,
        unified=False,
        batch=512,
        cache_types=("f16", "f16", "f16", "f16"),
        full_window=False,
        flash_attention=True,
        draft_length=3,
        draft_length_source="stated",
    )
    part = FitPart(owner="target", kind="weights", size=Span(low=1 << 30, high=1 << 30), how="closed form")
    device = FitDevice(
        name="CUDA0",
        kind="accelerator",
        free=24 << 30,
        source="declared",
        parts=(part,),
        needed=Span(low=1 << 30, high=None),
        left_high=23 << 30,
        state="unknown",
    )
    model = FitModel(
        name=HOSTILE,
        architecture="llama",
        devices=("CUDA0",),
        weights=1 << 30,
        cache=Span(low=0),
        states=None,
        bytes_per_token=None,
    )
    base: dict[str, object] = {
        "state": "unknown",
        "settings": settings,
        "headroom": 1 << 29,
        "devices": (device,),
        "target": model,
        "drafter": None,
        "drafts_as": None,
        "taken": None,
        "tool_version": "0",
    }
    return Fit(**base | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0.00 GiB"),
        (1 << 30, "1.00 GiB"),
        (1 << 26, "0.062 GiB"),
        (1 << 20, "0.001 GiB"),
        (-(3 << 29), "-1.50 GiB"),
        (None, "? GiB"),
    ],
)
def test_bytes_as_gib(size: float | None, text: str) -> None:
    assert gib(size) == text


def test_an_interval_whose_ends_look_alike_is_one_number() -> None:
    assert span(Span(low=1 << 30, high=(1 << 30) + 1)) == "1.00 GiB"
    assert span(Span(low=1 << 30, high=3 << 29)) == "1.00 to 1.50 GiB"
    assert span(Span(low=1 << 30)) == "1.00 to ? GiB"


def test_json_fits_the_published_schema() -> None:
    answer = FitAnswer(model="target", program="p", build="b", not_asked="no")
    taken = FitTaken(
        size=Span(low=1),
        tokens=None,
        requests=None,
        context_without=None,
        context_with=None,
        slots_without=None,
        slots_with=None,
        trained_context=None,
    )
    fit = made(engine=(answer,), taken=taken)
    document = json.loads(render_fit(fit, "json", LAYERS))
    Draft202012Validator(json_schema("fit")).validate(document)
    assert document["schema"] == 1
    assert Fit.model_validate_json(json.dumps(document)) == fit


def test_nothing_that_is_unknown_reads_as_nothing() -> None:
    text = render_fit(made(), "md", LAYERS)
    assert "| `CUDA0` | 24.00 GiB (declared) | 1.00 to ? GiB | ? GiB to 23.00 GiB | **unknown** |" in squeezed(text)
    assert "| recurrent states | ? GiB | |" in squeezed(text)
    assert "| one more token | ? bytes | |" in squeezed(text)


def test_a_file_name_formats_nothing() -> None:
    text = render_fit(made(), "md", LAYERS)
    (row,) = [line for line in text.splitlines() if line.startswith("| file")]
    assert r"evil\|" in row
    assert "\n# heading" not in text


def test_an_engine_that_gave_no_sizes_says_why() -> None:
    answer = FitAnswer(model="drafter", program="/x/llama-fit-params", build="b1", not_asked="it ended with 3")
    assert "| drafter | it ended with 3 |" in squeezed(render_fit(made(engine=(answer,)), "md", LAYERS))


def test_a_format_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="use one of md, json"):
        render_fit(made(), "html", LAYERS)


def squeezed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.splitlines())
