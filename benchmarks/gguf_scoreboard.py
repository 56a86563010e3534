"""GGUF headers, tokenizers and memory against peers, as ratios of one run.

    python benchmarks/gguf_scoreboard.py [--only headers,transfer,tokenizers,memory] [--file MODEL.gguf] [--json]

Everything is made by the script, but for a model that `--file` names. Only what specrules itself depends on has to be
installed. Peers are measured where they are there, and named where they are not: the packages `transformers` (with
torch), `tokenizers` and `hf-mem`; libggml and llama-fit-params of a llama.cpp build, whose folder SPECRULES_LLAMA_BIN
names (or SPECRULES_LIBGGML the library alone); nginx, in whose place Python serves the files.

Ends with 1 where a part of the budget is broken. Takes three minutes, nearly all of it in `gguf` and `transformers`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gguf_files import LARGE, write_model, write_tokenizer_json
from gguf_memory import estimates, recorded_architectures
from gguf_tasks import Result, measure
from gguf_transfer import server_name, transfers

OURS = "specrules, for identity"
#: Runs of a task; what takes tens of seconds runs once.
READERS = {
    OURS: 5,
    "specrules, with tensor sizes": 5,
    "libggml": 5,
    "transformers, read_gguf_metadata": 2,
    "gguf, GGUFReader": 1,
    "transformers, load_gguf_checkpoint": 1,
}
LEAST_TIMES_GGUF = 200
MOST_TIMES_LIBGGML = 1.5
MOST_ADDED_MB = 20
MOST_TRANSFERRED = 1.2
MOST_ERROR_MIB = 1.0


@dataclass
class Score:
    """What was measured, what could not be, and whether the budget is kept."""

    results: dict[str, Any] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    budget: dict[str, bool] = field(default_factory=dict)

    def add(self, name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Add a table in Markdown."""
        cells = [[_shown(cell) for cell in row] for row in rows]
        lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells)]
        self.tables.append("\n".join([name, "", *lines]))


def headers(score: Score, file: Path | None) -> None:
    """CPU time and memory of reading a header."""
    with tempfile.TemporaryDirectory() as folder:
        path = file or Path(folder) / "large.gguf"
        size = path.stat().st_size if file else write_model(path)
        found: dict[str, Result] = {}
        for name, rounds in READERS.items():
            result = measure(name, [path], rounds)
            if result is None:
                score.absent.append(name)
            else:
                found[name] = result
    if len({result.found for result in found.values()} - {""}) != 1:
        raise SystemExit(f"the readers disagree about the tokens: {found}")
    ours = found[OURS]
    score.results["headers"] = {name: asdict(result) for name, result in found.items()}
    score.add(
        f"Reading a header: {path.name if file else f'made, {size / 1e6:.1f} MB'}",
        ("reader", "CPU ms", "times specrules", "added MB", "times specrules"),
        [
            (name, item.cpu_ms, item.cpu_ms / ours.cpu_ms, item.added_mb, item.added_mb / ours.added_mb)
            for name, item in found.items()
        ],
    )
    if file:
        return
    gguf = found["gguf, GGUFReader"].cpu_ms / ours.cpu_ms
    score.budget[f"gguf takes at least {LEAST_TIMES_GGUF} times the CPU time: {gguf:.0f}"] = gguf >= LEAST_TIMES_GGUF
    score.budget[f"at most {MOST_ADDED_MB} MB are added: {ours.added_mb:.1f}"] = ours.added_mb <= MOST_ADDED_MB
    if "libggml" in found:
        ratio = ours.cpu_ms / found["libggml"].cpu_ms
        score.budget[f"at most {MOST_TIMES_LIBGGML} times libggml: {ratio:.2f}"] = ratio <= MOST_TIMES_LIBGGML


def transfer(score: Score, _: Path | None) -> None:
    """Bytes on the wire."""
    found = list(transfers())
    if len({item.client for item in found}) == 1:
        score.absent.append("hf-mem, which fetches headers as well")
    score.results["transfer"] = [asdict(item) | {"ratio": item.ratio} for item in found]
    score.add(
        f"Fetching a header from {server_name()}, by bytes that it sent",
        ("as large as that of", "header MB", "client", "requests", "bytes sent / header"),
        [(item.like, item.header_bytes / 1e6, item.client, item.requests, round(item.ratio, 3)) for item in found],
    )
    most = max(item.ratio for item in found if item.client == "specrules")
    score.budget[f"at most {MOST_TRANSFERRED} times the header is sent: {most:.3f}"] = most <= MOST_TRANSFERRED


