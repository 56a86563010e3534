"""A counter that falls is a restart; a gauge falls whenever it likes."""

from __future__ import annotations

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.live.prometheus import Asked, deployments
from specrules.live.prometheus_api import RawSeries, Window

RESTARTED = "counters began again 1 times: the server was restarted, and its lives were added up"


class Recorded:
    """Series as a Prometheus server would give them, in one piece."""

    place = "http://prometheus:9090"

    def __init__(self, series):
        self.series = {f"llamacpp:{name}": values for name, values in series.items()}

    def names(self, _selector, _window):
        return frozenset(self.series)

    def types(self):
        return {name: "counter" if name.endswith("_total") else "gauge" for name in self.series}

    def samples(self, _selector, names, _window):
        yield [
            RawSeries(
                {"__name__": name, "job": "llm", "instance": "a:1"},
                tuple((10.0 * index, float(value)) for index, value in enumerate(values)),
            )
            for name, values in self.series.items()
            if name in names
        ]


@pytest.mark.parametrize(("tokens", "warnings", "rose"), [([5, 45, 45, 85], [], 80), ([5, 45, 7, 47], [RESTARTED], 87)])
def test_only_counters_tell_of_a_restart(tokens, warnings, rose):
    api = Recorded(
        {
            "tokens_predicted_total": tokens,
            "tokens_predicted_seconds_total": [value / 10 for value in tokens],
            "requests_processing": [1, 0, 1, 0],
        }
    )
    engine = Catalog.load(environ={}).engine("llama.cpp").model
    (reading,) = deployments(api, [engine], Asked("{}", Window(0.0, 40.0)))
    assert [warning.message for warning in reading.warnings] == warnings
    assert reading.facts.number("tokens") == rose
