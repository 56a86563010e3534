"""`specrules triage --fetch`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.evidence.gguf.server import FileServer, serving
from tests.unit.evidence.tokenizers.build import gguf_file, with_text

from .running import BARE, NOW, cli, put, refused


@pytest.fixture
def served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    monkeypatch.setenv("SPECRULES_CACHE", str(folder / "cache"))
    big = Path(gguf_file(folder / "big.gguf")).read_bytes()
    return {"/big.gguf": big, "/small.gguf": Path(gguf_file(folder / "s.gguf", **with_text(300, "<x>"))).read_bytes()}


def case(server: FileServer, drafter: str = "/small.gguf") -> Path:
    text = BARE.replace("{name: big}", f"{{name: big, file: '{server.url('/big.gguf')}'}}")
    return put("case.yaml", text.replace("class: model", f"class: model, file: '{server.url(drafter)}'"))


def test_nothing_is_fetched_unless_the_command_says_so(served: dict[str, bytes]) -> None:
    with serving(served) as server:
        problems = refused("triage", case(server), *NOW)
        assert server.asked == []
    assert [problem.split(": ", 1)[1] for problem in problems] == [
        f"{server.url(path)} is an address, and nothing is fetched unless --fetch says so (say --fetch, or name a file)"
        for path in ("/big.gguf", "/small.gguf")
    ]
    assert problems[0].startswith("case.yaml:2:")


def test_the_tokenizers_of_both_are_fetched(served: dict[str, bytes]) -> None:
    with serving(served) as server:
        ran = cli("triage", case(server), "--fetch", "--format", "json", *NOW)
        assert ran.code == 0
        facts = {fact["name"]: fact for fact in json.loads(ran.out)["facts"]}
        assert facts["tokenizers.last_differing_id"]["value"] == 300
        assert facts["target.tokenizer.size"]["provenance"]["source"] == server.url("/big.gguf")
        server.sent = 0
        assert cli("triage", case(server), "--fetch", "--format", "json", *NOW).out == ran.out
        assert server.sent == 0


def test_what_cannot_be_fetched_stands_where_the_case_names_it(served: dict[str, bytes]) -> None:
    with serving(served) as server:
        assert refused("triage", case(server, "/gone.gguf"), "--fetch", *NOW) == [
            f"{server.url('/gone.gguf')}: 404: there is no such file"
        ]
