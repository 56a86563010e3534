"""What a Prometheus server shall record and watch once a verdict was acted on."""

from __future__ import annotations

from pydantic import Field

from specrules.model.base import Many, Model


class Record(Model):
    """A series that is computed from others: `name` and the query that gives it."""

    name: str
    query: str
    doc: str


class Alert(Model):
    """A query that gives something where somebody shall be told."""

    name: str
    query: str
    summary: str
    description: str


class Watch(Model):
    """Everything that is recorded and watched for one case. Lengths of time are those of Prometheus."""

    case: str
    engine: str
    draft_length: int
    title: str
    patience: str = Field(description="how long an alert has to hold before it is raised")
    records: Many[Record]
    alerts: Many[Alert]
    remarks: Many[str] = ()
