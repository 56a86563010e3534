"""The expression language of rules, engine readers and formulas.

A subset of Python's expression syntax, typed at load against declared names and evaluated in three values: true, false
and unknown, where unknown knows which inputs would settle it. Nothing in it can hang, allocate much or reach outside.
"""

from __future__ import annotations

from specrules.expressions.expression import Explanation, Expression, compile_expression
from specrules.expressions.functions import FUNCTIONS, Function
from specrules.expressions.types import Type, Value
from specrules.expressions.unknown import Unknown, is_unknown

__all__ = [
    "FUNCTIONS",
    "Explanation",
    "Expression",
    "Function",
    "Type",
    "Unknown",
    "Value",
    "compile_expression",
    "is_unknown",
]
