"""Everything that a case, its facts and the catalogue say, in one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specrules.derive.acceptance import observed_acceptance
from specrules.derive.arithmetic import Arithmetic, compile_arithmetic
from specrules.derive.implied import implied_facts
from specrules.derive.methods import candidate_method
from specrules.derive.priors import beliefs
from specrules.derive.projection import Projections, project
from specrules.derive.sides import Sides, measured_run
from specrules.derive.steps import step_times
from specrules.expressions import Type
from specrules.model.case import Case
from specrules.model.drafter import DrafterClass
from specrules.model.engine import Engine
from specrules.model.fact import Facts
from specrules.model.prior import GroupFile, PriorFile
from specrules.model.rule import FormulaFile, Input


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the catalogue holds for one case."""

    engine: Engine
    drafter_class: DrafterClass
    formulas: FormulaFile
    inputs: tuple[Input, ...]
    thresholds: Mapping[str, float]
    priors: PriorFile
    groups: GroupFile
    symbols: Mapping[str, Type]


@dataclass(frozen=True, slots=True)
class Situation:
    """A case with everything that follows from it before a rule is asked."""

    case: Case
    facts: Facts
    knowledge: Knowledge
    sides: Sides
    arithmetic: Arithmetic
    projections: Projections


def situation(case: Case, facts: Facts, knowledge: Knowledge) -> Situation:
    """Derive step times, acceptance, rounds and projections."""
    facts = facts.extended(implied_facts(facts))
    method = candidate_method(case, knowledge.engine)
    believed = beliefs(case, knowledge.priors, knowledge.groups)
    observed = observed_acceptance(case, facts, method)
    is_tree = knowledge.drafter_class.is_tree
    sides = Sides(
        case=case,
        facts=facts,
        steps=step_times(case, facts, knowledge.thresholds),
        drafter_class=knowledge.drafter_class,
        method=method,
        observed=observed,
        run=measured_run(case, facts, observed, knowledge.thresholds, is_tree=is_tree),
        thresholds=knowledge.thresholds,
        beliefs=believed,
    )
    arithmetic = compile_arithmetic(knowledge.formulas, knowledge.drafter_class, knowledge.thresholds)
    return Situation(case, facts, knowledge, sides, arithmetic, project(sides, arithmetic))
