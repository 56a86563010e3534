"""Cases and deployments against a policy: `gate` judges files and says what a CI run needs to know."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from specrules.catalog.catalogue import Catalog
from specrules.model.finding import GateReport


def gate(
    paths: Sequence[str | os.PathLike[str]],
    *,
    catalog: Catalog | None = None,
    waivers: str | os.PathLike[str] | None = None,
    case: str | os.PathLike[str] | None = None,
    now: datetime | None = None,
) -> GateReport:
    """Judge every file by the policy of the catalogue, and lay the waivers over what was found.

    `case` gives the numbers to deployments that have no file NAME.specrules.yaml beside them. A file that cannot be
    read is an error of the report; UserError is raised for a catalogue, policy or waiver file that does not load.
    """
    raise NotImplementedError
