"""Looks through what stands around a program: `env`, shells with scripts, and commands that run containers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from specrules.evidence.deployments.containers import contained
from specrules.evidence.deployments.expand import Expander
from specrules.evidence.deployments.process import Process, base_name, file_named
from specrules.evidence.deployments.shell import Assigned, read_script
from specrules.evidence.deployments.text import Text, joined

MAX_NESTING = 4
SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"})
WRAPPERS = re.compile(
    r"exec|nohup|setsid|time|command|builtin|nice|ionice|chrt|stdbuf|timeout|numactl|taskset|prlimit|sudo|doas|env|chroot"
    r"|tini|dumb-init|catatonit|su-exec|gosu|setpriv|unbuffer|xvfb-run|systemd-run|systemd-inhibit|nsenter|unshare|flock"
    r"|conda|mamba|micromamba|uv|uvx|pipx|poetry|pixi|rye|hatch|pdm|direnv|dotenv|doppler|op|chamber|vault"
    r"|torchrun|mpirun|mpiexec|srun|accelerate|trtllm-llmapi-launch|opentelemetry-instrument"
    r"|nsys|ncu|rocprof|rocprofv3|perf|strace|ltrace|gdb|compute-sanitizer|script|retry|tmux|screen"
)
"""Programs that run the program that is named behind their own options."""

_TAKES_TEXT = frozenset({"tmux", "screen", "ssh", "su", "runuser", "script", "watch"})
"""Programs that take a command as one text."""

_COMMAND_OPTION = re.compile(r"-[a-zA-Z]*c")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=")
_SCRIPT = re.compile(r"\.(?:sh|bash|bat|ps1)$")


def unfold(process: Process, expander: Expander, depth: int = 0) -> Iterator[Process]:
    """The programs that a process really starts: one, or those of the script that its shell runs."""
    if process.script is not None:
        yield from _commands(replace(process, script=None), process.script, expander, depth)
        return
    if process.words and base_name(process.words[0].value) in SHELLS:
        # An image without an entrypoint runs its arguments.
        process = replace(process, own_program=True)
    process = _without_env(process)
    if not process.words or not process.own_program:
        yield process
        return
    if depth >= MAX_NESTING:
        yield process.with_gap("command", "commands inside commands are nested too deeply to be followed")
        return
    container = contained(process)
    if container is not None:
        yield from unfold(container, expander, depth + 1)
        return
    script = _script_of(process)
    if script is None:
        yield process
        return
    yield from _commands(process, script, expander, depth)


def _commands(process: Process, script: Text, expander: Expander, depth: int) -> Iterator[Process]:
    """What a script starts, command by command."""
    read = read_script(script, process.environment, expander)
    base = replace(process, files={**process.files, **read.files}, packages={**process.packages, **read.packages})
    for path in read.sourced:
        base = base.with_gap("environment", f"variables come from {path.value}", path.start)
    if read.cut_off:
        base = base.with_gap("command", "the script has more commands than are read", script.start)
    for command in read.commands:
        first = command.words[0]
        child = replace(base, words=command.words, environment=command.environment, start=first.start, end=command.end)
        yield from unfold(child, expander, depth + 1)


def _without_env(process: Process) -> Process:
    """Take `env NAME=value` and plain `NAME=value` from the front of the words."""
    words = list(process.words)
    more: dict[str, Assigned] = {}
    if not process.own_program:
        return process
    if words and base_name(words[0].value) == "env":
        words.pop(0)
        while words and words[0].value.startswith("-"):
            option = words.pop(0).value
            if option in ("-u", "--unset", "-C", "--chdir") and words:
                words.pop(0)
            elif option in ("-S", "--split-string"):
                break
    elif not (words and _VARIABLE.match(words[0].value)):
        return process
    while words and (found := _VARIABLE.match(words[0].value)) is not None:
        word = words.pop(0)
        more[found.group(1)] = Assigned(word.cut(found.end(), len(word.value)), word.start)
    return replace(process, words=tuple(words)).with_environment(more)


def _script_of(process: Process) -> Text | None:
    """The text that is run as a script: the one behind `-c` or `eval`, or a file that the deployment brings along."""
    program = base_name(process.words[0].value)
    if program == "eval":
        return joined(process.source, process.words[1:], " ")
    if program in _TAKES_TEXT:
        return next((word for word in process.words[1:] if " " in word.value), None)
    at = _shell(process.words)
    if at is None:
        first = process.words[0]
        return file_named(process.files, first.value) if _SCRIPT.search(first.value) else None
    rest = process.words[at + 1 :]
    for index, word in enumerate(rest):
        if _COMMAND_OPTION.fullmatch(word.value) and index + 1 < len(rest):
            return rest[index + 1]
        if not word.value.startswith(("-", "+")) and not (index and rest[index - 1].value in ("-o", "+o", "-O")):
            return file_named(process.files, word.value)
    return None


def _shell(words: tuple[Text, ...]) -> int | None:
    """Where the shell stands that runs a script, behind wrappers such as `tini --`."""
    if base_name(words[0].value) in SHELLS:
        return 0
    if not WRAPPERS.fullmatch(base_name(words[0].value)):
        return None
    for index, word in enumerate(words[:-1]):
        if index and base_name(word.value) in SHELLS and words[index + 1].value.startswith("-"):
            return index
    return None
