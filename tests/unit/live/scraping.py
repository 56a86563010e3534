"""A real Prometheus that scrapes recorded dumps, played back with counters that advance from scrape to scrape."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .answering import Reply, answering

INTERVAL_S = 0.1
DEADLINE_S = 30
_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$")
TEXT = {"Content-Type": "text/plain; version=0.0.4"}


def recorded(path: Path) -> str:
    """The dump in a recording, without the comments that say where it is from."""
    return "\n".join(line for line in path.read_text().splitlines() if not line.startswith("# file:")) + "\n"


def scaled(dump: str, times: float, **gauges: float) -> str:
    """The dump with its counters multiplied, so that every sum and every share in it stays what it was.

    `gauges` are set by the last part of their name. Metrics that say when something began stay as they are.
    """
    types = dict(re.findall(r"^# TYPE (\S+) (\w+)$", dump, re.MULTILINE))
    lines = []
    for line in dump.splitlines():
        sample = _SAMPLE.match(line)
        if sample is None:
            lines.append(line)
            continue
        name, labels, value = sample[1], sample[2] or "", float(sample[3])
        base = re.sub(r"_(total|sum|count|bucket)$", "", name)
        kind = types.get(name) or types.get(base) or types.get(base + "_total")
        if name.split(":")[-1] in gauges:
            value = gauges[name.split(":")[-1]]
        elif kind in {"counter", "histogram", "summary"} and not name.endswith("_created"):
            value *= times
        lines.append(f"{name}{labels} {value!r}")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Scraped:
    """A Prometheus server that has scraped every dump of every target at least once."""

    url: str
    targets: Mapping[str, str]


@contextmanager
def scraping(folder: Path, series: Mapping[str, Sequence[str]], job: str = "llm") -> Iterator[Scraped]:
    """Start Prometheus on the dumps of each target, one after the other; the last one is served from then on."""
    served = dict.fromkeys(series, 0)

    def answer(path: str) -> Reply:
        name = path.strip("/")
        dumps = series[name]
        text = dumps[min(served[name], len(dumps) - 1)]
        served[name] += 1
        return Reply(text.encode(), headers=TEXT)

    with answering(answer) as source:
        host = source.url.removeprefix("http://")
        config = folder / "prometheus.yml"
        targets = "".join(
            f"      - targets: ['{name}:8000']\n        labels: {{__metrics_path__: /{name}}}\n" for name in series
        )
        config.write_text(
            f"scrape_configs:\n  - job_name: {job}\n    scrape_interval: {int(INTERVAL_S * 1000)}ms\n"
            f"    scrape_timeout: {int(INTERVAL_S * 1000)}ms\n    static_configs:\n{targets}"
            "    relabel_configs:\n"
            "      - {source_labels: [__address__], target_label: instance}\n"
            f"      - {{target_label: __address__, replacement: '{host}'}}\n"
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        program = shutil.which("prometheus") or "prometheus"
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [
                    program,
                    f"--config.file={config}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait(lambda: _answers(f"{url}/-/ready"), folder)
            _wait(lambda: all(count > len(series[name]) for name, count in served.items()), folder)
            yield Scraped(url, {name: f"{name}:8000" for name in series})
        finally:
            process.terminate()
            process.wait(timeout=DEADLINE_S)


def _wait(ready: object, folder: Path) -> None:
    end = time.monotonic() + DEADLINE_S
    while not ready():  # type: ignore[operator]
        if time.monotonic() > end:
            raise AssertionError((folder / "log").read_text()[-2000:])
        time.sleep(0.05)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False
