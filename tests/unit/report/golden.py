"""The golden files: what is rendered for which of them. `python -m tests.unit.report.golden` writes them anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from specrules.report import render

from .verdicts import bare, blocked, deploy, unknown

ROOT = Path(__file__).parents[3]
TEMPLATES = ROOT / "templates"
FOLDER = ROOT / "tests" / "data" / "golden"

GOLDEN: Mapping[str, Callable[[], str]] = {
    "report-blocked.md": lambda: render([blocked()], "md", [TEMPLATES]),
    "report-deploy.md": lambda: render([deploy()], "md", [TEMPLATES]),
    "report-unknown.md": lambda: render([unknown()], "md", [TEMPLATES]),
    "report-bare.md": lambda: render([bare()], "md", [TEMPLATES]),
    "report-several.md": lambda: render([unknown(), blocked(), deploy()], "md", [TEMPLATES]),
    "summary-blocked.md": lambda: render([blocked()], "summary", [TEMPLATES]),
    "summary-deploy.md": lambda: render([deploy()], "summary", [TEMPLATES]),
    "summary-unknown.md": lambda: render([unknown()], "summary", [TEMPLATES]),
    "summary-bare.md": lambda: render([bare()], "summary", [TEMPLATES]),
    "summary-several.md": lambda: render([blocked(), deploy()], "summary", [TEMPLATES]),
    "report-blocked.json": lambda: render([blocked()], "json", []),
}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, rendered in GOLDEN.items():
        (FOLDER / name).write_text(rendered(), encoding="utf-8", newline="\n")
