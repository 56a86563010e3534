"""Priors: what is believed of a kind of drafter or target before anything was measured, and groups of hardware."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from specrules.model.base import Day, Identifier, Many, Model, SchemaVersion
from specrules.model.case import TargetKind
from specrules.model.quantity import DraftLength

PriorQuantity = Literal[
    "conditional_acceptance", "round_slope", "verify_slope", "draft_cost", "coverage", "depth_share"
]
PriorShape = Literal["normal", "lognormal", "logit-normal"]


class Prior(Model):
    """A belief about one quantity, for everything that its conditions match. An empty condition matches anything.

    `conditional_acceptance` is p. `round_slope` is (round / t1 - 1) / K, the drafter included. `verify_slope` is
    (V(K+1) / t1 - 1) / K, without it. `draft_cost` is d / t1: per drafted token, or per block for block drafters.
    `coverage` is the share of rounds that draft. `depth_share` is how much of what a measured round costs above a plain
    step grows with K: the g of round(K) = round(K0) + g (K/K0 - 1) (round(K0) - t1). `low` and `high` are
    where about nine of ten sources lie that were not fitted on, as `benchmarks/README.md` says; `mid` is the median. A
    prior that is bound to draft lengths holds at those that are looked at, whether or not the case states one.
    """

    id: Identifier
    quantity: PriorQuantity
    drafter_classes: Many[Identifier] = ()
    hardware: Many[Identifier] = Field(default=(), description="groups of rules/groups.yaml")
    target_kinds: Many[TargetKind] = ()
    tasks: Many[Identifier] = ()
    concurrency: Literal["single", "batched"] | None = None
    min_draft_length: DraftLength | None = None
    max_draft_length: DraftLength | None = None
    shape: PriorShape
    low: float
    mid: float
    high: float
    rows: int = Field(ge=0, description="measurements that it was fitted on")
    sources: Many[str] = Field(description="where these stand")
    note: str = ""

    @model_validator(mode="after")
    def _ordered(self) -> Prior:
        if not self.low <= self.mid <= self.high:
            raise ValueError(f"low, mid and high are out of order: {self.low:g}, {self.mid:g}, {self.high:g}")
        return self


class PriorFile(Model):
    """`rules/priors.yaml`. The first prior of a quantity that matches counts: specific ones stand first."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    fitted_by: str
    fitted_on: Day
    priors: Many[Prior]


class HardwareGroup(Model):
    """Hardware that behaves alike when it verifies several rows. `matches` are regular expressions, case ignored."""

    id: Identifier
    title: str
    matches: Many[str] = Field(description="over the host's name, its devices' names and their backends")


class TaskGroup(Model):
    """Tasks whose texts are alike in how well they can be guessed."""

    id: Identifier
    title: str
    matches: Many[str] = Field(description="regular expressions over workload.task, case ignored")


class GroupFile(Model):
    """`rules/groups.yaml`. The first group that matches counts."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    hardware: Many[HardwareGroup]
    tasks: Many[TaskGroup] = ()
