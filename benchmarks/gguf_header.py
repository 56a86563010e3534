"""Time and memory of reading the largest kind of GGUF header, against the `gguf` package in the same run.

The header is made here: 248,320 tokens with types and scores, 247,587 merges and 700 tensors, 12.0 MB. Every reader
runs in a process of its own, which first reads the file once, so that the page cache is warm. CPU time of the call
alone counts, without imports, and the memory that the call adds to the peak of the process. The smallest of several
runs counts, except for `gguf`, which takes half a minute and runs once. Linux only.

    python benchmarks/gguf_header.py [--libggml libggml-base.so] [--rounds 5] [--file MODEL.gguf] [--json]

With `--libggml`, a build of ggml is timed through ctypes as well.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TOKENS = 248_320
MERGES = 247_587
TENSORS = 700
LEAST_TIMES_GGUF = 200
MOST_TIMES_LIBGGML = 1.5
MOST_ADDED_MB = 20

_STRING, _ARRAY, _UINT32, _INT32, _FLOAT32 = 8, 9, 4, 5, 6


def words(count: int, seed: bytes, most: int) -> Iterator[bytes]:
    """Yield deterministic words of 1 to `most` bytes, as long on average as those of a real vocabulary."""
    letters = b"etaoinshrdlucmfwypvbgkjqxz"
    for index in range(count):
        digest = hashlib.sha256(seed + index.to_bytes(4, "little")).digest()
        yield bytes(letters[byte % 26] for byte in digest[: 1 + digest[31] % most])


def text(data: bytes) -> bytes:
    """Return a GGUF string."""
    return struct.pack("<Q", len(data)) + data


def array(key: str, kind: int, count: int, body: bytes) -> bytes:
    """Return a key with an array."""
    return text(key.encode()) + struct.pack("<IIQ", _ARRAY, kind, count) + body


def big_header() -> bytes:
    """Return the header, without tensor data."""
    keys = [
        text(b"general.architecture") + struct.pack("<I", _STRING) + text(b"qwen35"),
        text(b"qwen35.block_count") + struct.pack("<II", _UINT32, 64),
        text(b"tokenizer.ggml.model") + struct.pack("<I", _STRING) + text(b"gpt2"),
        array("tokenizer.ggml.tokens", _STRING, TOKENS, b"".join(text(word) for word in words(TOKENS, b"t", 22))),
        array("tokenizer.ggml.token_type", _INT32, TOKENS, struct.pack("<i", 1) * TOKENS),
        array("tokenizer.ggml.scores", _FLOAT32, TOKENS, struct.pack("<f", -1.0) * TOKENS),
        array(
            "tokenizer.ggml.merges",
            _STRING,
            MERGES,
            b"".join(text(left + b" " + left) for left in words(MERGES, b"m", 11)),
        ),
        text(b"tokenizer.ggml.eos_token_id") + struct.pack("<II", _UINT32, 2),
    ]
    tensors = b"".join(
        text(f"blk.{index // 10}.ffn_{index % 10}.weight".encode())
        + struct.pack("<IQQIQ", 2, 32, 2, 0, index * 32 * 2 * 4)
        for index in range(TENSORS)
    )
    return b"GGUF" + struct.pack("<IQQ", 3, TENSORS, len(keys)) + b"".join(keys) + tensors


def write_model(path: Path) -> None:
    """Write the header and, as a hole, the tensor data that it describes."""
    header = big_header()
    with path.open("wb") as file:
        file.write(header)
        file.truncate(len(header) + -len(header) % 32 + TENSORS * 32 * 2 * 4)


def _specrules(path: str, identity_only: bool = True) -> Callable[[], str]:
    from specrules.evidence.gguf import Array, read_header

    def run() -> str:
        tokens = read_header(path, identity_only=identity_only).values["tokenizer.ggml.tokens"]
        return hashlib.sha256(tokens.raw).hexdigest() if isinstance(tokens, Array) else ""

    return run


def _specrules_sizes(path: str) -> Callable[[], str]:
    return _specrules(path, identity_only=False)


def _gguf(path: str) -> Callable[[], str]:
    from gguf import GGUFReader

    def run() -> str:
        tokens = GGUFReader(path).fields["tokenizer.ggml.tokens"].contents()
        return hashlib.sha256(b"".join(text(token.encode()) for token in tokens)).hexdigest()

    return run


def _libggml(path: str) -> Callable[[], str]:
    class Params(ctypes.Structure):
        _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))

    library = ctypes.CDLL(sys.argv[3])
    library.gguf_init_from_file.restype = ctypes.c_void_p
    library.gguf_init_from_file.argtypes = (ctypes.c_char_p, Params)

    def run() -> str:
        if not library.gguf_init_from_file(path.encode(), Params(True, None)):
            raise RuntimeError("libggml refused the file")
        return ""

    return run


READERS = {"specrules": _specrules, "specrules with sizes": _specrules_sizes, "gguf": _gguf, "libggml": _libggml}


def peak_kib() -> int:
    """Return the largest resident size of this process so far; `ru_maxrss` would include that of the parent."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise RuntimeError("the kernel does not say how much memory was used")


