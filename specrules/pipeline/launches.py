"""How the servers of a measurement are started: with the drafter, with drafting off, or the drafter alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from specrules.catalog.case import LoadedCase
from specrules.derive.methods import candidate_method
from specrules.model.case import Arm
from specrules.model.engine import Engine, Method
from specrules.pipeline.shell import comment, filled_shell, requoted

TITLES: dict[Arm, str] = {
    "incumbent": "What runs today",
    "off": "The target with drafting off",
    "candidate": "The target with the candidate's drafter",
    "drafter": "The drafter, served alone",
}


@dataclass(frozen=True, slots=True)
class Launch:
    """One server of a script. Without a command or a URL the user starts it, and names it in the variable."""

    arm: Arm
    what: str
    port: int
    command: str | None = None
    url: str | None = None
    health: str = ""
    comments: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The variable of the script that names a server which the user started."""
        return f"{self.arm.upper()}_URL"


class Launches:
    """The servers of one case."""

    def __init__(self, loaded: LoadedCase, engine: Engine, draft_length: int, port: int) -> None:
        self._loaded, self._case, self._engine, self._port = loaded, loaded.case, engine, port
        self.method: Method | None = candidate_method(loaded.case, engine)
        self.words = {
            "target": self._model(self._case.target.file, self._case.target.name),
            "drafter": self._model(self._case.drafter.file, self._case.drafter.name),
            "draft_length": str(draft_length),
            "verify_rows": str(draft_length + 1),
            "concurrency": str(self._case.workload.concurrency or 1),
        }
        if self.method is not None:
            self.words["method"] = self.method.id

    def launch(self, arm: Arm) -> Launch:
        """Return how an arm is served: at its URL, by a command, or by the user."""
        ports: tuple[Arm, ...] = ("incumbent", "off", "candidate", "drafter")
        port = self._port + ports.index(arm)
        serving = self._engine.serving
        health = (serving.health if serving is not None else None) or "/"
        if arm == "incumbent" and self._case.incumbent.url is not None:
            return Launch(arm, TITLES[arm], port, url=filled_shell("{url}", {"url": self._case.incumbent.url}))
        server = serving.server if serving is not None else None
        lines = self._settings(arm)
        shown = tuple(comment(line) for line in lines)
        if server is None or server.settings == "elsewhere":
            return Launch(
                arm, TITLES[arm], port, health=health, comments=(f"with: {' '.join(shown)}",) if shown else ()
            )
        words = {**self.words, "port": str(port)}
        if arm == "drafter":
            words["target"] = self.words["drafter"]
        settings = " ".join(filled_shell(line, self.words) for line in lines)
        command = filled_shell(server.command.replace("{settings}", "\0"), words)
        if server.settings == "environment":
            command = f"env {settings} {command}".replace("\0", "")
        return Launch(arm, TITLES[arm], port, command=command.replace("\0", settings).strip(), health=health)

    def _settings(self, arm: Arm) -> list[str]:
        """Return the lines that make a server the one of this arm, in the engine's own words."""
        flags = [entry for entry in self._case.engine.flags if not self._is_given(entry)]
        drafting = [entry for entry in flags if self._is_drafting(entry)]
        others = [requoted(entry) for entry in flags if entry not in drafting]
        on = list(self.method.switch_on) if self.method is not None else []
        off = list(self.method.switch_off) if self.method is not None else []
        if self._is_command():
            # Lines such as "omit --draft-model" are for people.
            on, off = ([line for line in lines if line.startswith("-")] for lines in (on, off))
        if arm == "candidate":
            return [*others, *(map(requoted, drafting) if drafting else on)]
        return [*others, *off]

    def _is_command(self) -> bool:
        serving = self._engine.serving
        return serving is not None and serving.server is not None and serving.server.settings == "flags"

    def _is_given(self, entry: str) -> bool:
        """Tell whether a flag is one that the command of the engine's file sets itself."""
        serving = self._engine.serving
        if serving is None or serving.server is None:
            return False
        own = {self._canonical(word) for word in serving.server.command.split() if word.startswith("-")}
        return self._canonical(_name(entry)) in own

    def _is_drafting(self, entry: str) -> bool:
        serving = self._engine.serving
        patterns: Sequence[str] = () if serving is None or serving.server is None else serving.server.drafting
        name = self._canonical(_name(entry))
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    def _canonical(self, name: str) -> str:
        return next((flag.name for flag in self._engine.flags if name in {flag.name, *flag.aliases}), name)

    def _model(self, file: str | None, name: str) -> str:
        """Return what a server is told to load: the file where the case names one, else the name."""
        if file is None or file.startswith(("http://", "https://")):
            return file or name
        path = Path(self._loaded.folder / file)
        return str(path.resolve()) if path.exists() else file


def _name(entry: str) -> str:
    return entry.split(maxsplit=1)[0].partition("=")[0] if entry.strip() else ""
