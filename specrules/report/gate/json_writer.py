"""A gate run as the published JSON."""

from __future__ import annotations

import json

from specrules.model.finding import GateReport
from specrules.report.gate.options import Options


def to_json(report: GateReport, _options: Options) -> str:
    """Return the model, field for field. `schemas/gate.json` describes it."""
    return json.dumps(report.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False) + "\n"
