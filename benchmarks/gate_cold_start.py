"""Cold start of `specrules gate` on one manifest, against yamllint and check-jsonschema on the same file.

    python benchmarks/gate_cold_start.py [--runs 15] [--file MANIFEST]

Every command is a process of its own; the commands take turns, so that a busy moment meets all of them. Shown is the
median of processor time, which other work on the machine disturbs less than the clock. yamllint and check-jsonschema
have to be installed beside specrules; the latter gets a schema of one line, so that it only reads and validates.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    metadata: {labels: {app: llm}}
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.33.0
          args:
            - --model=meta-llama/Llama-3.3-70B-Instruct
            - --speculative-config
            - '{"method": "eagle3", "model": "yuhuili/EAGLE3-LLaMA3.3-Instruct-70B", "num_speculative_tokens": 3}'
            - --max-num-seqs=64
"""


def measure(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """Processor time and time on the clock of one run, in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(command, capture_output=True, env=environment, check=False)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} left with {ran.returncode}: {ran.stderr.decode()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--file", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        manifest = arguments.file or Path(folder, "llm.yaml")
        if arguments.file is None:
            manifest.write_text(MANIFEST, encoding="utf-8")
        schema = Path(folder, "schema.json")
        schema.write_text('{"type": "object"}', encoding="utf-8")
        commands = {
            "yamllint": ["yamllint", str(manifest)],
            "check-jsonschema": ["check_jsonschema", "--schemafile", str(schema), str(manifest)],
            "specrules gate": ["specrules", "gate", str(manifest)],
            "specrules --version": ["specrules", "--version"],
        }
        # Compiled modules are kept, as in an installed tool, but not in the checkout.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": str(Path(folder, "compiled")), "PYTHONPATH": str(ROOT)}
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for index in range(arguments.runs + 1):
            for name, (module, *rest) in commands.items():
                taken = measure([sys.executable, "-m", module, *rest], environment)
                if index:  # the first run compiles
                    found[name].append(taken)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {arguments.runs} runs each\n")
    print("| command | processor s | least | on the clock s | ratio to yamllint | ratio to check-jsonschema |")
    print("|---|---|---|---|---|---|")
    medians = {name: statistics.median(cpu for cpu, _ in taken) for name, taken in found.items()}
    for name, taken in found.items():
        least, clock = min(cpu for cpu, _ in taken), statistics.median(clock for _, clock in taken)
        ratios = [f"{medians[name] / medians[other]:.1f}" for other in ("yamllint", "check-jsonschema")]
        print(f"| {name} | {medians[name]:.2f} | {least:.2f} | {clock:.2f} | {' | '.join(ratios)} |")


if __name__ == "__main__":
    main()
