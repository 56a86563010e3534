"""`specrules fit`."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.unit.evidence.gguf.server import serving
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.gguf_file import F32, write
from tests.unit.evidence.tokenizers.build import gguf_file

from .running import cli, refused


@pytest.fixture(autouse=True)
def models(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Headers of a target, a drafter and a model that nobody described, and no engine to ask."""
    monkeypatch.setenv("SPECRULES_LLAMA_BIN", str(folder / "nowhere"))
    monkeypatch.setenv("SPECRULES_CACHE", str(folder / "cache"))
    for name, shape in (
        ("large", shapes.llama(32, 4096, 14336, 32)),
        ("small", shapes.llama(16, 2048, 8192, 32)),
        ("hybrid", shapes.qwen35(heads_layers=1)),
    ):
        write(folder / f"{name}.gguf", shape.values, shape.tensors)
    write(folder / "novel.gguf", {"general.architecture": "no|vel", "no|vel.thing": 1}, [("x", (8, 8), F32)])
    return folder


def test_a_page() -> None:
    ran = cli("fit", "large.gguf", "small.gguf", "--context", 32768, "--slots", 4, "--device", "CUDA0=16")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("# Memory: fits\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in ran.out.splitlines() if line[:1] == "|"]
    assert ["weights", "4.82 GiB", "0.92 GiB"] in rows
    assert ["target", "rows per token", "4.00 GiB", "closed form"] in rows
    assert ["drafter", "rows per token", "1.00 GiB", "closed form"] in rows
    assert ["`CPU`", "? GiB (not declared)", "0.43 to 0.56 GiB", "?", "not judged"] in rows
    assert ["most slots of 8192 tokens", "9", "7"] in rows
    assert "32768 tokens of context: 4 x 8192. 512 rows per pass." in ran.out
    assert "as much as 15726 tokens of its context, or 1.92 requests of 8192 tokens" in ran.out


def test_json() -> None:
    ran = cli("fit", "large.gguf", "--context", 8192, "--device", "CPU=8", "--format", "json")
    found = json.loads(ran.out)
    assert (ran.code, found["schema"], found["state"]) == (0, 1, "fits")
    assert found["target"]["weights"] == 5172420608
    assert found["headroom"] == 512 << 20
    assert found["drafter"] is None
    assert found["taken"] is None


def test_what_does_not_fit_is_judged_all_the_same() -> None:
    ran = cli("fit", "large.gguf", "--context", 8192, "--device", "CPU=4")
    assert ran.code == 0
    assert ran.out.startswith("# Memory: does not fit\n\n- CPU: 5.87 GiB to 6.11 GiB are needed of 4.00 GiB free, and")


def test_what_stays_open_leaves_with_2() -> None:
    ran = cli("fit", "novel.gguf", "--context", 8192, "--device", "CPU=64")
    assert ran.code == 2
    assert ran.out.startswith("# Memory: unknown\n")
    assert r"nobody has described what 'no\|vel' models keep in memory" in ran.out


def test_own_heads_and_their_snapshots() -> None:
    ran = cli(
        "fit", "hybrid.gguf", "--own-heads", "--draft-length", 7, "--context", 32768, "--slots", 4, "--device", "CPU=24"
    )
    assert ran.code == 0
    assert "snapshots of the target's states" in ran.out
    assert "closed form, 7 more of each state" in ran.out
    assert "7 tokens drafted per round (`mtp-head`): stated." in ran.out


def test_every_option_reaches_the_fit() -> None:
    ran = cli(
        "fit", "large.gguf", "small.gguf", "--context", 8192, "--unified", "--slots", 2, "--batch", 256,
        "--cache-type-k", "q8_0", "--cache-type-v", "q4_0", "--draft-cache-type-k", "q5_0",
        "--draft-cache-type-v", "q5_1",
        "--swa-full", "--no-flash-attention", "--headroom", 1.5, "--draft-length", 5, "--class", "model",
        "--device", "CUDA0=12/16", "--device", "CUDA1=3", "--target-device", "CUDA0", "--drafter-device", "CUDA1",
        "--format", "json",
    )  # fmt: skip
    found = json.loads(ran.out)
    assert found["settings"] == {
        "context": 8192,
        "slots": 2,
        "tokens_per_slot": 8192,
        "unified": True,
        "batch": 256,
        "cache_types": ["q8_0", "q4_0", "q5_0", "q5_1"],
        "full_window": True,
        "flash_attention": False,
        "draft_length": 5,
        "draft_length_source": "stated",
    }
    assert found["headroom"] == 3 << 29
    assert found["target"]["devices"] == ["CUDA0"]
    assert found["drafter"]["devices"] == ["CUDA1"]
    assert found["devices"][0]["total"] == 16 << 30


def test_devices_that_the_engine_listed(folder: Path) -> None:
    listing = "Available devices:\n  CUDA0: RTX 4090 (24077 MiB, 23500 MiB free)\n"
    (folder / "devices.txt").write_text(listing, encoding="utf-8")
    ran = cli("fit", "large.gguf", "--context", 8192, "--list-devices", "devices.txt", "--device", "CPU=8")
    assert ran.code == 0
    assert "| `CUDA0` | 22.95 GiB (devices.txt:2)" in ran.out.replace("  ", " ")
    own = cli("fit", "large.gguf", "--context", 8192, "--list-devices", "devices.txt", "--device", "CUDA0=2")
    assert own.out.startswith("# Memory: does not fit")


def test_this_machine_is_asked_where_no_device_is_named() -> None:
    ran = cli("fit", "small.gguf", "--context", 512, "--format", "json")
    found = json.loads(ran.out)
    assert ran.code in {0, 2}
    assert all(device["source"] != "declared" for device in found["devices"])


def test_an_engine_is_asked_unless_told_not_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "bin" / "llama-fit-params"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "Host 6000 1024 9 "\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("SPECRULES_LLAMA_BIN", str(program.parent))
    asked = cli("fit", "large.gguf", "--context", 8192, "--device", "CPU=8")
    assert "## The engine itself" in asked.out
    assert "differ by more than 2% on the target: weights 6000 and 4932 MiB" in asked.out
    quiet = cli("fit", "large.gguf", "--context", 8192, "--device", "CPU=8", "--no-engine")
    assert "The engine" not in quiet.out


def test_output_into_a_file() -> None:
    ran = cli("fit", "large.gguf", "--context", 8192, "--device", "CPU=8", "-o", "fit.md")
    assert (ran.code, ran.out) == (0, "")
    assert Path("fit.md").read_text(encoding="utf-8").startswith("# Memory: fits")


def test_the_headroom_of_the_policy_counts(folder: Path) -> None:
    (folder / "ours").mkdir()
    text = "schema: 1\nextends: default\nthresholds: {headroom_gib: 3}\n"
    (folder / "ours" / "policy.yaml").write_text(text, encoding="utf-8")
    ran = cli("fit", "large.gguf", "--context", 8192, "--device", "CPU=8", "--rules", "ours")
    assert ran.out.startswith("# Memory: no headroom")


def test_a_users_description_of_an_architecture(folder: Path) -> None:
    (folder / "ours").mkdir()
    text = "schema: 1\nextends: memory\narchitectures:\n  - {names: [llama], cached: false, known: source-b11434}\n"
    (folder / "ours" / "memory.yaml").write_text(text, encoding="utf-8")
    ran = cli("fit", "large.gguf", "--context", 8192, "--device", "CPU=8", "--rules", "ours", "--format", "json")
    assert json.loads(ran.out)["target"]["cache"] == {"low": 0, "high": 0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gone.gguf",), "gone.gguf: cannot be read: No such file or directory"),
        (("large.gguf", "--device", "CUDA0"), "device 'CUDA0': not of the form NAME=GiB"),
        (("large.gguf", "--own-heads"), "large.gguf has no prediction layers (name a drafter)"),
        (("large.gguf", "--class", "model"), "a drafter of class 'model' takes memory, and none is named"),
        (("large.gguf", "small.gguf", "--class", "ngram"), "a drafter of class 'ngram' has no file"),
        (("large.gguf", "--class", "modle"), "no drafter class 'modle'"),
        (("large.gguf", "--drafter-device", "CPU"), "--drafter-device puts a drafter somewhere, and none is named"),
        (("large.gguf", "--target-device", "CUDA9"), "no device 'CUDA9'; known are CPU"),
        (("large.gguf", "--cache-type-k", "q8"), "no cache type 'q8'"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], message: str) -> None:
    devices = () if "--device" in arguments else ("--device", "CPU=8")
    assert any(message in line for line in refused("fit", *arguments, "--context", 8192, *devices))


def test_the_problems_of_both_files_are_shown_at_once(folder: Path) -> None:
    (folder / "empty.gguf").write_bytes(b"")
    problems = refused("fit", "gone.gguf", "empty.gguf", "--context", 8192, "--device", "CPU=8")
    assert [line.split(":")[0] for line in problems] == ["gone.gguf", "empty.gguf"]


def test_a_context_is_asked_for() -> None:
    assert any("Missing option '--context'" in line for line in refused("fit", "large.gguf"))


def test_the_files_are_headers_only() -> None:
    assert os.stat("large.gguf").st_blocks * 512 < 1 << 20


def test_headers_from_a_server(folder: Path) -> None:
    with serving({"/small.gguf": (folder / "small.gguf").read_bytes()[: 1 << 20]}) as server:
        ran = cli("fit", server.url("/small.gguf"), "--context", 8192, "--device", "CPU=8", "--format", "json")
        gone = refused("fit", server.url("/gone.gguf"), "--context", 8192, "--device", "CPU=8")
    here = cli("fit", "small.gguf", "--context", 8192, "--device", "CPU=8", "--format", "json")
    there, said = json.loads(here.out), json.loads(ran.out)
    for name in ("weights", "cache", "states"):
        assert said["target"][name] == there["target"][name]
    # What is behind the header was never asked for: the server alone says how large its file is.
    assert [note for note in said["notes"] if "is the download complete?" in note]
    assert gone == [f"{server.url('/gone.gguf')}: 404: there is no such file"]
    assert list((folder / "cache" / "gguf").iterdir())


def test_a_file_that_the_engine_does_not_load_here(folder: Path) -> None:
    gguf_file(folder / "other.gguf", big=sys.byteorder == "little", d2t=8)
    ran = cli("fit", "large.gguf", "other.gguf", "--context", 8192, "--device", "CPU=64")
    assert r"endian and this machine is not: llama.cpp refuses it here" in ran.out
