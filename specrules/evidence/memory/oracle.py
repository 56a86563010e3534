"""The engine's own answer: llama-fit-params on a sparse file that holds nothing but the header."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from specrules.errors import EvidenceError
from specrules.evidence.gguf import Header
from specrules.evidence.memory.request import Request
from specrules.evidence.memory.sparse import sparse_copy
from specrules.model.fit import FitAnswer

PROGRAM = "llama-fit-params"
VARIABLE = "SPECRULES_LLAMA_BIN"
"""A folder with the engine's programs, or this program itself; without it PATH is searched."""
SECONDS = 60
LOGICAL_BATCH = 2048
_LINE = re.compile(r"^(\S+) (\d{1,12}) (\d{1,12}) (\d{1,12}) ?$", re.MULTILINE)
_VERSION = re.compile(r"^version: (.{1,80})$", re.MULTILINE)
_LONGEST_REASON = 200


def find_program(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the engine's program, None where there is none."""
    given = environ.get(VARIABLE)
    if given:
        path = Path(given) / PROGRAM if Path(given).is_dir() else Path(given)
        return path if path.is_file() and os.access(path, os.X_OK) else None
    found = shutil.which(PROGRAM, path=environ.get("PATH"))
    return Path(found) if found else None


@dataclass(frozen=True, slots=True)
class Oracle:
    """The engine's program, and the first bytes of files that are not on this disk, by name."""

    program: Path
    heads: Mapping[str, bytes] = field(default_factory=dict)


def ask(
    header: Header, which: Literal["target", "drafter"], request: Request, oracle: Oracle, *, context: int
) -> FitAnswer:
    """Ask the engine what a model takes on the host, without a drafter and with every weight.

    The answer holds for slots of their own: the program knows no pool that slots share. It counts no prediction layers
    and no snapshots. Where the engine does not answer, `not_asked` says why.
    """
    program = oracle.program
    build = _build(program)

    def refused(reason: str) -> FitAnswer:
        return FitAnswer(model=which, program=str(program), build=build, not_asked=reason)

    with tempfile.TemporaryDirectory(prefix="specrules-") as folder:
        try:
            model = sparse_copy(header, Path(folder), oracle.heads)
            done = _run(program, ["-m", str(model), *_arguments(which, request, context)])
        except EvidenceError as error:
            return refused(error.problems[0].message)
        except OSError as error:
            return refused(f"the program cannot be run: {error.strerror or error}")
        except subprocess.TimeoutExpired:
            return refused(f"the program did not end within {SECONDS} seconds")
    lines = _LINE.findall(done.stdout)
    if done.returncode or not lines:
        return refused(_complaint(done))
    sums = [sum(int(line[column]) for line in lines) for column in (1, 2, 3)]
    return FitAnswer(
        model=which,
        program=str(program),
        build=build,
        weights_mib=sums[0],
        context_mib=sums[1],
        compute_mib=sums[2],
    )


def _arguments(which: Literal["target", "drafter"], request: Request, context: int) -> list[str]:
    key, value = request.cache_types if which == "target" else request.draft_cache_types
    given = [
        "-c",
        str(context),
        "-np",
        str(request.slots),
        "-ub",
        str(request.batch),
        "-b",
        str(max(request.batch, 2048)),
    ]
    given += ["-ctk", key, "-ctv", value, "-dev", "none"]
    given += ["--swa-full"] if request.full_window else []
    given += [] if request.flash_attention else ["-fa", "off"]
    return [*given, "--no-repack", "--fit-print", "on"]


def _run(program: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    # Builds that come as a folder find their own libraries only with its help.
    libraries = os.pathsep.join(part for part in (str(program.parent), os.environ.get("LD_LIBRARY_PATH")) if part)
    return subprocess.run(  # noqa: S603 - the user's own program, and no shell reads the arguments
        [str(program), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
    )


def _build(program: Path) -> str:
    try:
        done = _run(program, ["--version"])
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    said = _VERSION.search(done.stdout + done.stderr)
    return said[1].strip() if said else "unknown"


def _complaint(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.split(" E ", 1)[-1].strip() for line in done.stderr.splitlines() if " E " in line or "error" in line]
    reason = lines[0] if lines else f"it ended with {done.returncode}"
    return f"the program gave no sizes: {reason}"[:_LONGEST_REASON]
