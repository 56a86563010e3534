"""Folders of evidence in a verdict: what can be read counts, the rest is a warning; samples go before logs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from specrules.catalog.case import load_case
from specrules.catalog.catalogue import Catalog
from specrules.catalog.evidence_folder import with_folders
from specrules.errors import EvidenceError
from specrules.pipeline.evidence import gather

LOG = (
    "0.01.000.000 I slot print_timing: id  0 | task 0 |        eval time =   90000.00 ms / {tokens} tokens "
    "(   90.00 ms per token,    11.11 tokens per second)\n"
)


@pytest.fixture(scope="module")
def catalog():
    return Catalog.load()


def sample(index):
    timings = {
        "prompt_n": 9,
        "prompt_ms": 1.0,
        "predicted_n": 11,
        "predicted_ms": 1000.0,
        "predicted_per_token_ms": 100.0,
    }
    return json.dumps(
        {
            "what": "sample",
            "schema": 1,
            "arm": "incumbent",
            "engine": "llama.cpp",
            "url": "http://h",
            "endpoint": "chat",
            "prompt": f"p{index}",
            "task": "chat",
            "order": index,
            "concurrency": 1,
            "temperature": 0.0,
            "max_tokens": 11,
            "started_at": datetime(2026, 11, 29, tzinfo=UTC).isoformat(),
            "total_ms": 1100.0,
            "chunk_ms": [100.0 + 100.0 * step for step in range(11)],
            "text": "x",
            "response": {"timings": timings},
        },
        separators=(",", ":"),
    )


@pytest.fixture
def loaded(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "samples.jsonl").write_text("".join(sample(index) + "\n" for index in range(8)))
    (folder / "server.log").write_text(LOG.format(tokens=1001))
    (folder / "broken.log").write_text("nothing that anybody knows\n")
    listed = "".join(
        f"  - {{path: {name}, arm: incumbent}}\n" for name in ("server.log", "samples.jsonl", "broken.log", "lost.log")
    )
    (folder / "evidence.yaml").write_text(f"schema: 1\nevidence:\n{listed}")
    case = tmp_path / "case.yaml"
    case.write_text("schema: 1\ntarget: {name: t}\ndrafter: {name: d, class: model}\nengine: llama.cpp\n")
    return load_case(case), folder


def test_what_cannot_be_read_is_left_out_with_a_warning(catalog, loaded):
    case, folder = loaded
    gathered = gather(with_folders(case, [folder]), catalog)
    assert gathered.facts.number("incumbent.requests") == 8
    said = "\n".join(gathered.warnings)
    assert "broken.log: nothing in this file is known from llama.cpp" in said
    assert "lost.log: cannot be read" in said


def test_the_same_files_named_by_the_case_are_errors(catalog, loaded):
    case, folder = loaded
    given = with_folders(case, [folder])
    with pytest.raises(EvidenceError) as raised:
        gather(replace(given, found=frozenset()), catalog)
    assert len(raised.value.problems) == 2


def test_samples_give_the_numbers_however_long_the_log_is(catalog, loaded):
    case, folder = loaded
    gathered = gather(with_folders(case, [folder]), catalog)
    assert gathered.facts.number("incumbent.rate_tok_s") == 10.0
    assert gathered.facts.value("incumbent.rate_kind") == "client"
    assert gathered.state.disagreements == ()
    assert any("server.log: covers 1001 tokens and not the 88 of" in text for text in gathered.warnings)
    assert len(gathered.digests) == 2
