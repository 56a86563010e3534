"""Is speculative decoding worth deploying for this target, drafter and engine, against what runs today?

    specrules.triage(case) -> Verdict        a case file to its verdict
    specrules.gate(paths) -> GateReport      cases and deployments against a policy
    specrules.load_case(path) -> LoadedCase  a case file, checked
    specrules.Catalog.load(...) -> Catalog   engines, drafter classes, rules, from all layers

Names load when they are first used, so that importing the package stays instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from specrules.errors import SpecrulesError, UserError
from specrules.version import __version__

if TYPE_CHECKING:
    from specrules.catalog.case import LoadedCase, load_case
    from specrules.catalog.catalogue import Catalog
    from specrules.model.case import Case
    from specrules.model.finding import GateReport
    from specrules.model.verdict import Verdict
    from specrules.pipeline.gate import gate
    from specrules.pipeline.triage import triage

__all__ = [
    "Case",
    "Catalog",
    "GateReport",
    "LoadedCase",
    "SpecrulesError",
    "UserError",
    "Verdict",
    "__version__",
    "gate",
    "load_case",
    "triage",
]

_HOMES = {
    "Case": "specrules.model.case",
    "Catalog": "specrules.catalog.catalogue",
    "GateReport": "specrules.model.finding",
    "LoadedCase": "specrules.catalog.case",
    "Verdict": "specrules.model.verdict",
    "gate": "specrules.pipeline.gate",
    "load_case": "specrules.catalog.case",
    "triage": "specrules.pipeline.triage",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'specrules' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
