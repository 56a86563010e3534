"""Commands that run a container: `docker run`, `podman run`, `nerdctl run`, `apptainer exec`."""

from __future__ import annotations

import re
from dataclasses import replace

from specrules.evidence.deployments.process import Process, base_name
from specrules.evidence.deployments.shell import Assigned
from specrules.evidence.deployments.text import Text, unknown

_RUNTIMES = frozenset({"docker", "podman", "nerdctl"})
_IMAGE_RUNTIMES = frozenset({"apptainer", "singularity"})
_PREFIXES = frozenset({"sudo", "exec", "nohup", "time", "doas"})
_SWITCHES = re.compile(
    r"-[ditPq]+|--(?:detach|interactive|tty|publish-all|quiet|rm|init|privileged|read-only|no-healthcheck|sig-proxy"
    r"|oom-kill-disable|disable-content-trust|replace|rmi|no-hosts|no-hostname|tls-verify|http-proxy|use-api-socket"
    r"|env-host|passwd|rootfs)"
)
"""Options without a value. Every other option takes one."""

_IMAGE_SWITCHES = re.compile(
    r"-[cCe]|--(?:nv|rocm|contain|containall|cleanenv|no-home|writable|writable-tmpfs|fakeroot)"
)


def contained(process: Process) -> Process | None:
    """The process inside the container that the words run, or None where they run none."""
    words = list(process.words)
    while words and base_name(words[0].value) in _PREFIXES:
        words.pop(0)
        while words and words[0].value.startswith("-"):
            words.pop(0)
    program = base_name(words[0].value) if words else ""
    if program in _RUNTIMES:
        return _run(process, words[1:])
    return _image_run(process, words[1:]) if program in _IMAGE_RUNTIMES else None


def _run(process: Process, words: list[Text]) -> Process | None:
    while words and words[0].value.startswith("-"):
        words = words[1 if "=" in words[0].value else 2 :]
    if words and words[0].value == "container":
        words = words[1:]
    if not words or words[0].value not in ("run", "create"):
        return None
    options = _Options(words[1:])
    if options.image is None:
        return None
    inner = replace(process, image=options.image, environment={}, own_program=False, words=tuple(options.rest))
    if options.entrypoint is not None:
        inner = replace(inner, words=(options.entrypoint, *options.rest), own_program=True)
    inner = inner.with_environment(_environment(options.variables, process))
    for path in options.env_files:
        inner = inner.with_gap("environment", f"variables come from {path.value}", path.start)
    return inner


class _Options:
    """Sorts the words behind `run` into options, image and what the container runs."""

    def __init__(self, words: list[Text]) -> None:
        self.image: Text | None = None
        self.entrypoint: Text | None = None
        self.variables: list[Text] = []
        self.env_files: list[Text] = []
        at = 0
        while at < len(words) and (words[at].value.startswith("-") or not words[at].rendered):
            word = words[at]
            at += 1
            name, equals, _ = word.value.partition("=")
            if not word.value.startswith("-"):
                # A variable in place of options: what it holds is unknown, and the image comes later.
                continue
            if equals:
                self._take(name, word.cut(len(name) + 1, len(word.value)))
            elif not _SWITCHES.fullmatch(name) and at < len(words):
                self._take(name, words[at])
                at += 1
        if at < len(words):
            self.image = words[at]
        self.rest = words[at + 1 :]

    def _take(self, name: str, value: Text) -> None:
        if name in ("-e", "--env"):
            self.variables.append(value)
        elif name == "--env-file":
            self.env_files.append(value)
        elif name == "--entrypoint" and value.value:
            self.entrypoint = value


def _image_run(process: Process, words: list[Text]) -> Process | None:
    """`apptainer exec [OPTIONS] IMAGE COMMAND`, `apptainer run [OPTIONS] IMAGE ARGUMENTS`."""
    if not words or words[0].value not in ("run", "exec"):
        return None
    own_program = words[0].value == "exec"
    at = 1
    while at < len(words) and words[at].value.startswith("-"):
        at += 1 if "=" in words[at].value or _IMAGE_SWITCHES.fullmatch(words[at].value) else 2
    if at >= len(words):
        return None
    return replace(process, image=words[at], words=tuple(words[at + 1 :]), own_program=own_program)


def _environment(variables: list[Text], process: Process) -> dict[str, Assigned]:
    found: dict[str, Assigned] = {}
    for text in variables:
        name, equals, _ = text.value.partition("=")
        if equals:
            found[name] = Assigned(text.cut(len(name) + 1, len(text.value)), text.start)
        elif name in process.environment:
            found[name] = Assigned(process.environment[name].value, text.start)
        elif name:
            found[name] = Assigned(unknown(text), text.start)
    return found
