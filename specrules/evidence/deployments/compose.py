"""Docker compose: every service, with what it extends inside the file, and its configs with their content."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specrules.catalog.document import Source
from specrules.evidence.deployments.expand import Expander, replaced
from specrules.evidence.deployments.nodes import Mapping, Node, Scalar, Sequence, entries, items
from specrules.evidence.deployments.process import Process
from specrules.evidence.deployments.shell import Assigned
from specrules.evidence.deployments.split import split_words
from specrules.evidence.deployments.text import Text, unknown
from specrules.model.deployment import Part

FORMAT = "compose"
MAX_EXTENDS = 8
_INTERPOLATED = re.compile(r"\$\$|\$\{[^}]*\}|\$[A-Za-z_]\w*")


def is_compose(node: Node) -> bool:
    """Whether a document is a compose file."""
    services = node.get("services") if isinstance(node, Mapping) else None
    return isinstance(services, Mapping) and any(isinstance(item, Mapping) for _, item in entries(services))


def compose_processes(source: Source, document: Mapping, expander: Expander) -> Iterator[Process]:
    """The services of a file. What compose takes from its own environment or from `.env` is unknown."""
    reader = _Services(source, document, expander)
    for key, service in entries(document.get("services")):
        if isinstance(service, Mapping):
            yield reader.process(key, service)


class _Services:
    """Reads services, and finds what they share."""

    def __init__(self, source: Source, document: Mapping, expander: Expander) -> None:
        self._source = source
        self._services = document.get("services")
        self._configs = document.get("configs")
        self._expander = expander

    def process(self, key: Scalar, service: Mapping) -> Process:
        """A service as a process."""
        chain = self._chain(service)
        image = _first(chain, "image")
        program = self._words(_first(chain, "entrypoint"))
        environment: dict[str, Assigned] = {}
        for item in reversed(chain):
            environment |= self._environment(item.get("environment"))
        process = Process(
            name=f"service {key.text.value}",
            format=FORMAT,
            source=self._source,
            start=key.start,
            end=key.start + len(key.text.value),
            image=self._text(image.text) if isinstance(image, Scalar) else None,
            words=(*program, *self._words(_first(chain, "command"))),
            own_program=bool(program),
            environment=environment,
            files=self._files(_first(chain, "configs")),
        )
        for item in chain:
            env_file, other = item.get("env_file"), item.get("extends")
            if env_file is not None:
                process = process.with_gap("environment", "variables come from an env_file", env_file.start)
            if isinstance(other, Mapping) and other.get("file") is not None:
                for part in _PARTS:
                    process = process.with_gap(part, "the service extends one of another file", other.start)
        return process

    def _chain(self, service: Mapping) -> list[Mapping]:
        """The service and those that it extends inside the file, nearest first."""
        chain = [service]
        while len(chain) < MAX_EXTENDS:
            extends = chain[-1].get("extends")
            name = extends.text.value if isinstance(extends, Scalar) else ""
            if isinstance(extends, Mapping) and extends.get("file") is None:
                name = extends.value("service")
            parent = self._services.get(name) if isinstance(self._services, Mapping) and name else None
            if not isinstance(parent, Mapping) or parent in chain:
                break
            chain.append(parent)
        return chain

    def _text(self, text: Text) -> Text:
        """`${NAME}` and `$NAME` come from where compose runs; `$$` is a dollar."""
        if "$" not in text.value:
            return text
        return replaced(text, _INTERPOLATED, lambda match: "$" if match.group() == "$$" else None, self._expander)

    def _words(self, node: Node | None) -> list[Text]:
        """A list of words, or one text that is split as a shell would, with nothing else of a shell in it."""
        if isinstance(node, Sequence):
            return [self._text(item.text) for item in node.items if isinstance(item, Scalar)]
        if not isinstance(node, Scalar) or node.is_null:
            return []
        return split_words(self._text(node.text))

    def _environment(self, node: Node | None) -> dict[str, Assigned]:
        """`NAME: value`, or a list of `NAME=value`. A name alone takes the value from where compose runs."""
        found: dict[str, Assigned] = {}
        for key, value in entries(node):
            given = isinstance(value, Scalar) and not value.is_null
            text = self._text(value.text) if isinstance(value, Scalar) and given else unknown(key.text)
            found[key.text.value] = Assigned(text, key.start)
        for item in items(node):
            if isinstance(item, Scalar):
                name, equals, _ = item.text.value.partition("=")
                cut = item.text.cut(len(name) + 1, len(item.text.value))
                found[name] = Assigned(self._text(cut) if equals else unknown(item.text), item.start)
        return found

    def _files(self, node: Node | None) -> dict[str, Text]:
        """Configs with inline content, under the path where the service sees them."""
        found: dict[str, Text] = {}
        for item in items(node):
            name = item.text.value if isinstance(item, Scalar) else ""
            target = ""
            if isinstance(item, Mapping):
                name, target = item.value("source"), item.value("target")
            config = self._configs.get(name) if isinstance(self._configs, Mapping) else None
            content = config.text("content") if isinstance(config, Mapping) else None
            if content is not None:
                found[target or f"/{name}"] = self._text(content)
        return found


_PARTS: tuple[Part, ...] = ("command", "environment")


def _first(chain: list[Mapping], key: str) -> Node | None:
    return next((found for item in chain if (found := item.get(key)) is not None), None)
