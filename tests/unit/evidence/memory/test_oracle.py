from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from specrules.evidence.devices import declared
from specrules.evidence.gguf import Header, HeaderCache, read_header, read_model
from specrules.evidence.gguf.cache import Entry
from specrules.evidence.memory.compare import compared, disagrees
from specrules.evidence.memory.fit import fit
from specrules.evidence.memory.heads import HeadKeeper, head_of
from specrules.evidence.memory.oracle import PROGRAM, VARIABLE, Oracle, ask, find_program
from specrules.evidence.memory.request import Request
from specrules.evidence.memory.size import model_size
from specrules.evidence.memory.sparse import sparse_copy
from specrules.model.fit import FitAnswer
from specrules.pipeline.fitting import Machine, fit_files
from tests.unit.evidence.gguf.server import serving
from tests.unit.evidence.memory import shapes
from tests.unit.evidence.memory.gguf_file import F32, header_bytes, size_of, write
from tests.unit.evidence.memory.support import MIB, header, of_shape, rules

ENGINE = find_program()
needs_engine = [
    pytest.mark.llama,
    pytest.mark.skipif(ENGINE is None, reason=f"{PROGRAM} is neither on PATH nor in {VARIABLE}"),
]
SHAPE = shapes.llama(32, 4096, 14336, 32)
REQUEST = Request(8192)


def script(folder: Path, body: str) -> Oracle:
    """A program that stands for the engine's."""
    path = folder / PROGRAM
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Oracle(path)


def engine() -> Oracle:
    assert ENGINE is not None
    return Oracle(ENGINE)


@pytest.mark.parametrize(
    ("shape", "context", "slots", "expected"),
    [
        pytest.param(SHAPE, 8192, 1, (4932, 1024), marks=needs_engine),
        pytest.param(shapes.llama(80, 8192, 28672, 64), 8192, 1, (42895, 2560), marks=needs_engine),
        pytest.param(shapes.gemma3(), 32768, 4, (16769, 5056), marks=needs_engine),
        pytest.param(shapes.qwen35(), 32768, 4, (15532, 2646), marks=needs_engine),
        pytest.param(shapes.deepseek_v2_lite(), 32768, 1, (10866, 972), marks=needs_engine),
    ],
    ids=["llama-8b", "llama-70b", "gemma3", "qwen35", "deepseek"],
)
def test_the_engine_agrees_on_a_sparse_header(
    shape: shapes.Shape, context: int, slots: int, expected: tuple[int, int], *, tmp_path: Path
) -> None:
    found, request = of_shape(shape, tmp_path), Request(context, slots)
    answer = compared(
        ask(found, "target", request, engine(), context=context), model_size(found, rules()), request, rules()
    )
    assert answer.not_asked == ""
    assert (answer.weights_mib, answer.context_mib) == expected
    assert (answer.closed_weights_mib, answer.closed_context_mib) == expected
    assert answer.disagreement == 0


@pytest.mark.parametrize("which", [pytest.param("target", marks=needs_engine)])
def test_the_engine_takes_every_setting(which: str, tmp_path: Path) -> None:
    found = of_shape(shapes.gemma3(), tmp_path)
    request = Request(
        16384, 2, batch=1024, cache_types=("q8_0", "q8_0"), full_window=True, draft_cache_types=("q4_0", "f16")
    )
    for model in ("target", "drafter"):
        size = model_size(found, rules())
        answer = compared(ask(found, model, request, engine(), context=16384), size, request, rules())  # type: ignore[arg-type]
        assert answer.not_asked == ""
        assert answer.disagreement == 0
    off = Request(16384, flash_attention=False)
    assert ask(found, "target", off, engine(), context=16384).not_asked == ""
    assert which == "target"


@pytest.mark.llama
@pytest.mark.skipif(ENGINE is None, reason=f"{PROGRAM} is neither on PATH nor in {VARIABLE}")
def test_a_file_that_the_engine_refuses_gives_its_reason(tmp_path: Path) -> None:
    found = of_shape(shapes.eagle3(own_ends=False), tmp_path)
    answer = ask(found, "drafter", REQUEST, engine(), context=8192)
    assert answer.weights_mib is None
    assert answer.not_asked.startswith("the program gave no sizes: ")


def test_a_sparse_copy_has_the_header_and_the_size_of_the_real_file(tmp_path: Path) -> None:
    found = of_shape(SHAPE, tmp_path)
    (tmp_path / "copy").mkdir()
    copy = sparse_copy(found, tmp_path / "copy", {})
    assert copy.stat().st_size == Path(found.name).stat().st_size
    assert copy.stat().st_blocks * 512 < MIB
    with copy.open("rb") as file:
        assert file.read(found.header_bytes) == header_bytes(SHAPE.values, SHAPE.tensors)[: found.header_bytes]
    again = read_header(copy)
    assert again.tensors == found.tensors


