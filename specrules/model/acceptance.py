"""Acceptance with its kind: five quantities that must never be mixed (see the README, "Acceptance")."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from specrules.model.base import Many, Model, Moment
from specrules.model.quantity import Distribution, DraftLength, ProvenanceKind

AcceptanceKind = Literal[
    "conditional", "ratio", "position_vector", "tokens_per_round", "counts", "histogram", "conditional-or-ratio"
]


class Acceptance(Model):
    """How much of what a drafter proposes is accepted.

    `kind` says what the numbers mean: `conditional` (p), `ratio` (accepted / drafted, r), `position_vector`
    (unconditional a_1..a_K), `tokens_per_round` (A, bonus token included), `counts` (accepted, drafted, rounds) or
    `histogram` (number of rounds with 0..K accepted). `draft_length` is the depth K at which it was observed.
    `conditional-or-ratio` is a number that nobody can tell the kind of: p with the probability `conditional_share`,
    else r at the stated depth.
    """

    kind: AcceptanceKind
    value: float | None = None
    low: float | None = None
    high: float | None = None
    distribution: Distribution = "interval"
    conditional_share: float = Field(default=0.5, ge=0, le=1)
    draft_length: DraftLength | None = None
    vector: Many[float] = ()
    anchor: bool = Field(default=False, description="position 0 of the vector is the anchor, so A = sum, not 1 + sum")
    accepted: float | None = Field(default=None, ge=0)
    drafted: float | None = Field(default=None, ge=0)
    rounds: float | None = Field(default=None, gt=0)
    histogram: Many[float] = ()
    provenance_kind: ProvenanceKind = "reported"
    source: str = ""
    observed_at: Moment | None = None

    @model_validator(mode="after")
    def _complete(self) -> Acceptance:
        if self.kind in {"conditional", "ratio", "tokens_per_round", "conditional-or-ratio"}:
            self._check_scalar()
        elif self.kind == "position_vector":
            self._check_vector()
        elif self.kind == "counts" and (self.accepted is None or self.rounds is None):
            raise ValueError("kind 'counts' needs 'accepted' and 'rounds' (and 'drafted' where it is known)")
        elif self.kind == "histogram" and (len(self.histogram) < 2 or min(self.histogram) < 0):
            raise ValueError("kind 'histogram' needs the number of rounds with 0, 1, .. K tokens accepted")
        if self.accepted is not None and self.drafted is not None and self.accepted > self.drafted:
            raise ValueError(f"{self.accepted:g} accepted of {self.drafted:g} drafted cannot be")
        return self

    def _check_scalar(self) -> None:
        numbers = [number for number in (self.low, self.value, self.high) if number is not None]
        if not numbers or (self.value is None and (self.low is None or self.high is None)):
            raise ValueError(f"kind {self.kind!r} needs 'value', or both 'low' and 'high'")
        if numbers != sorted(numbers):
            raise ValueError("'low', 'value' and 'high' must be in ascending order")
        if self.kind == "tokens_per_round":
            if numbers[0] < 1:
                raise ValueError(f"tokens per round count the bonus token, so {numbers[0]:g} is below the least, 1")
        elif not 0 <= numbers[0] <= numbers[-1] <= 1:
            raise ValueError(f"kind {self.kind!r} lies between 0 and 1")
        if self.kind != "conditional" and self.draft_length is None:
            raise ValueError(f"kind {self.kind!r} needs the 'draft_length' it was observed at")

    def _check_vector(self) -> None:
        if not self.vector:
            raise ValueError("kind 'position_vector' needs 'vector': the share of rounds in which positions 1..i held")
        if any(not 0 <= share <= 1 for share in self.vector):
            raise ValueError("the shares of a position vector lie between 0 and 1")
        if any(later > earlier + 1e-9 for earlier, later in zip(self.vector, self.vector[1:], strict=False)):
            raise ValueError("a position vector is unconditional and cannot rise: these look like conditional shares")
