"""A deployment file to the launches in it: the format is told from name and content."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from specrules.catalog.document import Source
from specrules.errors import Location, Problem, UserError
from specrules.evidence.deployments import compose, config, dockerfile, kubernetes, llama_swap, preset, systemd
from specrules.evidence.deployments.expand import Expander
from specrules.evidence.deployments.json_nodes import read_json
from specrules.evidence.deployments.launches import launches_of
from specrules.evidence.deployments.nodes import Budget, Documents, Malformed, size
from specrules.evidence.deployments.nodes import Mapping as MappingNode
from specrules.evidence.deployments.process import Process, base_name
from specrules.evidence.deployments.secrets import masked, masked_text
from specrules.evidence.deployments.text import whole
from specrules.evidence.deployments.yaml_nodes import Yaml
from specrules.evidence.source import STDIN, STDIN_NAME, read_source
from specrules.model.deployment import Launch

MAX_BYTES = 1 << 20

_BY_NAME = (
    (re.compile(r"(?i)^(?:dockerfile|containerfile)|\.(?:dockerfile|containerfile)$"), "dockerfile"),
    (re.compile(r"(?i)\.(?:service|container)$"), "systemd"),
    (re.compile(r"(?i)\.(?:sh|bash|zsh|ksh|command)$"), "shell"),
    (re.compile(r"(?i)\.ini$"), "preset"),
    (re.compile(r"(?i)\.json$"), "json"),
    (re.compile(r"(?i)\.(?:ya?ml|tpl)$"), "yaml"),
)
_YAML = re.compile(r"(?m)^(?:---|apiVersion\s*:|services\s*:|models\s*:|[A-Za-z_][\w-]*\s*:(?:\s|$))")
_DOCKERFILE = re.compile(r"(?i)(?:\s*#[^\n]*\n|\s*\n|\s*ARG\s[^\n]*\n)*\s*FROM\s+\S")


@dataclass(frozen=True, slots=True)
class LaunchReading:
    """The processes that a file starts, and what in it could not be read. Both may hold something.

    `format` is None where nobody can tell what the file is.
    """

    format: str | None
    launches: tuple[Launch, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_launches(path: str | os.PathLike[str], format: str | None = None) -> LaunchReading:  # noqa: A002
    """Read a file. Nothing is raised for a file that is wrong: its problems are values, so that others go on."""
    shown = os.fspath(path)
    try:
        source = read_source(shown)
    except UserError as error:
        return LaunchReading(format, problems=error.problems)
    return read_launches_text(source.text, STDIN_NAME if shown == STDIN else shown, format)


def read_launches_text(text: str, path: str, format: str | None = None) -> LaunchReading:  # noqa: A002
    """Read the text of a file that is shown as `path`."""
    if len(text) > MAX_BYTES:
        problem = Problem(f"larger than {MAX_BYTES >> 20} MiB", Location(path))
        return LaunchReading(format, problems=(problem,))
    source = Source(path, text.removeprefix("\ufeff"))
    kind = format or _kind(source)
    reader = READERS.get(kind)
    if reader is None:
        return LaunchReading(None, problems=(Problem(f"no deployment format {kind!r}", Location(path)),))
    try:
        return reader(source)
    except Malformed as problem:
        return LaunchReading(kind, problems=(_problem(source, problem),))


def _kind(source: Source) -> str:
    """The reader for a file: by its name, or by what stands in it."""
    name = base_name(source.path)
    named = next((kind for pattern, kind in _BY_NAME if pattern.search(name)), None)
    if named is not None:
        return named
    text = source.text
    if text.startswith("#!"):
        return "shell"
    if text.lstrip().startswith("{"):
        return "json"
    if systemd.looks_like_unit(text):
        return "systemd"
    if preset.looks_like_preset(text):
        return "preset"
    if _DOCKERFILE.match(text):
        return "dockerfile"
    return "yaml" if _YAML.search(text) else "shell"


def _problem(source: Source, problem: Malformed) -> Problem:
    """A problem with its place, without the line it stands on: that may hold a secret."""
    return Problem(masked_text(problem.message), source.location(min(problem.offset, len(source.text))))


def _shell(source: Source) -> LaunchReading:
    text = whole(source)
    process = Process(name=base_name(source.path), format="shell", source=source, start=0, end=0, script=text)
    return LaunchReading("shell", launches_of([process], Expander()))


def _systemd(source: Source) -> LaunchReading:
    expander = Expander()
    return LaunchReading(systemd.FORMAT, launches_of(systemd.systemd_processes(source, expander), expander))


def _dockerfile(source: Source) -> LaunchReading:
    expander = Expander()
    return LaunchReading(dockerfile.FORMAT, launches_of(dockerfile.dockerfile_processes(source, expander), expander))


def _preset(source: Source) -> LaunchReading:
    return LaunchReading(preset.FORMAT, masked(preset.preset_launches(source)))


def _yaml(source: Source) -> LaunchReading:
    yaml = Yaml(whole(source))
    problems = () if yaml.problem is None else (_problem(source, yaml.problem),)
    format, launches = _documents(source, Documents(yaml.documents, yaml.template_lines, yaml.doubtful))  # noqa: A001
    return LaunchReading(format, launches, problems)


def _json(source: Source) -> LaunchReading:
    node = read_json(whole(source))
    size(node, Budget())
    format, launches = _documents(source, Documents([node]))  # noqa: A001
    return LaunchReading(format, launches)


def _documents(source: Source, yaml: Documents) -> tuple[str, tuple[Launch, ...]]:
    """What the documents of a YAML or JSON file are, and their launches."""
    expander, documents = Expander(), yaml.documents
    if any(kubernetes.is_kubernetes(node) for node in documents):
        processes = kubernetes.kubernetes_processes(source, yaml, expander)
        return kubernetes.FORMAT, launches_of(processes, expander)
    found: list[Process] = []
    format = config.FORMAT  # noqa: A001
    for node in documents:
        if compose.is_compose(node) and isinstance(node, MappingNode):
            format = compose.FORMAT  # noqa: A001
            found += compose.compose_processes(source, node, expander)
        elif llama_swap.is_llama_swap(node) and isinstance(node, MappingNode):
            format = llama_swap.FORMAT  # noqa: A001
            found += llama_swap.llama_swap_processes(source, node, expander)
    if found:
        return format, launches_of(found, expander)
    launches = [config.config_launch(source, node, yaml) for node in documents]
    return format, masked(launch for launch in launches if launch is not None)


READERS: Mapping[str, Callable[[Source], LaunchReading]] = {
    "shell": _shell,
    "systemd": _systemd,
    "dockerfile": _dockerfile,
    "preset": _preset,
    "yaml": _yaml,
    "json": _json,
}
"""Readers by the kind of file. Kubernetes, compose, llama-swap and configurations are told apart by their keys."""