def test_every_file_of_a_split_model_is_copied(tmp_path: Path) -> None:
    tensors = [("token_embd.weight", (64, 8), F32), ("blk.0.ffn_up.weight", (64, 64), F32)]
    for number, tensor in enumerate(tensors, start=1):
        values = {"split.no": number - 1, "split.count": 2, "split.tensors.count": 2}
        if number == 1:
            values = {"general.architecture": "llama"} | values  # type: ignore[dict-item]
        write(tmp_path / f"m-{number:05d}-of-00002.gguf", values, [tensor])
    found = read_model(tmp_path / "m-00002-of-00002.gguf")
    (tmp_path / "copy").mkdir()
    first = sparse_copy(found, tmp_path / "copy", {})
    assert first.name == "model-00001-of-00002.gguf"
    assert read_model(first).tensors == found.tensors


def test_a_header_from_the_network_is_made_of_the_bytes_that_were_kept(tmp_path: Path) -> None:
    data = header_bytes(SHAPE.values, SHAPE.tensors)
    remote = _remote(of_shape(SHAPE), "https://example.org/m.gguf")
    copy = sparse_copy(remote, tmp_path, {"https://example.org/m.gguf": data})
    assert copy.name == "model.gguf"
    assert read_header(copy).tensors == remote.tensors
    expected = sum(-(-size_of(tensor) // 32) * 32 for tensor in SHAPE.tensors)
    assert copy.stat().st_size == remote.data_offset + expected


def test_a_header_whose_bytes_were_not_kept_is_not_asked_about(tmp_path: Path) -> None:
    remote = _remote(of_shape(SHAPE), "https://example.org/m.gguf")
    for heads in ({}, {remote.name: b"GGUF"}):
        answer = ask(remote, "target", REQUEST, Oracle(script(tmp_path, "exit 0").program, heads), context=8192)
        assert "no entity tag" in answer.not_asked


def test_the_keeper_passes_everything_on_and_remembers_it(tmp_path: Path) -> None:
    inner = HeaderCache(tmp_path)
    keeper = HeadKeeper(inner)
    entry = Entry('"a"', 10, b"GGUF....")
    keeper.store("https://example.org/m.gguf", entry)
    assert inner.load("https://example.org/m.gguf") == entry
    later = HeadKeeper(inner)
    assert later.load("https://example.org/m.gguf") == entry
    assert later.heads == keeper.heads == {"https://example.org/m.gguf": b"GGUF...."}
    assert later.load("https://example.org/other.gguf") is None


def test_only_as_many_bytes_as_the_header_has_are_used() -> None:
    found = of_shape(SHAPE)
    data = header_bytes(SHAPE.values, SHAPE.tensors) + b"weights"
    assert head_of(found, {found.name: data}) == data[: found.header_bytes]
    assert head_of(found, {found.name: data[: found.header_bytes - 1]}) is None


def test_sizes_of_all_devices_are_added_up(tmp_path: Path) -> None:
    oracle = script(tmp_path, 'echo "CUDA0 100 20 3 "; echo "Host 5 0 1 "')
    answer = ask(of_shape(SHAPE, tmp_path), "target", REQUEST, oracle, context=8192)
    assert (answer.weights_mib, answer.context_mib, answer.compute_mib) == (105, 20, 4)


def test_the_engine_is_asked_without_devices_repacking_or_a_shell(tmp_path: Path) -> None:
    oracle = script(tmp_path, f'printf "%s\\n" "$@" >>{tmp_path}/said; echo "Host 1 1 1 "')
    ask(of_shape(SHAPE, tmp_path), "target", Request(8192, 2), oracle, context=8192)
    said = (tmp_path / "said").read_text().splitlines()
    text = " ".join(said)
    assert "-c 8192 -np 2 -ub 512 -b 2048 -ctk f16 -ctv f16 -dev none --no-repack --fit-print on" in text
    assert said[0] == "--version"


def test_the_build_is_named(tmp_path: Path) -> None:
    oracle = script(tmp_path, 'echo "version: 1.2 (build 9)" >&2; echo "Host 1 1 1 "')
    assert ask(of_shape(SHAPE, tmp_path), "target", REQUEST, oracle, context=8192).build == "1.2 (build 9)"
    silent = script(tmp_path, 'echo "Host 1 1 1 "')
    assert ask(of_shape(SHAPE, tmp_path), "target", REQUEST, silent, context=8192).build == "unknown"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('echo "0.1 E load: bad file" >&2; exit 1', "the program gave no sizes: load: bad file"),
        ("exit 3", "the program gave no sizes: it ended with 3"),
        ("echo nothing of use", "the program gave no sizes: it ended with 0"),
        ('echo "Host 1 1 1 "; exit 1', "the program gave no sizes: it ended with 1"),
    ],
)
def test_a_program_that_gives_no_sizes(body: str, reason: str, tmp_path: Path) -> None:
    answer = ask(of_shape(SHAPE, tmp_path), "target", REQUEST, script(tmp_path, body), context=8192)
    assert answer.not_asked == reason


