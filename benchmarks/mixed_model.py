"""A linear mixed model over measurements of several sources: what the next source will measure, and how surely.

    y = fixed effect of its cell + random effects + effect of its source + error of the measurement + what is left

The variances of sources and of what is left are estimated by restricted maximum likelihood, those of the random effects
are given. Sources and measurements that lie far out count less, as if both came from Student's distribution with four
degrees of freedom; how far they lie out still counts. Everything is closed linear algebra, and so the same every time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ROUNDS = 12
FREEDOM = 4.0
PSEUDO = 4.0
"""Sources, and measurements, that the starting variance counts for."""


@dataclass(frozen=True)
class Observation:
    """One measurement. `error` is its own variance; `group` shares one variance of sources."""

    value: float
    error: float
    group: str
    fixed: Hashable
    effects: tuple[tuple[str, Hashable], ...]
    source: str


@dataclass(frozen=True)
class Expected:
    """What a new source measures: mean and standard deviation."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class MixedModel:
    """A fitted model."""

    names: tuple[Hashable, ...]
    mean: Array
    covariance: Array
    between: Mapping[str, float]
    within: Mapping[str, float]
    given: Mapping[str, float]

    def expected(self, group: str, fixed: Hashable, effects: Sequence[tuple[str, Hashable]]) -> Expected:
        """Predict a measurement of a new source. An effect that was never seen counts with all of its variance."""
        weights = np.zeros(len(self.names))
        unseen = 0.0
        for name in (("fixed", fixed), *effects):
            if name in self.names:
                weights[self.names.index(name)] = 1
            else:
                unseen += self.given[str(name[0])]
        variance = float(weights @ self.covariance @ weights) + unseen + self.between[group] + self.within[group]
        return Expected(float(weights @ self.mean), variance**0.5)


def fit(observations: Sequence[Observation], given: Mapping[str, float], between: float, within: float) -> MixedModel:
    """Fit the model. `given` holds the variance of each kind of random effect, the others are starting values."""
    fixed = sorted({item.fixed for item in observations}, key=str)
    effects = sorted({effect for item in observations for effect in item.effects}, key=str)
    sources = sorted({(item.source, item.group) for item in observations}, key=str)
    groups = sorted({item.group for item in observations})
    value = np.array([item.value for item in observations])
    error = np.array([item.error for item in observations])
    group = np.array([groups.index(item.group) for item in observations])
    x = np.array([[item.fixed == name for name in fixed] for item in observations], dtype=float)
    z = np.array([[name in item.effects for name in effects] for item in observations], dtype=float)
    z = z.reshape(len(observations), len(effects))
    w = np.array([[(item.source, item.group) == name for name in sources] for item in observations], dtype=float)
    spread = np.array([given[name[0]] for name in effects])
    of_source = np.array([groups.index(name[1]) for name in sources])
    tau = np.full(len(groups), between)
    sigma = np.full(len(groups), within)
    far_source, far = np.ones(len(sources)), np.ones(len(observations))
    for _ in range(ROUNDS):
        source_spread = tau[of_source] / far_source
        left = sigma[group] / far
        rest = error + left
        inverse = np.linalg.inv((z * spread) @ z.T + (w * source_spread) @ w.T + np.diag(rest))
        bread = np.linalg.inv(x.T @ inverse @ x)
        projection = inverse - inverse @ x @ bread @ x.T @ inverse
        pull = projection @ value
        source_mean = source_spread * (w.T @ pull)
        source_left = source_spread - source_spread**2 * np.einsum("ij,ij->j", w, projection @ w)
        left_mean = left * pull
        left_left = left - left**2 * np.diag(projection)
        tau = _variances(far_source * (source_mean**2 + source_left), of_source, len(groups), between)
        sigma = _variances(far * (left_mean**2 + left_left), group, len(groups), within)
        far_source = (FREEDOM + 1) / (FREEDOM + (source_mean**2 + source_left) / tau[of_source])
        far = (FREEDOM + 1) / (FREEDOM + (left_mean**2 + left_left) / sigma[group])
    z_spread = z * spread
    cross = -bread @ x.T @ inverse @ z_spread
    covariance = np.block([[bread, cross], [cross.T, np.diag(spread) - z_spread.T @ projection @ z_spread]])
    mean = np.concatenate([bread @ x.T @ inverse @ value, z_spread.T @ pull])
    names = (*(("fixed", name) for name in fixed), *effects)
    return MixedModel(
        names,
        mean,
        covariance,
        dict(zip(groups, map(float, tau), strict=True)),
        dict(zip(groups, map(float, sigma), strict=True)),
        dict(given),
    )


def _variances(squares: Array, group: NDArray[np.intp], count: int, start: float) -> Array:
    """The mean square per group, with the starting variance counted as a few more."""
    total = np.bincount(group, squares, count)
    return (total + PSEUDO * start) / (np.bincount(group, minlength=count) + PSEUDO)