def measure_here(reader: str, path: str) -> None:
    """Print CPU milliseconds, added peak megabytes and the hash of one run, as JSON."""
    run = READERS[reader](path)
    with Path(path).open("rb") as file:
        while file.read(1 << 16):
            pass
    before = peak_kib()
    start = time.process_time()
    digest = run()
    spent = time.process_time() - start
    added = (peak_kib() - before) * 1024 / 1e6
    print(json.dumps({"cpu_ms": spent * 1e3, "added_mb": added, "sha256": digest}))


def measure(reader: str, path: Path, rounds: int, library: str) -> dict[str, Any]:
    """Return the run with the smallest CPU time of several, each in a new process."""
    command = [sys.executable, __file__, "--run", reader, library, str(path)]
    outputs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(rounds)]
    runs: list[dict[str, Any]] = [json.loads(output) for output in outputs]
    return min(runs, key=lambda run: run["cpu_ms"])


def main() -> None:
    """Measure all readers and print them beside the budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libggml", default="", help="libggml-base.so of a llama.cpp build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--file", type=Path, help="a real model in place of the made one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    readers = [name for name in READERS if name != "libggml" or options.libggml]
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "big.gguf"
        if not options.file:
            write_model(path)
        results = {
            name: measure(name, path, 1 if name == "gguf" else options.rounds, options.libggml) for name in readers
        }
    hashes = {result["sha256"] for result in results.values()} - {""}
    if len(hashes) != 1:
        raise SystemExit(f"the readers disagree about the tokens: {results}")
    if options.json:
        print(json.dumps(results, indent=2))
        return
    ours = results["specrules"]
    print(f"{'reader':24}{'CPU ms':>10}{'added MB':>10}{'times specrules':>17}")
    for name, result in results.items():
        ratio = result["cpu_ms"] / ours["cpu_ms"]
        print(f"{name:24}{result['cpu_ms']:10.1f}{result['added_mb']:10.1f}{ratio:17.2f}")
    if not options.file:
        raise SystemExit(0 if within_budget(results) else 1)


def within_budget(results: dict[str, dict[str, Any]]) -> bool:
    """Print every part of the budget and whether it is kept; return whether all are."""
    ours = results["specrules"]
    parts = [
        (
            f"gguf takes at least {LEAST_TIMES_GGUF} times",
            results["gguf"]["cpu_ms"] / ours["cpu_ms"] >= LEAST_TIMES_GGUF,
        ),
        (f"at most {MOST_ADDED_MB} MB are added", ours["added_mb"] <= MOST_ADDED_MB),
    ]
    if "libggml" in results:
        kept = ours["cpu_ms"] <= MOST_TIMES_LIBGGML * results["libggml"]["cpu_ms"]
        parts.append((f"at most {MOST_TIMES_LIBGGML} times libggml", kept))
    for title, kept in parts:
        print(f"{'kept' if kept else 'BROKEN'}: {title}")
    return all(kept for _, kept in parts)


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--run":
        measure_here(sys.argv[2], sys.argv[-1])
    else:
        main()
