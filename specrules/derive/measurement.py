"""The one measurement that would settle it: of the engine's recipes the one that is worth most per minute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import ceil, isfinite

from specrules.derive.information import Worth
from specrules.derive.overheads import per_token
from specrules.derive.projection import AtDepth
from specrules.derive.settings import filled, words
from specrules.derive.situation import Situation
from specrules.derive.spans import Span, bounded
from specrules.economics.samples import rounds_to_settle
from specrules.model.engine import Recipe
from specrules.model.rule import SpeedupClass
from specrules.model.verdict import FlipPoint, Measurement, Range

_INPUTS_OF: dict[str, tuple[str, ...]] = {
    "off.rate_tok_s": ("target.step_ms", "target.declared_ms", "verify.factor"),
    "target.step_ms": ("target.step_ms", "target.declared_ms", "verify.factor"),
    "target.verify_curve": ("verify.factor", "verify.curve_ms", "slope.verify", "target.step_ms", "target.declared_ms"),
    "drafter.step_ms": ("drafter.step_ms", "drafter.catch_up_ms"),
    "acceptance": ("acceptance.conditional", "acceptance.ratio", "acceptance.tokens", "acceptance.spread"),
    "candidate.tokens_per_round": (
        "acceptance.conditional",
        "acceptance.ratio",
        "acceptance.tokens",
        "acceptance.spread",
    ),
    "incumbent.rate_tok_s": ("incumbent.rate_tok_s",),
    "incumbent.tokens_per_round": ("target.declared_ms", "verify.factor"),
}
_WHOLE_ROUND = {"candidate.rate_tok_s", "candidate.round_ms", "candidate.synthetic_zero"}
_GIVES: dict[str, tuple[str, ...]] = {
    "acceptance": ("acceptance.conditional", "acceptance.tokens", "acceptance.ratio", "how"),
    "candidate.tokens_per_round": ("acceptance.conditional", "acceptance.tokens", "how"),
    "candidate.rate_tok_s": (
        "acceptance.conditional",
        "acceptance.tokens",
        "how",
        "drafter.step_ms",
        "target.declared_ms",
    ),
    "target.step_ms": ("target.step_ms", "target.declared_ms"),
    "off.rate_tok_s": ("target.step_ms", "target.declared_ms"),
}


@dataclass(frozen=True, slots=True)
class Weighed:
    """A recipe and what it is worth."""

    recipe: Recipe
    gives_missing: int
    swing_tok_s: float
    worth_tok_s: float | None

    @property
    def rank(self) -> tuple[int, float, float]:
        """Missing inputs first, then what knowing is worth per minute, then how far the rate moves per minute."""
        minutes = self.recipe.minutes
        return (self.gives_missing, round((self.worth_tok_s or 0.0) / minutes, 6), self.swing_tok_s / minutes)


def measurements(
    given: Situation, flips: Iterable[FlipPoint], speedup_class: SpeedupClass, known: Worth | None
) -> tuple[Measurement, ...]:
    """Every recipe that fits the candidate, the most useful first. Empty where the engine offers none.

    `known` weighs what knowing inputs is worth, None where it is not known.
    """
    length = given.projections.verdict_length or given.case.engine.draft_length or 3
    depth = given.projections.at(length)
    if depth is None:
        return ()
    weighed = [_weigh(given, recipe, depth, known) for recipe in given.knowledge.engine.recipes if _fits(given, recipe)]
    weighed.sort(key=lambda item: item.rank, reverse=True)
    by_name = {flip.name: flip for flip in flips}
    return tuple(_measurement(given, item, depth, by_name, speedup_class) for item in weighed)


def _fits(given: Situation, recipe: Recipe) -> bool:
    method = given.sides.method
    if method is None:
        return not recipe.needs_drafter and not recipe.methods
    return not recipe.methods or any(fnmatchcase(method.id, pattern) for pattern in recipe.methods)


def _weigh(given: Situation, recipe: Recipe, depth: AtDepth, known: Worth | None) -> Weighed:
    missing = set(depth.outcome.missing("speedup", "rate_tok_s"))
    gives = {name for item in recipe.yields for name in (item, *_GIVES.get(item, ()))}
    names = {name for item in recipe.yields for name in _INPUTS_OF.get(item, ())}
    if _WHOLE_ROUND & set(recipe.yields):
        names |= {name for name in depth.inputs.spans if not name.startswith("acceptance.")}
    if "candidate.rate_tok_s" in recipe.yields:
        names = set(depth.inputs.spans) - {"incumbent.rate_tok_s"}
    value = None if known is None else known.of(names - _left_open(recipe))
    return Weighed(recipe, len(missing & gives), _swing(given, depth, names), value)


def _left_open(recipe: Recipe) -> set[str]:
    """A plain step alone says where an assumed pass lies over it, and nothing about one that is believed."""
    return set() if _WHOLE_ROUND & set(recipe.yields) or "target.verify_curve" in recipe.yields else {"verify.factor"}


def _swing(given: Situation, depth: AtDepth, names: set[str]) -> float:
    """How far the rate moves when only these inputs move, in tok/s."""
    spans = {name: span if name in names else Span.exact(span.mid) for name, span in depth.inputs.spans.items()}
    low, high = given.arithmetic.outcome(depth.inputs.fixed, spans).ends("rate_tok_s")
    return 0.0 if low is None or high is None else high - low


def _measurement(
    given: Situation, item: Weighed, depth: AtDepth, flips: dict[str, FlipPoint], speedup_class: SpeedupClass
) -> Measurement:
    recipe = item.recipe
    quantity, expected, threshold = _expectation(given, recipe, depth, flips, speedup_class)
    return Measurement(
        recipe=recipe.id,
        title=recipe.title,
        command=filled(recipe.command, words(given, depth.draft_length)).strip(),
        settles=recipe.settles,
        minutes=recipe.minutes,
        quantity=quantity,
        expected=expected,
        threshold=threshold,
        samples_needed=_rounds(depth) if {"acceptance", "candidate.tokens_per_round"} & set(recipe.yields) else None,
        value_tok_s=item.worth_tok_s,
        note=recipe.needs,
    )


def _expectation(
    given: Situation, recipe: Recipe, depth: AtDepth, flips: dict[str, FlipPoint], speedup_class: SpeedupClass
) -> tuple[str, Range, float | None]:
    """What the recipe's first result is in, the interval it should fall into, and where the verdict flips."""
    outcome, spans = depth.outcome, depth.inputs.spans
    incumbent = spans.get("incumbent.rate_tok_s")
    for name in recipe.yields:
        if name == "candidate.rate_tok_s":
            low, high = depth.uncertain.ends["rate_tok_s"]
            threshold = None if incumbent is None else incumbent.mid * (1 + given.sides.thresholds["margin"])
            return (f"tok/s at K={depth.draft_length}", Range(low=low, high=high), threshold)
        if name == "candidate.synthetic_zero":
            return _synthetic_zero(depth, incumbent)
        if name in {"acceptance", "candidate.tokens_per_round"}:
            low, high = (bounded(end) for end in outcome.ends("tokens_per_round"))
            needed = bounded(outcome.at_mid("break_even.tokens_per_round"))
            return (f"tokens per round at K={depth.draft_length}", Range(low=low, high=high), needed)
        if name in {"off.rate_tok_s", "target.step_ms"}:
            return _plain_step(given, depth, flips, speedup_class)
        if name == "target.verify_curve":
            low, high = (bounded(end) for end in outcome.ends("verify_ms"))
            return (f"ms for {depth.draft_length + 1} rows", Range(low=low, high=high), _verify_flip(flips))
        if name == "drafter.step_ms":
            step = spans.get("drafter.step_ms")
            found = Range() if step is None else Range(low=step.low, high=step.high)
            return ("ms per drafted token", found, _flip(flips, "drafter.step_ms"))
    return ("", Range(), None)


