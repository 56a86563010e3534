"""How fast `specrules read` is, as a ratio to `grep -c` of the same patterns on the same file, and its memory.

    python benchmarks/read_speed.py [--sizes 1,10,100] [--keep FOLDER]

The logs are made of lines that a llama.cpp server printed (tests/data/recordings): its start, then its requests over
and over with new numbers. `recorded` has the lines as they were, of which one in five matters; `dense` has only the
lines about requests that a server prints by default, of which most matter.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORDING = ROOT / "tests" / "data" / "recordings" / "llama.cpp-b11434-pair" / "pair-k3.log"
ENGINE = "llama.cpp"
REPEATS = 3
_TASK = re.compile(rb"\| task +(\d+) \|")
_DEFAULT = re.compile(rb"print_timing|release:|new prompt")
_TOKENS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?:|[*+?}]\?|.", re.DOTALL)
_CLASSES = {r"\d": "0-9", r"\w": "[:alnum:]_", r"\s": "[:space:]"}


@dataclass(frozen=True)
class Run:
    """One process: seconds of processor time, its largest memory, what it printed."""

    seconds: float
    mebibytes: float
    output: str


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1,10,100", help="megabytes, with commas")
    parser.add_argument("--alternation", action="store_true", help="print what grep looks for, and measure nothing")
    parser.add_argument("--keep", type=Path, help="a folder to leave the logs in")
    options = parser.parse_args()
    if options.alternation:
        print(alternation())
        return
    sizes = [int(part) for part in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        measure(folder, sizes)


def measure(folder: Path, sizes: Sequence[int]) -> None:
    """Write the logs and print how long both take."""
    # A process begins with the memory of the one that starts it as its peak, so this one stays small.
    expression = run([sys.executable, __file__, "--alternation"]).output.rstrip("\n")
    start = best(reading(RECORDING, engine=True))
    print(f"{sys.version.split()[0]}, {os.cpu_count()} cores; seconds of processor time, best of {REPEATS}; LC_ALL=C")
    print(
        f"start-up, a log of {RECORDING.stat().st_size >> 10} KiB: {start.seconds:.2f} s, {start.mebibytes:.0f} MiB\n"
    )
    print("log        MB  lines that matter  grep -cE s  read s  ratio  less start  MB/s  MiB  detected s")
    for kind in ("recorded", "dense"):
        for size in sizes:
            path = folder / f"{kind}-{size}.log"
            with path.open("wb") as file:
                file.writelines(lines(kind, size * 1_000_000))
            repeats = REPEATS if size <= 10 else 1
            grep = best(["grep", "-cE", expression, str(path)])
            read = best(reading(path, engine=True), repeats)
            detected = best(reading(path, engine=False), repeats)
            net = max(read.seconds - start.seconds, 0.001)
            print(
                f"{kind:8} {size:4}  {int(grep.output):17}  {grep.seconds:10.3f}  {read.seconds:6.2f}"
                f"  {read.seconds / grep.seconds:5.1f}  {net / grep.seconds:10.1f}  {size / net:4.0f}"
                f"  {read.mebibytes:3.0f}  {detected.seconds:10.2f}",
                flush=True,
            )


def lines(kind: str, size: int) -> Iterator[bytes]:
    """Yield the lines of a log until it has so many bytes."""
    recorded = RECORDING.read_bytes().splitlines(keepends=True)
    first = next(index for index, line in enumerate(recorded) if b"all slots are idle" in line) + 1
    requests = [line for line in recorded[first:] if kind == "recorded" or _DEFAULT.search(line)]
    written = 0
    for line in recorded[:first]:
        written += len(line)
        yield line
    shift = 0
    while written < size:
        for line in requests:
            moved = _TASK.sub(lambda found: b"| task %d |" % (int(found[1]) + shift), line)  # noqa: B023
            written += len(moved)
            yield moved
        shift += 100_000


def reading(path: Path, *, engine: bool) -> list[str]:
    """Return the command that reads a log."""
    stated = ["--engine", ENGINE] if engine else []
    return [sys.executable, "-m", "specrules", "read", str(path), "--format", "json", "-o", os.devnull, *stated]


def best(command: Sequence[str], repeats: int = REPEATS) -> Run:
    """Return the fastest of several runs."""
    return min((run(command) for _ in range(repeats)), key=lambda item: item.seconds)


def run(command: Sequence[str]) -> Run:
    """Run a process and return what it took."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    kibibytes = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return Run(usage.ru_utime + usage.ru_stime, kibibytes / 1024, output)


def alternation() -> str:
    """Return everything that the log readers of the engine look for, as one extended regular expression of grep."""
    from specrules.catalog.catalogue import Catalog
    from specrules.evidence.readers.compiling import compile_readers
    from specrules.evidence.readers.patterns import loosened

    engine = Catalog.load(environ={}, cwd=ROOT).engine(ENGINE).model
    patterns = [text for reader in compile_readers(engine) if reader.lines for text in reader.lines.screen]
    return "|".join(dict.fromkeys(as_extended(loosened(text)) for text in patterns if r"\x1b" not in text))


def as_extended(pattern: str) -> str:
    """Return a pattern of RE2 in the words of `grep -E`. Lazy repeats match the same lines as others."""

    def replaced(found: re.Match[str]) -> str:
        part = found[0]
        if part == "(?:":
            return "("
        if part[1:] == "?" and part[0] in "*+?}":
            return part[0]
        if part.startswith("["):
            for short, long in _CLASSES.items():
                part = part.replace(short, long)
            return part.replace("\\", "")
        if part in _CLASSES:
            return f"[{_CLASSES[part]}]"
        return part[1] if part[0] == "\\" and part[1] not in r".[]{}()*+?|^$\\SWbB" else part

    return _TOKENS.sub(replaced, pattern)


if __name__ == "__main__":
    main()
