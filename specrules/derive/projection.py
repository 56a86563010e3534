"""Break-even and projected rate at every draft length, and the envelope that the verdict is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from specrules.derive.arithmetic import Arithmetic, Outcome
from specrules.derive.round_basis import BASES
from specrules.derive.rounds import RoundInputs, round_inputs
from specrules.derive.sides import Sides
from specrules.derive.spans import Span, bounded, bounded_rate
from specrules.derive.uncertainty import Uncertain, at_most, uncertain
from specrules.economics.break_even import break_even_conditional
from specrules.model.verdict import BreakEven, BreakEvenRange, FormulaLine, Projection, Range, Speedup

SHOWN = (1, 3, 7)
_ACCEPTANCE = ("acceptance.conditional", "acceptance.ratio", "acceptance.tokens")
_STATED_AS = {
    "how": "acceptance.kind",
    "acceptance.conditional": "acceptance.kind",
    "target.declared_ms": "target.step_ms",
    "drafter.catch_up_ms": "drafter.step_ms",
    "run.tokens_per_round": "candidate.tokens_per_round",
}
"""Inputs of the formulas that follow from what a case states under another name."""


@dataclass(frozen=True, slots=True)
class AtDepth:
    """Everything that is computed for one draft length."""

    draft_length: int
    inputs: RoundInputs
    outcome: Outcome
    band: Outcome
    uncertain: Uncertain
    margin: float

    @property
    def speedup(self) -> Speedup:
        """The 90 % interval of the speedup over every uncertainty that is known, and how often it clears the margin."""
        low, high = self.uncertain.ends["speedup"]
        mid = bounded_rate(self.outcome.at_mid("speedup"))
        if mid is None:
            return Speedup(high=high)
        above = self.uncertain.share_above(1 + self.margin)
        return Speedup(
            low=None if low is None else min(low, mid),
            mid=mid,
            high=None if high is None else max(high, mid),
            probability_above_margin=above,
        )

    @property
    def declared(self) -> Speedup:
        """Speedup at the stated step times: only acceptance varies, and it is carried to this depth as it is."""
        low, high = self.band.ends("speedup")
        return Speedup(low=bounded_rate(low), mid=bounded_rate(self.band.at_mid("speedup")), high=bounded_rate(high))


@dataclass(frozen=True, slots=True)
class Projections:
    """All draft lengths up to the limit, and which of them matter."""

    depths: tuple[AtDepth, ...]
    feasible: tuple[int, ...]

    def at(self, draft_length: int) -> AtDepth | None:
        """The draft length, or None where it lies beyond what was looked at."""
        return next((depth for depth in self.depths if depth.draft_length == draft_length), None)

    @property
    def break_even_best(self) -> int | None:
        """The draft length that needs the smallest conditional acceptance (for trees the smallest ratio).

        None where no draft length can pay.
        """
        needs = {
            depth.draft_length: need
            for depth in self.depths
            if (need := _needed(depth)) is not None and depth.draft_length in self.feasible
        }
        return min(needs, key=needs.__getitem__) if needs else None

    @property
    def rate_best(self) -> int | None:
        """The feasible draft length with the highest rate at the point."""
        return self._highest(lambda depth: depth.outcome.at_mid("rate_tok_s"))

    @property
    def verdict_length(self) -> int | None:
        """The draft length of the verdict: the safest win where a low end is known, else the highest rate."""
        return self._highest(lambda depth: depth.speedup.low) or self.rate_best

    def envelope(self, pick: Callable[[AtDepth], Speedup]) -> Speedup:
        """Per end the best over the feasible draft lengths: an operator can choose K. Unknown where any end is."""
        speedups = [pick(depth) for depth in self.depths if depth.draft_length in self.feasible]
        highs = [speedup.high for speedup in speedups]
        return Speedup(
            low=_most(speedup.low for speedup in speedups),
            mid=_most(speedup.mid for speedup in speedups),
            high=None if None in highs else _most(highs),
            probability_above_margin=_most(speedup.probability_above_margin for speedup in speedups),
        )

    def shown(self, best: int | None) -> tuple[AtDepth, ...]:
        """K = 1, 3, 7 and the best one, in order."""
        lengths = sorted({*SHOWN, best} if best is not None else set(SHOWN))
        return tuple(depth for depth in self.depths if depth.draft_length in lengths)

    def _highest(self, key: Callable[[AtDepth], float | None]) -> int | None:
        known = {
            depth.draft_length: value
            for depth in self.depths
            if depth.draft_length in self.feasible and (value := key(depth)) is not None
        }
        return max(known, key=known.__getitem__) if known else None


def project(sides: Sides, arithmetic: Arithmetic) -> Projections:
    """Run the formulas for every draft length that the policy searches, and for those of the case.

    Feasible is the length that the case wants to deploy at, no longer than the engine drafts unless a run shows it;
    without one all up to the engine's limit.
    """
    fixed = sides.case.engine.draft_length
    run = sides.run.draft_length if sides.run is not None else None
    limit = sides.method.max_draft_length if sides.method is not None else None
    if fixed is not None and limit is not None and fixed != run:
        fixed = min(fixed, limit)
    searched = range(1, int(sides.thresholds["search_depth"]) + 1)
    lengths = sorted({*searched, *SHOWN, *(length for length in (fixed, run) if length is not None)})
    open_lengths = tuple(length for length in lengths if limit is None or length <= limit or length == run)
    feasible = open_lengths if fixed is None else (fixed,)
    return Projections(tuple(_at_depth(sides, arithmetic, length) for length in lengths), feasible)


def _at_depth(sides: Sides, arithmetic: Arithmetic, draft_length: int) -> AtDepth:
    inputs = round_inputs(sides, draft_length)
    plain = round_inputs(sides, draft_length, spread=False)
    middles = {name: Span.exact(span.mid) for name, span in plain.spans.items()}
    band = {name: plain.spans[name] if name in _ACCEPTANCE else span for name, span in middles.items()}
    return AtDepth(
        draft_length,
        inputs,
        arithmetic.outcome(inputs.fixed, inputs.spans),
        arithmetic.outcome(plain.fixed, band, needs_acceptance=False),
        _uncertain(arithmetic, inputs),
        sides.thresholds["margin"],
    )


def _uncertain(arithmetic: Arithmetic, inputs: RoundInputs) -> Uncertain:
    if "how" not in inputs.fixed and inputs.basis != "measured-run":
        return at_most(arithmetic, inputs.fixed, inputs.spans, inputs.draft_length)
    return uncertain(arithmetic, inputs.fixed, inputs.spans)


def break_even(depth: AtDepth, best: int | None, *, is_tree: bool) -> BreakEven:
    """The break-even of one draft length as it is reported."""
    outcome, length = depth.outcome, depth.draft_length
    tokens = bounded(outcome.at_mid("break_even.tokens_per_round"))
    low, high = (bounded(end) for end in outcome.ends("break_even.tokens_per_round"))
    possible = None if tokens is None else tokens <= length + 1
    ends = [possible if end is None else end <= length + 1 for end in (low, high)]
    ratio = outcome.at_mid("break_even.accepted_ratio")
    return BreakEven(
        draft_length=length,
        tokens_per_round=tokens,
        conditional_acceptance=None if is_tree else needed_acceptance(depth),
        accepted_ratio=_share(ratio),
        possible=possible,
        settled=all(end == possible for end in ends),
        beats_off=_beats_off(depth),
        is_best=length == best,
        range=BreakEvenRange(
            tokens_per_round=(low, high),
            conditional_acceptance=(None, None) if is_tree else _ends_of_p(depth),
            accepted_ratio=tuple(_share(bounded(end)) for end in outcome.ends("break_even.accepted_ratio")),
        ),
        basis=BASES[depth.inputs.basis],
        missing=missing_inputs(outcome, "break_even.tokens_per_round"),
    )


def needed_acceptance(depth: AtDepth) -> float | None:
    """p_be at the point: 0 where A_be is at most 1, None where it is out of reach or unknown."""
    tokens = depth.outcome.at_mid("break_even.tokens_per_round")
    if tokens is not None and tokens <= 1:
        return 0.0
    return _share(depth.outcome.at_mid("break_even.conditional_acceptance"))


def _ends_of_p(depth: AtDepth) -> tuple[float | None, float | None]:
    """Ends of p_be. Its function has no value where A_be is out of reach, so each end goes on its own."""
    ends = []
    for end in depth.outcome.ends("break_even.tokens_per_round"):
        known = bounded(end)
        needed = None if known is None else float(break_even_conditional(max(known, 1.0), depth.draft_length))
        ends.append(_share(needed))
    return (ends[0], ends[1])


def _share(value: float | None) -> float | None:
    """A share between 0 and 1; what lies above is impossible and reported as None."""
    return value if value is not None and 0 <= value <= 1 else None


def _beats_off(depth: AtDepth) -> bool | None:
    """V(K+1) >= (K+1) t1 never beats drafting off. Known only where V was measured."""
    if depth.inputs.basis != "curve" or "target.step_ms" not in depth.inputs.spans:
        return None
    verify, plain = depth.inputs.spans["verify.curve_ms"], depth.inputs.spans["target.step_ms"]
    width = depth.draft_length + 1
    if verify.low >= width * plain.high:
        return False
    return True if verify.high < width * plain.low else None


def projection(depth: AtDepth, best: int | None) -> Projection:
    """The projection of one draft length as it is reported."""
    outcome = depth.outcome
    low, high = depth.uncertain.ends["rate_tok_s"]
    return Projection(
        draft_length=depth.draft_length,
        tokens_per_round=bounded(outcome.at_mid("tokens_per_round")),
        round_ms=bounded(outcome.at_mid("round_ms")),
        rate_tok_s=bounded_rate(outcome.at_mid("rate_tok_s")),
        rate_range=Range(low=low, high=high),
        speedup=depth.speedup,
        at_declared_step=depth.declared,
        is_best=depth.draft_length == best,
        basis=BASES[depth.inputs.basis],
        missing=missing_inputs(outcome, "rate_tok_s", "speedup"),
    )


def missing_inputs(outcome: Outcome, *names: str) -> tuple[str, ...]:
    """What would settle these results, under the names that rules and users know."""
    return tuple(sorted({_STATED_AS.get(name, name) for name in outcome.missing(*names)}))


def formula_lines(arithmetic: Arithmetic, depth: AtDepth) -> tuple[FormulaLine, ...]:
    """The formulas of one draft length, as they were evaluated at the point."""
    return arithmetic.lines(depth.inputs.fixed, depth.inputs.spans)


def _needed(depth: AtDepth) -> float | None:
    if depth.inputs.fixed["drafter.is_tree"]:
        return _share(depth.outcome.at_mid("break_even.accepted_ratio"))
    return needed_acceptance(depth)


def _most(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if known else None