def tokenizers(score: Score, _: Path | None) -> None:
    """Loading and comparing two tokenizers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gguf, other, document = folder / "a.gguf", folder / "b.gguf", folder / "tokenizer.json"
        write_model(gguf)
        write_model(other)
        write_tokenizer_json(document)
        pairs = {
            "two GGUF files": ("specrules", [gguf, other]),
            "GGUF and tokenizer.json": ("specrules", [gguf, document]),
            "two tokenizer.json": ("specrules", [document, document]),
            "two tokenizer.json, get_vocab": ("tokenizers", [document, document]),
        }
        found = {title: (task, measure(task, files, 3)) for title, (task, files) in pairs.items()}
    rows = [(title, task, item.cpu_ms, item.added_mb, item.found) for title, (task, item) in found.items() if item]
    score.absent += [task for task, item in found.values() if item is None]
    score.results["tokenizers"] = {title: item and asdict(item) for title, (_, item) in found.items()}
    score.add(
        f"Comparing two tokenizers of {LARGE.tokens} ids, equal in all",
        ("pair", "by", "CPU ms", "added MB", "found"),
        rows,
    )


def memory(score: Score, _: Path | None) -> None:
    """Rows and states of models, which is what closed forms are about."""
    found = list(estimates())
    score.results["memory"] = [asdict(item) for item in found]
    rows = []
    for item in found:
        error = item.specrules - item.recorded
        peer = None if item.hf_mem is None else item.hf_mem / item.recorded
        rows.append((item.model, item.context, item.slots, item.recorded, item.live, error, peer))
    score.add(
        "Rows and states (KV cache) in MiB; the engine prints whole MiB, rounded down",
        ("model", "context", "slots", "recorded", "engine now", "specrules, error", "hf-mem / recorded"),
        rows,
    )
    worst = max(_error(item.specrules, item.recorded) for item in found)
    score.budget[f"the closed forms are right to the MiB: {worst:.2f} off"] = worst < MOST_ERROR_MIB
    if all(item.live is None for item in found):
        score.absent.append("llama-fit-params")
    else:
        live = max(_error(item.specrules, item.live) for item in found if item.live is not None)
        score.budget[f"and by the engine that is here: {live:.2f} off"] = live < MOST_ERROR_MIB
    if all(item.hf_mem is None for item in found):
        score.absent.append("hf-mem")
    count, error = recorded_architectures()
    score.results["architectures"] = {"numbers": count, "largest_error_mib": error}
    score.budget[f"{count} numbers of small models of every architecture are right: {error:.3f} MiB off"] = error < 0.05


def _error(ours: float, printed: float) -> float:
    """How far a number lies outside of what the engine may have rounded down to a whole one."""
    return max(printed - ours, ours - printed - 1, 0.0)


def _shown(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.4g}" if cell < 1000 else f"{cell:,.0f}"
    return str(cell)


def main() -> None:
    """Measure, print, and leave with 1 where the budget is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="headers,transfer,tokenizers,memory", metavar="PARTS")
    parser.add_argument("--file", type=Path, help="a real model in place of the made one, for headers")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measures = {"headers": headers, "transfer": transfer, "tokenizers": tokenizers, "memory": memory}
    parts = options.only.split(",")
    for part in parts:
        if part not in measures:
            parser.error(f"no part {part!r}; there are {', '.join(measures)}")
    score = Score()
    for part in parts:
        print(f"measuring {part}", file=sys.stderr)
        measures[part](score, options.file)
        if not options.json:
            print(score.tables[-1], end="\n\n", flush=True)
    if options.json:
        print(json.dumps({"results": score.results, "absent": score.absent, "budget": score.budget}, indent=2))
    else:
        print(f"Not installed, and left out: {', '.join(dict.fromkeys(score.absent)) or 'nothing'}\n")
        for title, kept in score.budget.items():
            print(f"{'kept' if kept else 'BROKEN'}: {title}")
    raise SystemExit(0 if all(score.budget.values()) else 1)


if __name__ == "__main__":
    main()
