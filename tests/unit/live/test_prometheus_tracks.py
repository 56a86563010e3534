"""Samples over time to rises and means."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specrules.live.prometheus_api import RawSeries, Window
from specrules.live.prometheus_tracks import START, Tracks, distribution

WINDOW = Window(100, 200)


def series(metric, *samples, **labels):
    return RawSeries({"__name__": metric, "job": "j", "instance": "i", **labels}, tuple(samples))


def tracks(*pieces):
    taken = Tracks(WINDOW)
    for piece in pieces:
        taken.take(piece)
    return taken


def only(taken, metric="m"):
    ((_, members),) = taken.grouped(("job",)).items()
    return next(track for track in members if track.metric == metric)


def test_a_rise_counts_from_the_first_sample():
    taken = tracks([series("m", (101, 50), (102, 55), (110, 61))])
    track = only(taken)
    assert (taken.increase(track), track.mean, track.resets) == (11, pytest.approx(166 / 3), 0)


def test_a_fall_is_a_restart_after_which_all_counts():
    track = only(tracks([series("m", (101, 50), (102, 60), (103, 4), (104, 9), (105, 0))]))
    assert (track.rose, track.resets) == (10 + 4 + 5 + 0, 2)


def test_a_sample_at_the_seam_of_two_pieces_counts_once():
    track = only(tracks([series("m", (101, 5), (102, 7))], [series("m", (102, 7), (103, 8))]))
    assert (track.rose, track.count, track.total) == (3, 3, 20)


def test_a_series_that_comes_later_than_others_of_its_server_counts_from_zero():
    taken = tracks([series("m", (103, 5), (104, 7)), series("other", (101, 1))])
    assert taken.increase(only(taken)) == 7
    elsewhere = tracks([series("m", (103, 5), (104, 7)), series("other", (101, 1), instance="k")])
    assert elsewhere.increase(only(elsewhere)) == 2


@pytest.mark.parametrize(("started", "rise"), [(99.0, 2), (100.0, 7), (102.5, 7)])
def test_a_server_that_started_in_the_range_counts_from_zero(started, rise):
    taken = tracks([series("m", (103, 5), (104, 7)), series(START, (103, started), (104, started))])
    assert taken.increase(only(taken)) == rise


def test_groups_are_by_the_labels_that_series_have():
    taken = tracks([series("m", (101, 1), pod="b"), series("m", (101, 1), pod="a"), series("m", (101, 1))])
    assert list(taken.grouped(("pod", "job"))) == [
        (("job", "j"),),
        (("pod", "a"), ("job", "j")),
        (("pod", "b"), ("job", "j")),
    ]


def test_the_distribution_is_over_all_series():
    taken = tracks([series("m", (101, 0), (102, 1)), series("m", (101, 1), (102, 3), engine="1")])
    ((_, members),) = taken.grouped(("job",)).items()
    assert distribution(members) == {0: 0.25, 1: 0.5, 3: 0.25}


values = st.lists(st.integers(0, 10**6).map(float), min_size=1, max_size=30)


@given(values, st.lists(st.integers(1, 29), max_size=5))
def test_cutting_the_range_into_pieces_changes_nothing(numbers, cuts):
    samples = [(100.0 + index, number) for index, number in enumerate(numbers)]
    bounds = [0, *sorted({cut for cut in cuts if cut < len(samples)}), len(samples)]
    # A server counts both ends of a piece, so that the seam is in both.
    pieces = [[series("m", *samples[max(0, low - 1) : high])] for low, high in pairwise(bounds)]
    whole, cut = only(tracks([series("m", *samples)])), only(tracks(*pieces))
    assert (whole.rose, whole.total, whole.count, whole.resets) == (cut.rose, cut.total, cut.count, cut.resets)
    assert whole.levels == cut.levels


@given(values)
def test_a_counter_that_never_falls_rises_by_last_less_first(numbers):
    rising = sorted(numbers)
    track = only(tracks([series("m", *((100.0 + index, number) for index, number in enumerate(rising)))]))
    assert track.rose == rising[-1] - rising[0]
    assert track.resets == 0
