"""`specrules tokenizer`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.unit.evidence.gguf.server import serving
from tests.unit.evidence.tokenizers.build import gguf_file

from .running import cli, refused

WORDS = {"<s>": 0, **{f"word{number}": number for number in range(1, 40)}}
LAST = {**WORDS, "a |`*b*\n": 39}
del LAST["word39"]


@pytest.fixture
def pair(folder: Path) -> Path:
    """Three models: `same` has the tokenizer of `large`, `small` another last token."""
    for name, words in (("large", WORDS), ("small", LAST), ("same", WORDS)):
        (folder / name).mkdir()
        (folder / name / "vocab.json").write_text(json.dumps(words), encoding="utf-8")
        (folder / name / "config.json").write_text('{"vocab_size": 40}', encoding="utf-8")
    return folder


def test_a_page(pair: Path) -> None:
    ran = cli("tokenizer", "large", "small", "--engine", "vllm")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[:3] == ["# Tokenizers: partial", "", "1 of 40 common ids have another text: 97.5 % are the same."]
    assert "| ids | 40 | 40 |" in lines
    assert "| model | gpt2 | gpt2 |" in lines
    # What a token says formats nothing, and its spaces and controls are seen.
    assert r"- The first id that differs is 39: `word39` and a␣\|\`\*b\*\\u000a (normal, normal)." in lines
    (answer,) = [line for line in lines if line.startswith("| vLLM")]
    assert answer == (
        "| vLLM 0.33.0 | `draft_model` | accepted though wrong "
        "| token texts differ at the same size, which nothing compares |"
    )


def test_the_seed_s_hash_is_printed_and_decides_nothing(pair: Path) -> None:
    ran = cli("tokenizer", "large", "same", "--format", "json")
    found = json.loads(ran.out)
    assert found["kind"] == "identical"
    assert found["target"]["seed_hash"] == found["drafter"]["seed_hash"]
    assert len(found["target"]["seed_hash"]) == 16
    assert found["target"]["merges"] is None
    assert {"model", "pre", "ids", "rows", "types"} <= set(found["target"])


def test_json(pair: Path) -> None:
    ran = cli("tokenizer", "large/vocab.json", "small", "--format", "json", "--engine", "sglang")
    found = json.loads(ran.out)
    assert (ran.code, found["schema"], found["kind"], found["last_differing_id"]) == (0, 1, "partial", 39)
    assert found["first_difference"] == {
        "id": 39,
        "target": "word39",
        "drafter": "a |`*b*\n",
        "target_type": "normal",
        "drafter_type": "normal",
    }
    (answer,) = found["engines"]
    assert (answer["engine"], answer["answer"], answer["check"], answer["drafts"]) == (
        "sglang",
        "dies-at-load",
        "ids",
        False,
    )


def test_a_page_for_every_engine_in_a_file(pair: Path) -> None:
    ran = cli("tokenizer", "large", "same", "-o", "pair.md")
    assert (ran.code, ran.out) == (0, "")
    page = (pair / "pair.md").read_text(encoding="utf-8")
    assert page.startswith("# Tokenizers: identical\n")
    assert "| SGLang 0.5.23 | `STANDALONE` | accepted | passes size, ids |" in page


def test_a_version_of_an_engine(pair: Path) -> None:
    ran = cli("tokenizer", "large", "small", "--engine", "sglang", "--engine-version", "0.5.14")
    assert "| SGLang 0.5.14 | `STANDALONE` | accepted though wrong |" in ran.out


def test_a_head(pair: Path) -> None:
    (pair / "head").mkdir()
    (pair / "head" / "config.json").write_text('{"vocab_size": 40, "draft_vocab_size": 8}')
    ran = cli("tokenizer", "large", "head", "--engine", "vllm")
    assert ran.out.startswith("# Tokenizers: no_tokenizer\n\nThe drafter has no tokenizer, as heads have none")
    assert "drafts from 8 rows; without the table d2t engines take them for the first ids" in ran.out
    assert "A head takes the target's tokenizer, and engines compare none for its methods." in ran.out


def test_what_cannot_be_judged_leaves_with_2(pair: Path) -> None:
    assert refused("tokenizer", "large", "nowhere") == ["nowhere: there is no such file"]
    assert refused("tokenizer", "large", "small/config.json/x")
    (problem,) = refused("tokenizer", "large", "same", "--engine", "vlm")
    assert problem.startswith("no engine 'vlm'")
    (pair / "broken.gguf").write_bytes(b"GGUF\x03\0\0\0")
    (problem,) = refused("tokenizer", "large", "broken.gguf")
    assert problem.startswith("broken.gguf: byte 0: the fixed part of the header")


def test_the_problems_of_both_files_are_shown_at_once(pair: Path) -> None:
    assert refused("tokenizer", "nowhere", "gone") == [
        "nowhere: there is no such file",
        "gone: there is no such file",
    ]


def test_headers_from_a_server_are_kept(pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECRULES_CACHE", str(pair / "cache"))
    path = Path(gguf_file(pair / "a.gguf"))
    with serving({"/a.gguf": path.read_bytes()}) as server:
        first = cli("tokenizer", "a.gguf", server.url("/a.gguf?token=secret"), "--engine", "llama.cpp")
        sent, server.sent = server.sent, 0
        again = cli("tokenizer", "a.gguf", server.url("/a.gguf?token=secret"), "--engine", "llama.cpp")
    assert (first.code, first.err, first.out) == (0, "", again.out)
    assert first.out.startswith("# Tokenizers: identical")
    assert f"`{server.url('/a.gguf')}`" in first.out
    assert "secret" not in first.out
    assert sent > 0
    assert server.sent == 0


def test_a_file_in_the_byte_order_of_other_machines_is_compared_and_refused(pair: Path) -> None:
    gguf_file(pair / "own.gguf")
    gguf_file(pair / "other.gguf", big=sys.byteorder == "little")
    ran = cli("tokenizer", "own.gguf", "other.gguf", "--engine", "llama.cpp", "--format", "json")
    found = json.loads(ran.out)
    (answer,) = found["engines"]
    assert (ran.code, found["kind"], answer["answer"], answer["drafts"]) == (0, "identical", "dies-at-load", False)
    assert answer["reason"].startswith("drafter: the file is ")
    assert answer["reason"].endswith("-endian and this machine is not: llama.cpp refuses it here")
