from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import LoadError

ROOT = Path(__file__).parents[3]
SHIPPED = (ROOT / "rules" / "memory.yaml").read_text(encoding="utf-8")


def loaded(folder: Path, *changes: tuple[str, str]) -> list[str]:
    """The problems of the shipped file with changes to its text, without the path in front."""
    text = SHIPPED.replace("id: memory\n", "id: memory\noverrides: true\n", 1)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "memory.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(LoadError) as caught:
        _ = Catalog.load(rules=[folder]).memory
    return [problem.render().split("memory.yaml:", 1)[1].splitlines()[0] for problem in caught.value.problems]


def test_the_shipped_file_holds() -> None:
    memory = Catalog.load().memory
    assert memory.engine == "llama.cpp"
    assert memory.architecture("llama") is not None
    assert memory.architecture("novel") is None
    assert {item.device for item in memory.estimates if item.id == "compute"} == {"host", "accelerator"}


def test_an_architecture_that_is_described_twice(tmp_path: Path) -> None:
    (problem,) = loaded(tmp_path, ("  - names: [phi3]", "  - names: [phi3, llama]"))
    assert problem.endswith("the architecture 'llama' is described twice")


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    problems = loaded(
        tmp_path,
        ("draft_length_known: source-b11434", "draft_length_known: sourse-b11434"),
        ("    known: ollama-12305", "    known: nobody"),
    )
    assert problems[0].endswith("no source 'sourse-b11434' in this file (did you mean 'source-b11434'?)")
    assert "no source 'nobody' in this file" in problems[1]


def test_an_expression_that_does_not_hold(tmp_path: Path) -> None:
    problems = loaded(
        tmp_path,
        ("  - embedding_length * expert_used_count", "  - embedding_length * expert_used"),
        ("width: attention.key_length, state: 32 *", "width: attention.key_lenght, state: 32 *"),
        ("elements: embedding_length * (shortconv.l_cache - 1)", "elements: embedding_length > 1"),
    )
    assert len(problems) == 3
    assert "expert_used" in problems[0]
    assert "attention.key_lenght" in problems[1]
    assert "a number" in problems[2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{layers: all, elements:", "{layers: all, interval: 2, elements:", "an interval belongs to layers: interval"),
        ("layers: interval\n      interval: 4", "layers: interval", "an interval belongs to layers: interval"),
        ("    low: 1\n    high: 5", "    low: 6\n    high: 5", "the interval 6 to 5 runs backwards"),
        ("  - names: [phi3]", "  - names: []", "must have at least 1 entries"),
        ("window: {size: 4096, period: 2}", "window: {sise: 4096, period: 2}", "sise"),
    ],
)
def test_what_the_model_refuses(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert any(message in problem for problem in loaded(tmp_path, (old, new)))
