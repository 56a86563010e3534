"""Drafter classes: what a kind of drafter costs per round and what it needs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from specrules.model.base import ExpressionText, Identifier, Many, Model, SchemaVersion


class DrafterClass(Model):
    """The cost structure of one kind of drafter.

    `draft_ms` is an expression over `draft_length`, `drafter.step_ms` and `drafter.catch_up_ms`: everything that the
    drafter costs in a round (D(K) of the cost model).
    """

    id: Identifier
    title: str
    description: str
    symbols: str = Field(description="the cost in the symbols of the cost model")
    draft_ms: ExpressionText
    cost_inputs: Many[str] = Field(description="facts that the cost cannot be known without")
    target_specific: bool = Field(description="trained for one checkpoint, cannot be pointed at another")
    reads_hidden_states: bool = Field(description="consumes the target's hidden states, so it cannot overlap with it")
    needs_tokenizer_match: bool
    needs_weights: bool
    covers_every_round: bool = Field(description="false: drafts in a share of the rounds only (n-gram, suffix)")
    is_tree: bool = False
    depth_share: Annotated[
        tuple[float, float, float],
        Field(
            strict=False,
            description="low, middle and high of how much of a round beyond a plain step grows with K, where a run at "
            "another depth is carried over: 1 is a line through the plain step at K = 0, 0 a constant round",
        ),
    ] = (0.4, 1.0, 1.15)
    constant_in_depth: bool = Field(default=False, description="one pass per round whatever K is (block drafters)")
    refs: Many[str] = ()


class DrafterClassFile(Model):
    """`rules/drafter-classes.yaml`."""

    schema_version: SchemaVersion = Field(alias="schema")
    id: Identifier
    overrides: bool = False
    drafter_classes: Many[DrafterClass]
