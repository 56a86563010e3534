"""Prompts to measure with: the sets that ship, and files of users."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from specrules.catalog.datadir import builtin
from specrules.catalog.located import MAX_BYTES, read_document
from specrules.catalog.schema_version import schema_problems
from specrules.catalog.validate import check
from specrules.errors import LoadError, Location, Problem, UsageError, did_you_mean
from specrules.model.prompt import Prompt, PromptFile

KIND = "prompts"
MAX_PROMPTS = 10_000
_TEXTS = ("prompt", "text", "question", "instruction", "input")


@dataclass(frozen=True, slots=True)
class Ask:
    """One prompt of one set: what is sent, and under which name its samples stand."""

    id: str
    task: str
    text: str
    system: str = ""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as a conversation."""
        start = [{"role": "system", "content": self.system}] if self.system else []
        return [*start, {"role": "user", "content": self.text}]


def tasks() -> tuple[str, ...]:
    """Return the tasks for which prompts ship."""
    return tuple(sorted({item.task for item in _shipped()}))


def shipped(wanted: Sequence[str] = ()) -> tuple[Ask, ...]:
    """Return the prompts that ship, of some tasks or of all, the tasks taking turns. UsageError for a task without."""
    sets = _shipped()
    known = tasks()
    for task in wanted:
        if task not in known:
            message = f"no prompts for the task {task!r}; they ship for {', '.join(known)}"
            raise UsageError(Problem(message, hint=did_you_mean(task, known)))
    return in_turns(item for item in sets if not wanted or item.task in wanted)


def from_files(files: Iterable[str | Path]) -> tuple[Ask, ...]:
    """Return the prompts of files, the files taking turns: YAML as it ships, or JSONL with a prompt a line.

    LoadError with the problems of all files.
    """
    sets: list[PromptFile] = []
    problems: list[Problem] = []
    for file in files:
        path = Path(file)
        try:
            data = path.read_bytes()
        except OSError as error:
            problems.append(Problem(f"cannot be read: {error.strerror or error}", Location(str(path))))
            continue
        found, more = _from_lines(data, path) if path.suffix in {".jsonl", ".ndjson"} else _from_yaml(data, str(path))
        problems += more
        sets += [] if found is None else [found]
    if problems:
        raise LoadError(problems)
    return in_turns(sets)


def in_turns(sets: Iterable[PromptFile]) -> tuple[Ask, ...]:
    """Return the prompts of all sets, one of each after the other, so that the first few are of every kind."""
    columns = [
        [Ask(f"{item.id}/{prompt.id}", item.task, prompt.text, prompt.system) for prompt in item.prompts]
        for item in sets
    ]
    return tuple(ask for row in zip_longest(*columns) for ask in row if ask is not None)


def _shipped() -> tuple[PromptFile, ...]:
    folder = builtin(KIND)
    files = sorted((item for item in folder.iterdir() if item.name.endswith(".yaml")), key=lambda item: item.name)
    loaded = [_from_yaml(item.read_bytes(), f"{KIND}/{item.name}") for item in files]
    problems = [problem for _, found in loaded for problem in found]
    if problems:
        raise LoadError(problems)
    return tuple(item for item, _ in loaded if item is not None)


def _from_yaml(data: bytes, path: str) -> tuple[PromptFile | None, list[Problem]]:
    document = read_document(data[: MAX_BYTES + 1], path)
    problems = list(document.problems or schema_problems(document))
    return (None, problems) if problems else check(document, PromptFile)


def _from_lines(data: bytes, path: Path) -> tuple[PromptFile | None, list[Problem]]:
    """Read a line each: a text, or a conversation of which the last words of the user are taken."""
    prompts: list[Prompt] = []
    problems: list[Problem] = []
    for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            problems.append(Problem("this line is no JSON", Location(str(path), number)))
            continue
        system, text = _texts(item)
        if not text:
            keys = ", ".join((*_TEXTS, "messages", "turns"))
            problems.append(Problem(f"no prompt here: one of {keys}", Location(str(path), number)))
        elif len(prompts) < MAX_PROMPTS:
            prompts.append(Prompt(id=f"line-{number}", text=text, system=system))
    if problems or not prompts:
        return None, problems or [Problem("the file holds no prompts", Location(str(path)))]
    name = "".join(char if char.isalnum() else "-" for char in path.stem.lower()).strip("-") or "prompts"
    return PromptFile(schema=1, id=name[:64], task=name[:64], title=path.name, prompts=tuple(prompts)), []


def _texts(item: Any) -> tuple[str, str]:
    """Return system and user text of a line."""
    if isinstance(item, str):
        return "", item
    if not isinstance(item, dict):
        return "", ""
    said = list(_said(item.get("messages") or item.get("conversations")))
    if said:
        system = next((text for role, text in said if role == "system"), "")
        return system, next((text for role, text in reversed(said) if role == "user"), "")
    turns = item.get("turns")
    if isinstance(turns, list) and turns and isinstance(turns[0], str):
        return "", turns[0]
    return "", next((item[key] for key in _TEXTS if isinstance(item.get(key), str)), "")


def _said(messages: Any) -> Iterator[tuple[str, str]]:
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            role, text = message.get("role") or message.get("from"), message.get("content") or message.get("value")
            if isinstance(text, str):
                yield ("user" if role in {"user", "human"} else str(role)), text
