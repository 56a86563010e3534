"""Kubernetes manifests: every container of every object, also of kinds that nobody here has heard of.

A container is told by what it holds (a command or arguments beside an image, a name or variables), so a pod template
is found wherever a custom resource keeps it: KServe's predictors, the leader of a LeaderWorkerSet, the items of a List.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field

from specrules.catalog.document import Source
from specrules.evidence.deployments.expand import Expander, replaced
from specrules.evidence.deployments.nodes import (
    Documents,
    Mapping,
    Node,
    Scalar,
    Sequence,
    entries,
    items,
    texts,
    within,
)
from specrules.evidence.deployments.process import Process
from specrules.evidence.deployments.secrets import MASK
from specrules.evidence.deployments.shell import Assigned
from specrules.evidence.deployments.text import Text, place, unknown
from specrules.model.deployment import Gap, Part

FORMAT = "kubernetes"
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][\w.-]*)\)")
_BESIDE = ("image", "env", "envFrom", "resources", "modelFormat", "ports", "name", "storageUri", "runtime")
_NO_PODS = frozenset({"ConfigMap", "Secret", "Service", "Ingress", "Role", "ClusterRole", "CustomResourceDefinition"})


@dataclass
class _Maps:
    """ConfigMaps and Secrets of the file, by kind and name: their values, and those of a file for each key."""

    values: dict[tuple[str, str], dict[str, tuple[Scalar, Text]]] = field(default_factory=dict)

    def add(self, kind: str, document: Mapping) -> None:
        """Take the data of a ConfigMap or Secret. What a Secret holds in base64 is not decoded."""
        name = document.value("metadata", "name")
        found: dict[str, tuple[Scalar, Text]] = {}
        for group in ("data", "stringData"):
            for key, value in entries(document.get(group)):
                if isinstance(value, Scalar):
                    found[key.text.value] = (key, unknown(value.text, MASK) if kind == "Secret" else value.text)
        self.values[kind, name] = found


def is_kubernetes(node: Node) -> bool:
    """Whether a document is an object of Kubernetes."""
    return isinstance(node, Mapping) and node.text("kind") is not None and node.text("apiVersion") is not None


def kubernetes_processes(source: Source, yaml: Documents, expander: Expander) -> Iterator[Process]:
    """The containers of all objects of a file. Objects may name ConfigMaps that stand in other documents of it."""
    documents = yaml.documents
    objects = [document for node in documents for document in _objects(node)]
    maps = _Maps()
    for document in objects:
        kind = document.value("kind")
        if kind in ("ConfigMap", "Secret"):
            maps.add(kind, document)
    for document in objects:
        if document.value("kind") not in _NO_PODS:
            reader = _Object(source, document, maps, yaml, expander)
            yield from reader.processes()


def _objects(node: Node, depth: int = 0) -> Iterator[Mapping]:
    """The object, or those of a List."""
    if not isinstance(node, Mapping):
        return
    if node.value("kind").endswith("List") and depth < 4:
        for item in items(node.get("items")):
            yield from _objects(item, depth + 1)
    else:
        yield node


class _Object:
    """Finds the containers of one object."""

    def __init__(
        self,
        source: Source,
        document: Mapping,
        maps: _Maps,
        yaml: Documents,
        expander: Expander,
    ) -> None:
        self._source = source
        self._document = document
        self._maps = maps
        self._yaml = yaml
        self._expander = expander
        kind, name = document.value("kind") or "object", document.value("metadata", "name")
        self._label = f"{kind}/{name}" if name else kind

    def processes(self) -> Iterator[Process]:
        """Every container, in the order of the file."""
        for container, pod in _containers(self._document, None):
            yield self._process(container, pod)

    def _process(self, container: Mapping, pod: Mapping | None) -> Process:
        name = container.value("name")
        environment, gaps = self._environment(container)
        words = [self._resolved(text, environment) for text in _arguments(container, "command")]
        own_program = bool(words)
        words += [self._resolved(text, environment) for text in _arguments(container, "args")]
        image = container.text("image")
        end = image.at(len(image.value)) if image is not None else container.start
        line = next(iter(within(self._yaml.template_lines, container)), None)
        if line is not None:
            where = place(self._source, *line)
            gaps += [Gap(of=part, why="a template that nobody rendered", place=where) for part in _PARTS]
        return Process(
            name=f"{self._label}, container {name}" if name else self._label,
            format=FORMAT,
            source=self._source,
            start=container.start,
            end=end,
            image=image,
            words=tuple(words),
            own_program=own_program,
            environment=environment,
            files=self._files(container, pod),
            gaps=tuple(gaps),
            doubtful=within(self._yaml.doubtful, container),
        )

    def _environment(self, container: Mapping) -> tuple[dict[str, Assigned], list[Gap]]:
        """Variables in the order in which they count, and what could not be followed."""
        found: dict[str, Assigned] = {}
        gaps: list[Gap] = []
        for item in items(container.get("envFrom")):
            self._take_all(item, found, gaps)
        for item in items(container.get("env")):
            name = item.text("name") if isinstance(item, Mapping) else None
            if not isinstance(item, Mapping) or name is None:
                continue
            if not name.rendered:
                gaps.append(self._gap("environment", "a variable whose name nobody rendered", name))
                continue
            value = item.get("value")
            if isinstance(value, Scalar):
                found[name.value] = Assigned(self._resolved(value.text, found), name.start)
            elif value is None and item.get("valueFrom") is None:
                found[name.value] = Assigned(name.cut(0, 0), name.start)
            else:
                found[name.value] = Assigned(self._value_from(item, name), name.start)
        return found, gaps

    def _take_all(self, item: Node, found: dict[str, Assigned], gaps: list[Gap]) -> None:
        """All keys of a ConfigMap or Secret as variables."""
        if not isinstance(item, Mapping):
            return
        prefix = item.value("prefix")
        for reference, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            name = item.text(reference, "name")
            if name is None:
                continue
            values = self._maps.values.get((kind, name.value))
            if values is None or not name.rendered:
                gaps.append(self._gap("environment", f"variables come from a {kind} that is not in this file", name))
                continue
            for key, text in values.values():
                found[prefix + key.text.value] = Assigned(text, key.start)

    def _value_from(self, item: Mapping, name: Text) -> Text:
        key = item.text("valueFrom", "configMapKeyRef", "key")
        owner = item.value("valueFrom", "configMapKeyRef", "name")
        entry = self._maps.values.get(("ConfigMap", owner), {}).get(key.value) if key is not None else None
        return entry[1] if entry is not None else unknown(key or name)

    def _resolved(self, text: Text, environment: AnyMapping[str, Assigned]) -> Text:
        """`$(NAME)` filled in with a variable of the container; `$$` is a dollar."""
        if "$" not in text.value:
            return text

        def value(match: re.Match[str]) -> Text | str | None:
            if match.group(1) is None:
                return "$"
            known = environment.get(match.group(1))
            return None if known is None else known.value

        return replaced(text, _REFERENCE, value, self._expander)

    def _files(self, container: Mapping, pod: Mapping | None) -> dict[str, Text]:
        """The values of ConfigMaps under the paths where the container sees them."""
        if pod is None:
            return {}
        volumes = {item.value("name"): item for item in items(pod.get("volumes")) if isinstance(item, Mapping)}
        found: dict[str, Text] = {}
        for mount in items(container.get("volumeMounts")):
            volume = volumes.get(mount.value("name")) if isinstance(mount, Mapping) else None
            if volume is None or not isinstance(mount, Mapping):
                continue
            values = self._maps.values.get(("ConfigMap", volume.value("configMap", "name")), {})
            renamed = {
                item.value("key"): item.value("path")
                for item in items(volume.get("configMap", "items"))
                if isinstance(item, Mapping)
            }
            folder, only = mount.value("mountPath").rstrip("/"), mount.value("subPath")
            for key, (_, text) in values.items():
                path = renamed.get(key, key) if renamed else key
                if only == path:
                    found[folder] = text
                elif not only:
                    found[f"{folder}/{path}"] = text
        return found

    def _gap(self, of: Part, why: str, text: Text) -> Gap:
        return Gap(of=of, why=why, place=text.place())


_PARTS: tuple[Part, ...] = ("command", "environment")


def _arguments(container: Mapping, key: str) -> list[Text]:
    """A list of words, or one text, which a careless manifest has in its place."""
    node = container.get(key)
    if isinstance(node, Scalar):
        return [] if node.is_null else [node.text]
    return texts(node)


def _containers(node: Node, pod: Mapping | None) -> Iterator[tuple[Mapping, Mapping | None]]:
    """Every container below a node with the mapping that holds the volumes that it mounts."""
    if isinstance(node, Mapping):
        if isinstance(node.get("volumes"), Sequence):
            pod = node
        if _is_container(node):
            yield node, pod
        for key, value in entries(node):
            if key.text.value not in ("metadata", "status", "ephemeralContainers"):
                yield from _containers(value, pod)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _containers(item, pod)


def _is_container(node: Mapping) -> bool:
    words = [node.get(key) for key in ("command", "args")]
    has_words = any(
        isinstance(item, Scalar) or (isinstance(item, Sequence) and texts(item)) for item in words if item is not None
    )
    if has_words:
        return any(key in node.entries for key in _BESIDE)
    return node.text("image") is not None and node.text("name") is not None
