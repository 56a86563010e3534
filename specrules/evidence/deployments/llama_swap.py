"""Configurations of llama-swap: the command of every model, with macros filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from specrules.catalog.document import Source
from specrules.evidence.deployments.expand import Expander, replaced
from specrules.evidence.deployments.nodes import Mapping as MappingNode
from specrules.evidence.deployments.nodes import Node, Scalar, entries, items
from specrules.evidence.deployments.process import Process
from specrules.evidence.deployments.shell import Assigned
from specrules.evidence.deployments.split import split_words
from specrules.evidence.deployments.text import Text, unknown

FORMAT = "llama-swap"
MAX_NESTING = 4
_MACRO = re.compile(r"\$\{([\w.-]+)\}")


def is_llama_swap(node: Node) -> bool:
    """Whether a document has models with commands."""
    models = node.get("models") if isinstance(node, MappingNode) else None
    return any(isinstance(model, MappingNode) and model.text("cmd") is not None for _, model in entries(models))


def llama_swap_processes(source: Source, document: MappingNode, expander: Expander) -> Iterator[Process]:
    """The commands of the models. `${PORT}` and what no macro defines stay unknown."""
    common = _macros(document)
    for key, model in entries(document.get("models")):
        command = model.text("cmd") if isinstance(model, MappingNode) else None
        if command is None or not isinstance(model, MappingNode):
            continue
        macros = {**common, **_macros(model)}
        filled = _filled(command, macros, expander)
        yield Process(
            name=f"model {key.text.value}",
            format=FORMAT,
            source=source,
            start=key.start,
            end=key.start + len(key.text.value),
            words=tuple(split_words(filled, comments=True)),
            environment=_environment(model, macros, expander),
        )


def _macros(node: MappingNode) -> dict[str, Text]:
    """Macros are a mapping, or a list of mappings where their order matters."""
    macros = node.get("macros")
    groups = [macros, *items(macros)]
    return {
        key.text.value: value.text
        for group in groups
        for key, value in entries(group)
        if isinstance(value, Scalar) and not value.is_null
    }


def _filled(text: Text, macros: Mapping[str, Text], expander: Expander, depth: int = 0) -> Text:
    if "${" not in text.value:
        return text
    if depth > MAX_NESTING:
        return unknown(text)

    def value(match: re.Match[str]) -> Text | str | None:
        macro = macros.get(match.group(1))
        return None if macro is None else _filled(macro, macros, expander, depth + 1)

    return replaced(text, _MACRO, value, expander)


def _environment(model: MappingNode, macros: Mapping[str, Text], expander: Expander) -> dict[str, Assigned]:
    found: dict[str, Assigned] = {}
    for item in items(model.get("env")):
        if isinstance(item, Scalar):
            name, equals, _ = item.text.value.partition("=")
            if equals:
                value = item.text.cut(len(name) + 1, len(item.text.value))
                found[name] = Assigned(_filled(value, macros, expander), item.start)
    return found
