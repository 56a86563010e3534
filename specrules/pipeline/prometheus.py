"""A range of time on a Prometheus server to its facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from specrules.catalog.catalogue import Catalog
from specrules.model.duration import seconds
from specrules.pipeline.servers import Access, opened

if TYPE_CHECKING:
    from specrules.evidence.readers.reading import Reading


@dataclass(frozen=True, slots=True)
class Range:
    """What is asked of a Prometheus server: the last `length` (`6h`) before `until`, of the selected series.

    `by` are the labels that tell one deployment from another.
    """

    url: str
    length: str
    selector: str = "{}"
    until: datetime | None = None
    by: Sequence[str] = ("job", "instance")


def read_range(
    wanted: Range,
    engine: str | None = None,
    *,
    catalog: Catalog | None = None,
    arm: str | None = None,
    access: Access | None = None,
    now: datetime | None = None,
    advance: Callable[[float], None] | None = None,
) -> tuple[Reading, ...]:
    """Say what each deployment did in the range, one reading for each; its run holds the labels that tell it.

    Without an engine the one that knows most series of a deployment is taken. A range without an end ends at `now`.
    `advance` is told how many more seconds of the range were read. Raises LiveError for a server that gives no answer
    that can be used, EvidenceError for an address or a selector that is none and where nothing is known, CatalogError
    for an engine that does not exist, ValueError for a length that is none.
    """
    from specrules.live.prometheus import Asked, deployments
    from specrules.live.prometheus_api import PrometheusApi, Window

    catalog = catalog or Catalog.load()
    end = (wanted.until or now or datetime.now(UTC)).timestamp()
    window = Window(end - seconds(wanted.length), end)
    ids = catalog.engine_ids if engine is None else (engine,)
    engines = [catalog.engine(name).model for name in ids]
    asked = Asked(wanted.selector, window, tuple(wanted.by))
    with opened(wanted.url, access or Access()) as server:
        return deployments(PrometheusApi(server), engines, asked, arm, advance)
