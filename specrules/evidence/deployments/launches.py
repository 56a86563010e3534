"""Processes to launches: words with places, configuration files that the file brings along, secrets masked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from specrules.evidence.deployments.expand import Expander
from specrules.evidence.deployments.json_nodes import read_json
from specrules.evidence.deployments.nodes import Budget, Malformed, Mapping, Node, flattened
from specrules.evidence.deployments.process import Process, base_name, file_named
from specrules.evidence.deployments.secrets import masked
from specrules.evidence.deployments.text import Text, place
from specrules.evidence.deployments.unfold import unfold
from specrules.evidence.deployments.yaml_nodes import Yaml
from specrules.model.deployment import ConfigDocument, Launch, Place, Word

MAX_LAUNCHES = 1000
MAX_WORDS = 5000
MAX_ALL_WORDS = 50_000
_DOCUMENT = re.compile(r"\.(?:ya?ml|json)$")


def launches_of(processes: Iterable[Process], expander: Expander) -> tuple[Launch, ...]:
    """The launches of a file's processes. Raises Malformed where there are more than can be read."""
    found: list[Launch] = []
    documents = Documents()
    words = 0
    for process in processes:
        for program in unfold(process, expander):
            if len(found) == MAX_LAUNCHES:
                msg = f"more than {MAX_LAUNCHES} commands: split the file"
                raise Malformed(msg, program.start)
            words += len(program.words) + len(program.environment)
            if words > MAX_ALL_WORDS:
                msg = f"more than {MAX_ALL_WORDS} words in all commands and environments: split the file"
                raise Malformed(msg, program.start)
            found.append(launch_of(program, documents))
    return masked(found)


class Documents:
    """Configuration files inside deployments, each read once however many processes see it."""

    def __init__(self) -> None:
        self._budget = Budget()
        self._read: dict[Text, ConfigDocument | None] = {}

    def of(self, process: Process) -> dict[str, ConfigDocument]:
        """The configuration files that the words name and the process brings along, by the path that is named."""
        found: dict[str, ConfigDocument] = {}
        for word in process.words if process.files else ():
            path = word.value.rpartition("=")[2] if word.value.startswith("-") else word.value
            text = file_named(process.files, path) if _DOCUMENT.search(path) else None
            if text is None or path in found:
                continue
            if text not in self._read:
                node = mapping_in(text, path, self._budget)
                self._read[text] = None if node is None else document_of(node)
            document = self._read[text]
            if document is not None:
                found[path] = document
        return found


def launch_of(process: Process, documents: Documents) -> Launch:
    """A process as a launch, secrets still in it."""
    if len(process.words) > MAX_WORDS:
        msg = f"a command with more than {MAX_WORDS} words"
        raise Malformed(msg, process.start)
    return Launch(
        name=process.name,
        format=process.format,
        place=place(process.source, process.start, max(process.end, process.start)),
        image=None if process.image is None else process.image.word(),
        command=tuple(text.word() for text in process.words),
        entrypoint=process.own_program,
        environment={name: item.value.word() for name, item in process.environment.items()},
        environment_places={
            name: place(process.source, item.key, item.key + len(name)) for name, item in process.environment.items()
        },
        documents=documents.of(process),
        packages={name: text.word() for name, text in process.packages.items()},
        gaps=process.gaps,
        doubtful=tuple(place(process.source, start, end) for start, end in process.doubtful),
        notes=process.notes,
    )


def document_of(node: Node) -> ConfigDocument:
    """A configuration file's values under dotted keys."""
    values: dict[str, Word] = {}
    places: dict[str, Place] = {}
    for route, key, text in flattened(node):
        if len(values) == MAX_WORDS:
            msg = f"a configuration of more than {MAX_WORDS} values"
            raise Malformed(msg, node.start)
        values[route] = text.word()
        if key is not None:
            places[route] = key.text.place()
    return ConfigDocument(values=values, places=places)


def mapping_in(text: Text, path: str, budget: Budget) -> Mapping | None:
    """The mapping that a YAML or JSON text holds, or None where it holds something else or cannot be read."""
    if base_name(path).endswith(".json"):
        try:
            node: Node | None = read_json(text)
        except Malformed:
            return None
    else:
        yaml = Yaml(text, budget)
        node = yaml.documents[0] if yaml.documents and yaml.problem is None else None
    return node if isinstance(node, Mapping) else None
