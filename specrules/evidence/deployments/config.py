"""Configuration files of an engine itself, YAML or JSON: their keys become settings once an engine knows them."""

from __future__ import annotations

from specrules.catalog.document import Source
from specrules.evidence.deployments.launches import document_of
from specrules.evidence.deployments.nodes import Documents, Mapping, Node, within
from specrules.evidence.deployments.text import place
from specrules.model.deployment import Gap, Launch

FORMAT = "config"


def config_launch(source: Source, document: Node, yaml: Documents) -> Launch | None:
    """A document as a launch without a command, or None where it is no mapping."""
    if not isinstance(document, Mapping) or not document.entries:
        return None
    first = next(iter(document.entries.values()))[0]
    lines = within(yaml.template_lines, document)[:1]
    gaps = tuple(
        Gap(of="config", why="a template that nobody rendered", place=place(source, start, end)) for start, end in lines
    )
    return Launch(
        name="configuration",
        format=FORMAT,
        place=place(source, first.start, first.start + len(first.text.value)),
        config=document_of(document),
        gaps=gaps,
        doubtful=tuple(place(source, start, end) for start, end in within(yaml.doubtful, document)),
    )
