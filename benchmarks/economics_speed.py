"""How fast the arithmetic is on one core, as ratios to a scalar Python loop and to scipy's brentq, in one run.

    python benchmarks/economics_speed.py [--count 1000000] [--scalar 20000]

Three tasks of `--count` elements each: the acceptance that breaks even, from A and K; a speedup from samples of what it
depends on; and rounds that are played, from the draw of every accepted token to the rate of the run.
The scalar loops do the same one by one on `--scalar` elements, and so does brentq, which has to be installed (`pip
install scipy`) and is left out where it is not. Processor time of the fastest of several repeats; results are compared,
so that a faster wrong answer does not count.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from specrules.economics import acceptance, break_even, rounds

REPEATS = 3
SEED = 20261129
OVERHEAD, TARGET, SLOPE, DRAFT, INCUMBENT = 2.0, 50.0, 0.08, 4.0, 25.0


@dataclass(frozen=True)
class Timed:
    """Seconds of processor time for so many elements, and what came out."""

    name: str
    count: int
    seconds: float
    result: Any

    @property
    def per_million(self) -> float:
        """Seconds for a million elements at this pace."""
        return self.seconds / self.count * 1e6


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000, help="elements of the vectorised runs")
    parser.add_argument("--scalar", type=int, default=20_000, help="elements of the loops")
    options = parser.parse_args()
    tables = (solutions, speedups, played)
    print("| task | by | elements | s | s for a million | times the vectorised |")
    print("|---|---|---|---|---|---|")
    for table in tables:
        ours, *others = table(options.count, options.scalar)
        for timed in (ours, *others):
            ratio = timed.per_million / ours.per_million
            print(
                f"| {table.__name__} | {timed.name} | {timed.count} | {timed.seconds:.3f} | {timed.per_million:.3g} "
                f"| {ratio:.3g} |"
            )


def solutions(count: int, scalar: int) -> list[Timed]:
    """p_be from A_be and K: a million of them."""
    rng = np.random.default_rng(SEED)
    length = rng.integers(1, 17, count).astype(np.float64)
    needed = 1 + rng.random(count) * length
    ours = fastest("vectorised", lambda: break_even.break_even_conditional(needed, length), count)
    few = list(zip(needed[:scalar].tolist(), length[:scalar].tolist(), strict=True))
    found = [
        ours,
        fastest("Python loop, Newton", lambda: [newton(*pair) for pair in few], scalar),
        fastest("Python loop, bisection", lambda: [bisected(*pair) for pair in few], scalar),
    ]
    try:
        from scipy.optimize import brentq
    except ImportError:
        print("scipy is not installed: no comparison with brentq", file=sys.stderr)
    else:
        found.append(
            fastest(
                "scipy.optimize.brentq", lambda: [brentq(excess, 0.0, 1.0, pair, xtol=1e-15) for pair in few], scalar
            )
        )
    for timed in found[1:]:
        agree(timed, ours.result[:scalar], 1e-9)
    return found


def excess(p: float, needed: float, length: float) -> float:
    """A(p, K) less what is needed, by Horner."""
    tokens = 1.0
    for _ in range(int(length)):
        tokens = 1 + p * tokens
    return tokens - needed


def newton(needed: float, length: float) -> float:
    """The root by Newton steps from the upper bound of the geometric mean, by Horner with its derivative."""
    p = math.pow((needed - 1) / length, 2 / (length + 1))
    for _ in range(60):
        tokens, slope = 1.0, 0.0
        for _ in range(int(length)):
            tokens, slope = 1 + p * tokens, tokens + p * slope
        step = (tokens - needed) / slope
        p -= step
        if abs(step) < 1e-15:
            break
    return p


def bisected(needed: float, length: float) -> float:
    """The root of `excess` to float64."""
    low, high = 0.0, 1.0
    for _ in range(52):
        middle = (low + high) / 2
        if excess(middle, needed, length) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def speedups(count: int, scalar: int) -> list[Timed]:
    """The speedup over samples of acceptance, step, slope and draft cost, at K = 4."""
    rng = np.random.default_rng(SEED)
    p, target, slope, draft = (
        rng.uniform(low, high, count) for low, high in ((0.4, 0.8), (45, 55), (0.05, 0.15), (2, 6))
    )

    def vectorised() -> Any:
        verify = target * (1 + 4 * slope)
        round_ms = rounds.round_time(OVERHEAD, rounds.draft_time(4, draft), verify)
        return rounds.speedup(rounds.rate(acceptance.tokens_per_round(p, 4), round_ms), INCUMBENT)

    ours = fastest("vectorised", vectorised, count)
    few = list(zip(*(part[:scalar].tolist() for part in (p, target, slope, draft)), strict=True))
    loop = fastest("Python loop", lambda: [one_speedup(*row) for row in few], scalar)
    agree(loop, ours.result[:scalar], 1e-12)
    return [ours, loop]


def one_speedup(p: float, target: float, slope: float, draft: float) -> float:
    """The same for one sample."""
    round_ms = OVERHEAD + 4 * draft + target * (1 + 4 * slope)
    return 1000 * (1 + p + p**2 + p**3 + p**4) / round_ms / INCUMBENT


def played(count: int, scalar: int) -> list[Timed]:
    """A million rounds at p = .7 and K = 5, and their rate: accepted until the first miss, a restore after a miss."""
    length, p, restore = 5, 0.7, 12.0
    round_ms = OVERHEAD + length * DRAFT + TARGET * (1 + length * SLOPE)

    def vectorised() -> float:
        rng = np.random.default_rng(SEED)
        # The run of hits before the first miss is geometric, and the draft cuts it off.
        accepted = np.minimum(np.floor(np.log(rng.random(count)) / math.log(p)), length)
        spent = round_ms + restore * (accepted < length)
        return float(1000 * (count + accepted.sum()) / spent.sum())

    def loop() -> float:
        rng = random.Random(SEED)  # noqa: S311
        tokens, spent = 0, 0.0
        for _ in range(scalar):
            accepted = 0
            while accepted < length and rng.random() < p:
                accepted += 1
            tokens += 1 + accepted
            spent += round_ms + (restore if accepted < length else 0.0)
        return 1000 * tokens / spent

    ours, other = fastest("vectorised", vectorised, count), fastest("Python loop", loop, scalar)
    share = rounds.rejected_share(p, length)
    mean_ms = rounds.round_time(
        OVERHEAD,
        length * DRAFT,
        TARGET * (1 + length * SLOPE),
        rejected_share=share,
        restore_time=restore,
    )
    closed = rounds.rate(acceptance.tokens_per_round(p, length), mean_ms)
    agree(ours, [closed], 6 / math.sqrt(count))
    agree(other, [closed], 6 / math.sqrt(scalar))
    return [ours, other]


def fastest(name: str, run: Callable[[], Any], count: int) -> Timed:
    """Run a few times and keep the fastest."""
    best, result = math.inf, None
    for _ in range(REPEATS):
        start = time.process_time()
        result = run()
        best = min(best, time.process_time() - start)
    return Timed(name, count, best, result)


def agree(timed: Timed, expected: Sequence[float] | Any, tolerance: float) -> None:
    """Raise ValueError where a result is not the expected one."""
    if not np.allclose(timed.result, expected, rtol=tolerance, atol=tolerance):
        raise ValueError(f"{timed.name} gives something else than the reference")


if __name__ == "__main__":
    main()
