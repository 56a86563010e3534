from __future__ import annotations

from pathlib import Path

from specrules.catalog.catalogue import Catalog
from specrules.catalog.launch_sections import launch_sections


def test_sections_read_alone_are_those_of_the_engines(tmp_path: Path) -> None:
    catalog = Catalog.load(cwd=tmp_path, environ={})
    whole = {name: catalog.engine(name).model.launch for name in catalog.engine_ids}
    assert launch_sections(catalog) == {name: section for name, section in whole.items() if section is not None}
    assert len(whole) == len(launch_sections(catalog)) > 10


def test_an_engine_of_a_layer_is_read_like_any_other(tmp_path: Path) -> None:
    engine = """\
schema: 1
extends: vllm
launch: {images: [{name: ours/vllm}]}
"""
    (tmp_path / "vllm.yaml").write_text(engine, encoding="utf-8")
    catalog = Catalog.load(engines=[tmp_path], cwd=tmp_path, environ={})
    assert [image.name for image in launch_sections(catalog)["vllm"].images] == ["ours/vllm"]
    assert launch_sections(catalog)["llama.cpp"] == catalog.engine("llama.cpp").model.launch
