"""Rules and the verdict table over the values of a case: gates, the worst outcome of each part, and the verdict."""

from __future__ import annotations

from specrules.decide.case_diff import case_diff
from specrules.decide.cases import CaseResult, coverage, run_cases
from specrules.decide.deciding import deciding_gate
from specrules.decide.gates import evaluate
from specrules.decide.parts import part_outcomes
from specrules.decide.proof import prove
from specrules.decide.rules import CompiledRule, RuleSet, compile_rules
from specrules.decide.table import Table, compile_table

__all__ = [
    "CaseResult",
    "CompiledRule",
    "RuleSet",
    "Table",
    "case_diff",
    "compile_rules",
    "compile_table",
    "coverage",
    "deciding_gate",
    "evaluate",
    "part_outcomes",
    "prove",
    "run_cases",
]
