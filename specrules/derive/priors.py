"""What is believed before anything was measured: the first prior whose conditions hold for the case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specrules.derive.spans import Span
from specrules.model.case import Case
from specrules.model.prior import GroupFile, HardwareGroup, Prior, PriorFile, PriorQuantity, TaskGroup


@dataclass(frozen=True, slots=True)
class Beliefs:
    """The priors of the catalogue for one case."""

    case: Case
    priors: tuple[Prior, ...]
    hardware: str | None
    task: str | None

    def about(self, quantity: PriorQuantity, draft_length: int | None = None) -> Prior | None:
        """The prior of a quantity at a draft length; None where none matches what is known of the case."""
        asked = (prior for prior in self.priors if prior.quantity == quantity)
        return next((prior for prior in asked if _holds_at(prior, draft_length) and self._matches(prior)), None)

    def _matches(self, prior: Prior) -> bool:
        """Whether every condition holds. What the case does not state meets no condition."""
        case = self.case
        return (
            _is_one_of(case.drafter.drafter_class, prior.drafter_classes)
            and _is_one_of(self.hardware, prior.hardware)
            and _is_one_of(case.target.kind, prior.target_kinds)
            and _is_one_of(self.task, prior.tasks)
            and (prior.concurrency is None or prior.concurrency == _batching(case.workload.concurrency))
        )


def beliefs(case: Case, priors: PriorFile, groups: GroupFile) -> Beliefs:
    """Sort the case into the groups that priors are fitted for."""
    hardware = case.host.group or _group(groups.hardware, _hardware_texts(case))
    task = case.workload.task
    return Beliefs(case, priors.priors, hardware, _group(groups.tasks, () if task is None else (task,)))


def span_of_prior(prior: Prior) -> Span:
    """The interval of a prior, with its shape."""
    return Span(prior.low, prior.mid, prior.high, prior.shape)


def _hardware_texts(case: Case) -> Iterator[str]:
    """Everything that names hardware, the host first."""
    if case.host.name is not None:
        yield case.host.name
    for device in case.host.devices:
        yield device.name
        if device.backend is not None:
            yield device.backend


def _group(groups: Sequence[HardwareGroup | TaskGroup], texts: Iterator[str] | tuple[str, ...]) -> str | None:
    joined = "\n".join(texts)
    if not joined:
        return None
    return next(
        (group.id for group in groups if any(re.search(pattern, joined, re.IGNORECASE) for pattern in group.matches)),
        None,
    )


def _holds_at(prior: Prior, draft_length: int | None) -> bool:
    """Whether a prior holds at a draft length. Where none is asked for, one that is bound to some does not."""
    low, high = prior.min_draft_length, prior.max_draft_length
    if draft_length is None:
        return low is None and high is None
    return (low is None or low <= draft_length) and (high is None or draft_length <= high)


def _is_one_of(value: str | None, wanted: Sequence[str]) -> bool:
    return not wanted or value in wanted


def _batching(concurrency: int | None) -> str | None:
    return None if concurrency is None else "single" if concurrency == 1 else "batched"
