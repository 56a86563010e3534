"""A deployment file to the deployments in it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from specrules.catalog.catalogue import Catalog
from specrules.errors import Problem
from specrules.model.deployment import Deployment, Launch


@dataclass(frozen=True, slots=True)
class DeploymentReading:
    """What a file deploys, the launches in it that no engine recognises, and what could not be read."""

    format: str | None
    deployments: tuple[Deployment, ...] = ()
    others: tuple[Launch, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_deployments(path: str | os.PathLike[str], catalog: Catalog) -> DeploymentReading:
    """Read a deployment file and recognise its engines. What is wrong with the file is a value, not an error."""
    from specrules.catalog.launch_sections import launch_sections
    from specrules.evidence.deployments import read_launches
    from specrules.evidence.deployments.identify import identify
    from specrules.evidence.deployments.recognise import understood

    reading = read_launches(path)
    sections = launch_sections(catalog) if reading.launches else {}
    found = [(launch, identify(launch, sections)) for launch in reading.launches]
    return DeploymentReading(
        reading.format,
        tuple(
            understood(launch, identified, catalog.engine(identified.engine).model)
            for launch, identified in found
            if identified is not None
        ),
        tuple(launch for launch, identified in found if identified is None),
        reading.problems,
    )
