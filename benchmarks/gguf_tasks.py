"""One task in a process of its own: its CPU time, the memory that it adds, and what it found.

The process first imports what the task needs and reads its files once, so that the page cache is warm. CPU time of the
call alone counts, and the memory that it adds to the process at its peak. Linux only.

    python benchmarks/gguf_tasks.py TASK FILE...        prints JSON; ends with 3 where a package is not installed
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOKENS = "tokenizer.ggml.tokens"
ABSENT = 3

Call = Callable[[], str]


@dataclass(frozen=True)
class Result:
    """The run that took the least time. `found` has to be the same for all tasks that do the same."""

    cpu_ms: float
    added_mb: float
    found: str


def measure(task: str, files: Sequence[Path], rounds: int) -> Result | None:
    """Run a task several times, each in a new process; None where what it needs is not installed."""
    command = [sys.executable, __file__, task, *map(str, files)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    results = []
    for _ in range(rounds):
        done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
        if done.returncode == ABSENT:
            return None
        if done.returncode:
            raise SystemExit(f"{task} failed:\n{done.stderr}")
        results.append(Result(**json.loads(done.stdout.splitlines()[-1])))
    return min(results, key=lambda result: result.cpu_ms)


def _specrules(path: str, *, identity_only: bool = True) -> Call:
    from specrules.evidence.gguf import Array, read_header

    def run() -> str:
        tokens = read_header(path, identity_only=identity_only).values[TOKENS]
        return hashlib.sha256(tokens.raw).hexdigest() if isinstance(tokens, Array) else ""

    return run


def _specrules_sizes(path: str) -> Call:
    return _specrules(path, identity_only=False)


def _gguf(path: str) -> Call:
    from gguf import GGUFReader

    return lambda: _hash(token.encode() for token in GGUFReader(path).fields[TOKENS].contents())


def _transformers(path: str) -> Call:
    from transformers.integrations.gguf.reader import read_gguf_metadata

    return lambda: _hash(token.encode() for token in read_gguf_metadata(path, string_arrays=(TOKENS,))[0][TOKENS])


def _transformers_checkpoint(path: str) -> Call:
    import torch  # noqa: F401 - without it the function fails only when it is called
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    def run() -> str:
        tokens = load_gguf_checkpoint(path, return_tensors=False)["tokenizer"]["tokens"]
        return _hash(token.encode() for token in tokens)

    return run


def _libggml(path: str) -> Call:
    class Params(ctypes.Structure):
        _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))

    library = ctypes.CDLL(_library())
    library.gguf_init_from_file.restype = ctypes.c_void_p
    library.gguf_init_from_file.argtypes = (ctypes.c_char_p, Params)

    def run() -> str:
        if not library.gguf_init_from_file(path.encode(), Params(True, None)):
            raise RuntimeError("libggml refused the file")
        return ""

    return run


def _library() -> str:
    """Return the libggml that the environment names, by itself or with the programs of a build."""
    named = os.environ.get("SPECRULES_LIBGGML")
    folder = os.environ.get("SPECRULES_LLAMA_BIN")
    path = Path(named) if named else Path(folder or ".") / "libggml-base.so"
    if not (named or folder) or not path.is_file():
        raise ImportError("no libggml")
    return str(path)


def _pair(one: str, other: str) -> Call:
    from specrules.evidence.tokenizers import compare, load_tokenizer

    return lambda: compare(load_tokenizer(one), load_tokenizer(other)).kind


def _pair_of_the_tokenizers_package(one: str, other: str) -> Call:
    from tokenizers import Tokenizer

    def run() -> str:
        first, second = (Tokenizer.from_file(path).get_vocab() for path in (one, other))
        return "identical" if first == second else "different"

    return run


TASKS: dict[str, Callable[..., Call]] = {
    "specrules, for identity": _specrules,
    "specrules, with tensor sizes": _specrules_sizes,
    "libggml": _libggml,
    "transformers, read_gguf_metadata": _transformers,
    "gguf, GGUFReader": _gguf,
    "transformers, load_gguf_checkpoint": _transformers_checkpoint,
    "specrules": _pair,
    "tokenizers": _pair_of_the_tokenizers_package,
}


def _hash(tokens: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(len(token).to_bytes(8, "little") + token for token in tokens)).hexdigest()


def _resident_kib(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise RuntimeError("the kernel does not say how much memory was used")


def main(task: str, files: Sequence[str]) -> None:
    """Run one task here."""
    try:
        run = TASKS[task](*files)
    except ImportError:
        raise SystemExit(ABSENT) from None
    for path in files:
        with Path(path).open("rb") as file:
            while file.read(1 << 16):
                pass
    # From here on the peak is that of the call: imports may have needed more for a moment.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _resident_kib("VmRSS:")
    start = time.process_time()
    found = run()
    spent = time.process_time() - start
    added = (_resident_kib("VmHWM:") - before) * 1024 / 1e6
    print(json.dumps({"cpu_ms": spent * 1e3, "added_mb": added, "found": found}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