def test_a_program_that_does_not_run(tmp_path: Path) -> None:
    (tmp_path / PROGRAM).write_bytes(b"\x7fELF nothing")
    (tmp_path / PROGRAM).chmod(0o755)
    answer = ask(of_shape(SHAPE, tmp_path), "target", REQUEST, Oracle(tmp_path / PROGRAM), context=8192)
    assert answer.not_asked.startswith("the program cannot be run: ")
    assert answer.build == "unknown"


def test_a_program_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specrules.evidence.memory.oracle.SECONDS", 0.2)
    answer = ask(of_shape(SHAPE, tmp_path), "target", REQUEST, script(tmp_path, "exec sleep 5"), context=8192)
    assert answer.not_asked == "the program did not end within 0.2 seconds"


def test_where_the_program_is_looked_for(tmp_path: Path) -> None:
    program = script(tmp_path, "exit 0").program
    assert find_program({VARIABLE: str(tmp_path)}) == program
    assert find_program({VARIABLE: str(program)}) == program
    assert find_program({"PATH": str(tmp_path)}) == program
    assert find_program({VARIABLE: str(tmp_path / "nowhere"), "PATH": str(tmp_path)}) is None
    assert find_program({"PATH": ""}) is None
    program.chmod(0o644)
    assert find_program({VARIABLE: str(tmp_path)}) is None


@pytest.mark.parametrize(
    ("weights", "context", "shown"),
    [(4932, 1024, False), (4933, 1023, False), (4840, 1024, False), (4800, 1024, True), (4932, 1060, True)],
)
def test_a_disagreement_above_two_percent_is_shown(weights: int, context: int, *, shown: bool, tmp_path: Path) -> None:
    oracle = script(tmp_path, f'echo "Host {weights} {context} 9 "')
    found = fit(
        of_shape(SHAPE, tmp_path),
        None,
        rules=rules(),
        request=REQUEST,
        devices=declared(["CPU=64"]),
        oracle=oracle,
    )
    assert disagrees(found.engine[0]) is shown
    told = [note for note in found.notes if "differ by more than 2%" in note]
    assert bool(told) is shown
    if told:
        assert f"weights {weights} and 4932 MiB, context {context} and 1024 MiB" in told[0]


def test_an_embedding_that_may_be_held_twice_is_no_disagreement() -> None:
    found = of_shape(shapes.gemma4())
    size = model_size(found, rules())
    for weights, expected in ((890, False), (1310, False), (1400, True), (800, True)):
        answer = FitAnswer(model="target", program="p", build="b", weights_mib=weights, context_mib=286, compute_mib=1)
        assert disagrees(compared(answer, size, Request(65536), rules())) is expected


def test_states_are_part_of_the_closed_form() -> None:
    size = model_size(of_shape(shapes.qwen35()), rules())
    answer = FitAnswer(model="target", program="p", build="b", weights_mib=15532, context_mib=2646, compute_mib=1)
    found = compared(answer, size, Request(32768, 4), rules())
    assert (found.closed_weights_mib, found.closed_context_mib, found.disagreement) == (15532, 2646, 0)


def test_two_percent_are_no_disagreement_yet() -> None:
    base = FitAnswer(model="target", program="p", build="b", disagreement=0.02)
    assert not disagrees(base)
    assert disagrees(base.model_copy(update={"disagreement": 0.0201}))
    assert not disagrees(base.model_copy(update={"disagreement": None}))


