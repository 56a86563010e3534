"""What a target pass over several rows costs, V(w), and what the target step is where the incumbent drafts.

The width w is K + 1, never K: a round verifies the drafted tokens and the token they continue. For a tree it is the
number of nodes plus 1.

Ways to V or to the whole round, best first: a measured curve; a speculative run of the same drafter at another depth;
an interval for a slope. Two slopes exist and must not be mixed:

    round slope    s = (round / t1 - 1) / K       drafter included: add no D to what it predicts
    verify slope   (V(K+1) / t1 - 1) / K          the target's pass alone: D comes on top

The constant factor 1.1 and the floor under an incumbent's round can only reject a candidate, never approve one.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from specrules.economics.arrays import Array, Vector
from specrules.economics.domain import at_least, finite, not_negative, positive, vectorised
from specrules.economics.interval import Interval

NumberT = TypeVar("NumberT", float, Array)

CONSTANT_FACTOR = 1.1
"""V / t1 in the seed's formula whatever the width. Too low for most targets, so rates from it are a ceiling."""

LARGEST_HEAD_SHARE = 0.15
"""The largest usual share of drafter head and host in the round of an incumbent that drafts."""


@vectorised
def verify_width(draft_length: Array) -> Array:
    """Rows per sequence in the verifying pass: K + 1."""
    positive(draft_length=draft_length)
    return draft_length + 1


def verify_from_curve(width: NumberT, widths: Vector, times: Vector) -> Interval[NumberT]:
    """V(w) from times measured at some widths.

    Exact at a measured width. Between two of them anywhere from one neighbour to the other, because V has steps
    (kernel and graph sizes), with the straight line as the middle. Beyond the last width at least the last time, and
    below the first at most the first; the other end and the middle are then NaN.
    Raises ValueError for a curve whose widths repeat or whose lengths differ.
    """
    at, cost = finite("widths", widths), finite("times", times)
    if at.ndim != 1 or at.shape != cost.shape or at.size == 0:
        raise ValueError("widths and times must be two lists of the same length, at least one entry each")
    at_least(1, widths=at)
    positive(times=cost)
    order = np.argsort(at)
    at, cost = at[order], cost[order]
    if np.any(np.diff(at) == 0):
        raise ValueError("widths must not repeat: give one time for each")

    def read(width: Array) -> Interval[Array]:
        at_least(1, width=width)
        left = np.clip(np.searchsorted(at, width, side="right") - 1, 0, at.size - 1)
        right = np.clip(np.searchsorted(at, width, side="left"), 0, at.size - 1)
        low = np.where(width < at[0], np.nan, np.minimum(cost[left], cost[right]))
        high = np.where(width > at[-1], np.nan, np.maximum(cost[left], cost[right]))
        inside = (width >= at[0]) & (width <= at[-1])
        return Interval(low, np.where(inside, np.interp(width, at, cost), np.nan), high)

    return vectorised(read)(width)


@vectorised
def round_slope(draft_length: Array, round_ms: Array, target_step: Array) -> Array:
    """The slope s = (round / t1 - 1) / K of one speculative run. Negative where the round is shorter than a plain step.

    A negative slope means that t1 is not the plain step of this round; nothing can be predicted from it.
    """
    return _slope(draft_length, round_ms, target_step)


@vectorised
def verify_slope(draft_length: Array, verify_time: Array, target_step: Array) -> Array:
    """(V(K+1) / t1 - 1) / K from one measured pass of the target."""
    return _slope(draft_length, verify_time, target_step)


@vectorised
def round_from_slope(draft_length: Array, target_step: Array, round_slope: Array) -> Array:
    """The whole round at depth K, drafter included: t1 (1 + s K)."""
    return _along(draft_length, target_step, round_slope)


@vectorised
def verify_from_slope(draft_length: Array, target_step: Array, verify_slope: Array) -> Array:
    """The target's pass alone at depth K, V(K+1) = t1 (1 + s_v K)."""
    return _along(draft_length, target_step, verify_slope)


@vectorised
def block_round_from_run(
    draft_length: Array, measured_length: Array, round_ms: Array, target_step: Array
) -> Interval[Array]:
    """The whole round of a block drafter at depth K from one run at another depth.

    A block pass costs the same at any depth, so its round has an unknown intercept above t1: the answer lies between
    the slope alone and a constant round. Two runs give it outright, see `round_from_runs`.
    Raises ValueError where the measured round is shorter than t1.
    """
    sloped = _along(draft_length, target_step, _slope(measured_length, round_ms, target_step))
    low, high = np.minimum(sloped, round_ms), np.maximum(sloped, round_ms)
    return Interval(low, (low + high) / 2, high)


@vectorised
def round_from_runs(
    draft_length: Array, first_length: Array, first_round: Array, second_length: Array, second_round: Array
) -> Array:
    """The whole round at depth K on the line through two runs of the same drafter at different depths."""
    positive(draft_length=draft_length, first_length=first_length, second_length=second_length)
    positive(first_round=first_round, second_round=second_round)
    if np.any(first_length == second_length):
        raise ValueError("first_length and second_length must differ")
    slope = (second_round - first_round) / (second_length - first_length)
    predicted = first_round + slope * (draft_length - first_length)
    positive(predicted_round=predicted)
    return predicted


@vectorised
def constant_verify_time(target_step: Array) -> Array:
    """1.1 t1, the seed's constant. Only for a rate ceiling, and only where t1 is a measured plain step."""
    positive(target_step=target_step)
    return CONSTANT_FACTOR * target_step


@vectorised
def verify_floor(width: Array, incumbent_round: Array, incumbent_length: Array, head_share: Array) -> Array:
    """The least that V(w) can be beside an incumbent that drafts: T_i / (1 + h); NaN where w is below K_i + 1.

    The incumbent's round holds a pass over K_i + 1 rows, and a wider pass is no cheaper. h is the share of head and
    host in that round relative to the pass; the largest plausible one gives the safe floor. Needs no t1.
    """
    at_least(1, width=width)
    positive(incumbent_round=incumbent_round, incumbent_length=incumbent_length)
    not_negative(head_share=head_share)
    return np.where(width >= incumbent_length + 1, incumbent_round / (1 + head_share), np.nan)


@vectorised
def target_step_from_round(incumbent_round: Array, verify_factor: Array, head_share: Array) -> Interval[Array]:
    """t1 where only the round of an incumbent that drafts is known: [T_i / ((1 + h) v(K_i + 1)), T_i].

    `verify_factor` and `head_share` are the largest plausible ones. The middle is the centre, not an estimate.
    """
    positive(incumbent_round=incumbent_round)
    at_least(1, verify_factor=verify_factor)
    not_negative(head_share=head_share)
    low = incumbent_round / ((1 + head_share) * verify_factor)
    return Interval(low, (low + incumbent_round) / 2, incumbent_round)


def _slope(length: Array, measured: Array, target_step: Array) -> Array:
    positive(draft_length=length, measured_time=measured, target_step=target_step)
    return (measured / target_step - 1) / length


def _along(length: Array, target_step: Array, slope: Array) -> Array:
    positive(draft_length=length, target_step=target_step)
    not_negative(slope=slope)
    return target_step * (1 + slope * length)
