"""A real llama-server, a small model, and the same model without one middle layer as its drafter."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS, MODEL = "SPECRULES_LLAMA_BIN", "SPECRULES_TEST_GGUF"
MIDDLE = "14"
START_S = 120


def program(name: str) -> str | None:
    """A program of llama.cpp: in the folder that the variable names, else on PATH."""
    folder = os.environ.get(PROGRAMS)
    return shutil.which(name, path=folder) if folder else shutil.which(name)


def model() -> str | None:
    """The first GGUF file that the variable names."""
    found = [path for path in os.environ.get(MODEL, "").split(os.pathsep) if path and Path(path).is_file()]
    return found[0] if found else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = None
    if program("llama-server") is None:
        missing = f"needs llama-server: {PROGRAMS} names its folder"
    elif model() is None:
        missing = f"needs a small GGUF model: {MODEL} names it"
    for item in items:
        if "llama_server" in item.keywords and missing is not None:
            item.add_marker(pytest.mark.skip(reason=missing))


@dataclass
class LlamaServer:
    """A server that runs."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """End it as an out-of-memory killer does."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def environment() -> dict[str, str]:
    """The environment for programs of llama.cpp and for specrules itself."""
    folder = str(Path(program("llama-server") or "").parent)
    found = dict(os.environ)
    found["PATH"] = folder + os.pathsep + found.get("PATH", "")
    found["LD_LIBRARY_PATH"] = folder + os.pathsep + found.get("LD_LIBRARY_PATH", "")
    found["PYTHONPATH"] = str(ROOT)
    found["NETRC"] = "/nonexistent"
    return found


@contextmanager
def running(folder: Path, *flags: str, name: str = "server") -> Iterator[LlamaServer]:
    """Run llama-server until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / f"{name}.log"
    command = [
        program("llama-server") or "",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "-c",
        "1024",
        "-np",
        "1",
        "-t",
        "1",
        *flags,
    ]
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment())
    found = LlamaServer(f"http://127.0.0.1:{port}", process, log)
    try:
        for _ in range(START_S * 4):
            if process.poll() is not None:
                pytest.fail(f"llama-server ended: {log.read_text(errors='replace')[-2000:]}")
            with suppress(httpx.HTTPError):
                if httpx.get(found.url + "/health", timeout=5).status_code == 200:
                    break
            time.sleep(0.25)
        yield found
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(30)


@dataclass
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


def specrules(*words: object, cwd: Path) -> Ran:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "specrules", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(),
        timeout=900,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def target() -> str:
    return model() or ""


@pytest.fixture(scope="session")
def drafter(tmp_path_factory: pytest.TempPathFactory, target: str) -> str:
    """The target without one middle layer."""
    made = tmp_path_factory.mktemp("drafter") / "less-one-layer.gguf"
    script = ROOT / "tests" / "tools" / "drop_layers.py"
    subprocess.run([sys.executable, script, target, made, MIDDLE], check=True, capture_output=True, env=environment())
    return str(made)


@pytest.fixture(scope="session")
def other_vocabulary(tmp_path_factory: pytest.TempPathFactory, target: str, drafter: str) -> str:
    """The drafter with another text under one id: llama-server refuses it and serves on without drafting."""
    made = tmp_path_factory.mktemp("other") / "other-vocabulary.gguf"
    data = bytearray(Path(drafter).read_bytes())
    at = data.find("Ġwonderful".encode())
    assert at > 0
    data[at : at + len("Ġwonderful".encode())] = "Ġwonderfux".encode()
    made.write_bytes(data)
    return str(made)


PROMPTS = (
    "Name three fruits.",
    "What is the capital of France?",
    "Count from one to ten.",
    "Say hello in German.",
    "What colour is the sky?",
    "Name two birds.",
    "What do bees make?",
    "Give me another word for happy.",
    "Where do penguins live?",
    "How many legs has a spider?",
)


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """Short prompts: a small machine reads some forty tokens a second."""
    import json

    file = tmp_path / "short.jsonl"
    file.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in PROMPTS))
    return file


def number(text: str, before: str) -> float:
    """The first number behind some words."""
    match = re.search(re.escape(before) + r"\s*([\d.]+)", text)
    assert match, (before, text)
    return float(match[1])