def test_target_and_drafter_are_asked_separately(tmp_path: Path) -> None:
    target, drafter = of_shape(SHAPE, tmp_path), of_shape(shapes.llama(16, 2048, 8192, 32), tmp_path)
    oracle = script(tmp_path, f'echo "$@" >>{tmp_path}/said; echo "Host 1 1 1 "')
    found = fit(
        target,
        drafter,
        rules=rules(),
        request=Request(65536, 3, cache_types=("q8_0", "q8_0")),
        devices=declared(["CPU=64"]),
        oracle=oracle,
    )
    assert [answer.model for answer in found.engine] == ["target", "drafter"]
    said = [line for line in (tmp_path / "said").read_text().splitlines() if "-c" in line]
    assert "-c 65536 -np 3 -ub 512 -b 2048 -ctk q8_0" in said[0]
    # The drafter follows what the target's context was rounded to, and keeps its own types.
    assert "-c 66048 -np 3 -ub 512 -b 2048 -ctk f16" in said[1]


def test_the_engines_word_takes_the_place_of_bounds(tmp_path: Path) -> None:
    keys = {"block_count": 2, "embedding_length": 64, "attention.head_count": 1, "novel.thing": 3}
    tensors = [("token_embd.weight", (64, 8), F32), ("blk.0.ffn_up.weight", (64, 64), F32)]
    values = {"general.architecture": "novel"} | {f"novel.{key}": value for key, value in keys.items()}
    found = read_header(write(tmp_path / "novel.gguf", values, tensors))
    oracle = script(tmp_path, 'echo "Host 0 100 7 "')
    answered = fit(found, None, rules=rules(), request=Request(4096), devices=declared(["CPU=2"]), oracle=oracle)
    parts = {item.kind: item for item in answered.devices[0].parts}
    assert (parts["cache"].size.low, parts["cache"].size.high) == (100 * MIB, 101 * MIB)
    assert parts["cache"].how == "the engine itself"
    assert (parts["compute"].size.low, parts["compute"].size.high) == (0, 8 * MIB)
    assert answered.state == "fits"
    assert answered.reasons == ()
    assert answered.engine[0].closed_context_mib is None


def test_a_pool_that_slots_share_is_not_asked_for(tmp_path: Path) -> None:
    oracle = script(tmp_path, 'echo "Host 4932 1024 9 "')
    found = fit(
        of_shape(SHAPE, tmp_path),
        None,
        rules=rules(),
        request=Request(8192, 4, unified=True),
        devices=declared(["CPU=64"]),
        oracle=oracle,
    )
    assert any("knows no pool that slots share" in note for note in found.notes)
    assert found.engine[0].disagreement == 0


@pytest.mark.llama
@pytest.mark.skipif(ENGINE is None, reason=f"{PROGRAM} is neither on PATH nor in {VARIABLE}")
def test_the_engine_sizes_what_nobody_described(tmp_path: Path) -> None:
    shape = shapes.llama(2, 512, 1024, 8)
    found = of_shape(shape, tmp_path)
    blind = rules().model_copy(update={"architectures": ()})
    bounded = fit(found, None, rules=blind, request=REQUEST, devices=declared(["CPU=4"]))
    assert bounded.state == "unknown"
    answered = fit(found, None, rules=blind, request=REQUEST, devices=declared(["CPU=4"]), oracle=engine())
    assert answered.state == "fits"
    assert answered.target.cache.low // MIB == 2 * 2 * 512 * 8192 * 2 // MIB


def test_a_file_that_has_gone_is_not_asked_about(tmp_path: Path) -> None:
    found = of_shape(SHAPE, tmp_path)
    os.unlink(found.name)
    answer = ask(found, "target", REQUEST, script(tmp_path, "exit 0"), context=8192)
    assert answer.not_asked == "the file cannot be read: No such file or directory"


def _remote(found: Header, name: str) -> Header:
    return type(found)(**{**vars(found), "name": name})


def test_a_nameless_header_has_no_bytes() -> None:
    assert head_of(header("llama", {"block_count": 1}), {}) is None


def test_a_model_on_a_server_is_asked_about_after_a_few_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = shapes.llama(2, 512, 1024, 8)
    written = of_shape(shape, tmp_path)
    monkeypatch.setenv("SPECRULES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SPECRULES_LLAMA_BIN", str(script(tmp_path, 'echo "Host 89 32 9 "').program))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with serving({"/model.gguf": Path(written.name).read_bytes()}) as server:
        for _ in range(2):
            found = fit_files(server.url(), None, REQUEST, Machine(["CPU=4"]))
            assert found.engine[0].not_asked == ""
            assert found.engine[0].disagreement == 0
            assert found.target.weights == sum(-(-size_of(tensor) // 32) * 32 for tensor in shape.tensors)
        assert server.sent < 1 << 17
        server.etag = ""
        nameless = fit_files(server.url("/model.gguf?x"), None, REQUEST, Machine(["CPU=4"]))
    assert "no entity tag" in nameless.engine[0].not_asked
    assert nameless.state == "fits"
