"""What it is worth to know some inputs before deciding, in tok/s of the arm that would then be chosen."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from specrules.derive.draws import KIND, drawn, kind_is_conditional, shares_of
from specrules.derive.projection import AtDepth, Projections
from specrules.derive.spans import EitherKind, Span, is_point
from specrules.derive.uncertainty import SAMPLES
from specrules.economics import information

if TYPE_CHECKING:
    from specrules.economics.arrays import Array

_INCUMBENT = "incumbent.rate_tok_s"
_MOST = 6


@dataclass(frozen=True, slots=True)
class Worth:
    """The arms that can be chosen, over the same samples, and the inputs that vary."""

    options: Array
    spans: dict[str, Span]

    def of_all(self) -> float:
        """What perfect knowledge is worth: no measurement is worth more."""
        return information.value_of_all(self.options)

    def of(self, names: Collection[str]) -> float:
        """What it is worth to know these inputs, `acceptance.kind` among them where it is a belief."""
        either = next((span for span in self.spans.values() if isinstance(span, EitherKind)), None)
        wanted = [name for name in self.spans if name in names][:_MOST]
        groups = None
        if either is not None and (KIND in names or "acceptance.conditional" in wanted):
            groups = kind_is_conditional(either, SAMPLES)
        if not wanted and groups is None:
            return 0.0
        shares = [shares_of(name, SAMPLES) for name in wanted]
        return information.value_of_some(self.options, np.array(shares).reshape(len(shares), SAMPLES), groups)


def worth(projections: Projections, plain: Span | None) -> Worth | None:
    """Weigh the incumbent, drafting off where its step is known, and every feasible draft length.

    None where some draft length has an input of which an end is unknown: what is not known has no value either.
    """
    depths = [depth for depth in projections.depths if depth.draft_length in projections.feasible]
    rates = [depth.uncertain.samples.get("rate_tok_s") for depth in depths]
    incumbent = next((depth.inputs.spans[_INCUMBENT] for depth in depths if _INCUMBENT in depth.inputs.spans), None)
    if incumbent is None or not rates or any(rate is None for rate in rates):
        return None
    options = [_samples(_INCUMBENT, incumbent), *(rate for rate in rates if rate is not None)]
    if plain is not None:
        options.append(1000 / _samples("target.step_ms", plain))
    return Worth(np.stack(options), _varying(depths))


def chosen_most(projections: Projections) -> dict[int, float]:
    """How often each feasible draft length is the best of them; empty where that is not known."""
    depths = [depth for depth in projections.depths if depth.draft_length in projections.feasible]
    rates = [depth.uncertain.samples.get("rate_tok_s") for depth in depths]
    if not rates or any(rate is None for rate in rates):
        return {}
    best = np.argmax(np.stack([rate for rate in rates if rate is not None]), axis=0)
    return {depth.draft_length: float(np.mean(best == index)) for index, depth in enumerate(depths)}


def _varying(depths: list[AtDepth]) -> dict[str, Span]:
    return {name: span for depth in depths for name, span in depth.inputs.spans.items() if not is_point(span)}


def _samples(name: str, span: Span) -> Array:
    return np.full(SAMPLES, span.mid) if is_point(span) else drawn({name: span}, SAMPLES)[name]
