"""Tokenizers of every source in one form, and two of them held against each other."""

from __future__ import annotations

from specrules.evidence.tokenizers.compare import Comparison, Difference, Kind, SpecialDifference, compare
from specrules.evidence.tokenizers.from_gguf import tokenizer_of
from specrules.evidence.tokenizers.load import load_tokenizer
from specrules.evidence.tokenizers.tokenizer import Head, Tokenizer, TokenType

__all__ = [
    "Comparison",
    "Difference",
    "Head",
    "Kind",
    "SpecialDifference",
    "TokenType",
    "Tokenizer",
    "compare",
    "load_tokenizer",
    "tokenizer_of",
]
