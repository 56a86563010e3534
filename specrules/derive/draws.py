"""Samples of the inputs: one array per uncertain input, the same for every draft length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from specrules.derive.spans import EitherKind, Span, is_point
from specrules.economics import distributions
from specrules.economics.acceptance import conditional_from_ratio

if TYPE_CHECKING:
    from specrules.economics.arrays import Array

SEED = 20_261_129
"""Fixes every draw: the same inputs give the same report, byte for byte."""

SHARES = frozenset({"acceptance.conditional", "acceptance.ratio", "drafter.coverage", "overlap"})
"""Inputs that lie between 0 and 1."""

KIND = "acceptance.kind"
"""The draw that decides which kind a number of unknown kind is of."""

_DIMENSIONS = (
    KIND,
    "acceptance.conditional",
    "acceptance.tokens",
    "acceptance.ratio",
    "acceptance.spread",
    "incumbent.rate_tok_s",
    "target.step_ms",
    "target.declared_ms",
    "drafter.step_ms",
    "drafter.catch_up_ms",
    "drafter.coverage",
    "verify.factor",
    "verify.curve_ms",
    "slope.round",
    "slope.verify",
    "run.rate_tok_s",
    "run.tokens_per_round",
    "run.depth_share",
    "synthetic.rate_tok_s",
    "overhead.per_round_ms",
    "overhead.per_token_ms",
    "restore_ms",
    "overlap",
)
"""The dimension of the lattice that each input is drawn along. Others lie further out."""


def shares_of(name: str, count: int) -> Array:
    """How much of its distribution lies below each sample of an input."""
    known = _DIMENSIONS.index(name) if name in _DIMENSIONS else len(_DIMENSIONS) + crc32(name.encode()) % 1000
    return distributions.even_shares(count, known, SEED)


def drawn(spans: Mapping[str, Span], count: int) -> dict[str, Array]:
    """`count` samples of each span that has any width. What is only bounded is drawn evenly between its bounds."""
    samples: dict[str, Array] = {}
    for name, span in spans.items():
        if not is_point(span):
            samples[name] = _sample(name, span, count)
    return samples


def kind_is_conditional(span: EitherKind, count: int) -> Array:
    """1 for the samples in which the number is p, 0 for those in which it is r."""
    shares = shares_of(KIND, count)
    return (shares < span.conditional_share).astype(np.float64)


def _sample(name: str, span: Span, count: int) -> Array:
    if isinstance(span, EitherKind):
        stated = _sample(name, span.stated, count)
        chosen = kind_is_conditional(span, count) == 1
        from_ratio: Array = np.asarray(conditional_from_ratio(stated, span.draft_length))
        return np.where(chosen, stated, from_ratio)
    shares = shares_of(name, count)
    low, mid, high = span.low, span.mid, span.high
    if span.shape in {"uniform", "bounds"}:
        return distributions.uniform(low, high, shares)
    if span.shape == "normal":
        return _within(name, distributions.skewed_normal(low, mid, high, shares))
    if span.shape == "logit-normal" or (name in SHARES and low >= 0 and high <= 1):
        return distributions.skewed_logit(low, mid, high, shares)
    if low > 0:
        return distributions.skewed_lognormal(low, mid, high, shares)
    return _within(name, distributions.skewed_normal(low, mid, high, shares))


def _within(name: str, samples: Array) -> Array:
    """No input is negative, and a share is at most 1: the tail beyond is moved to the limit."""
    return np.clip(samples, 0.0, 1.0 if name in SHARES else None)