def _synthetic_zero(depth: AtDepth, incumbent: Span | None) -> tuple[str, Range, float | None]:
    """With nothing accepted every round commits one token; the candidate pays above R / A."""
    low, high = (bounded(end) for end in depth.outcome.ends("round_ms"))
    tokens = depth.outcome.at_mid("tokens_per_round")
    expected = Range(low=None if high is None else 1000 / high, high=None if not low else 1000 / low)
    threshold = None if incumbent is None or tokens is None else incumbent.mid / tokens
    return (f"tok/s with nothing accepted at K={depth.draft_length}", expected, threshold)


def _plain_step(
    given: Situation, depth: AtDepth, flips: dict[str, FlipPoint], speedup_class: SpeedupClass
) -> tuple[str, Range, float | None]:
    """The plain step: where the verdict flips, or, where that is not to be expected, where drafting off beats today."""
    interval = given.sides.steps.plain_range()
    expected = Range() if interval is None else Range(low=interval.low, high=interval.high)
    flip, off = _step_flip(given, depth, flips, speedup_class), _off_flip(given)
    if _inside(off, interval) and not _inside(flip, interval):
        return ("ms per plain step; below the threshold drafting off beats the incumbent", expected, off)
    return ("ms per plain step", expected, flip)


def _step_flip(
    given: Situation, depth: AtDepth, flips: dict[str, FlipPoint], speedup_class: SpeedupClass
) -> float | None:
    """The plain step at which the numbers flip: read by the formulas, else as what the assumed pass follows from.

    That pass takes the policy's factor times the step at the point and no less than the step at the high end of the
    speedup. No step takes it below what the incumbent's round says of it.
    """
    direct, verify = _flip(flips, "target.step_ms"), _flip(flips, "verify_ms")
    if direct is not None or verify is None or depth.inputs.basis != "step":
        return direct
    if verify < given.sides.steps.round_floor(depth.draft_length):
        return None
    return verify / (1.0 if speedup_class == "loss" else given.sides.thresholds["ceiling_factor"])


def _off_flip(given: Situation) -> float | None:
    """The plain step at which drafting off equals an incumbent that drafts: 1 / R, less what both pay per token."""
    rate, paid = given.facts.number("incumbent.rate_tok_s"), per_token(given.case, given.facts)
    if given.facts.value("incumbent.drafting") is not True or rate is None or paid is None:
        return None
    return 1000 / rate - paid.mid


def _inside(value: float | None, interval: Span | None) -> bool:
    return value is not None and interval is not None and interval.low <= value <= interval.high


def _verify_flip(flips: dict[str, FlipPoint]) -> float | None:
    return _flip(flips, "verify_ms") or _flip(flips, "verify.curve_ms")


def _flip(flips: dict[str, FlipPoint], name: str) -> float | None:
    flip = flips.get(name)
    return None if flip is None else flip.flips_at


def _rounds(depth: AtDepth) -> int | None:
    """Rounds until acceptance is told apart from break-even, at 5 % error and 80 % power."""
    conditional = depth.inputs.spans.get("acceptance.conditional")
    needed = depth.outcome.at_mid("break_even.tokens_per_round")
    if conditional is None or needed is None:
        return None
    rounds = rounds_to_settle(conditional.mid, float(depth.draft_length), needed)
    return ceil(rounds) if isfinite(rounds) and rounds < 1e6 else None
