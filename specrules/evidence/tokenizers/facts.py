"""What tokenizer files say, as the facts that engines' checks read."""

from __future__ import annotations

from collections.abc import Mapping

from specrules.evidence.tokenizers.compare import Comparison
from specrules.evidence.tokenizers.tokenizer import Tokenizer
from specrules.model.fact import Fact, FactValue
from specrules.model.quantity import Provenance


def tokenizer_facts(side: str, tokenizer: Tokenizer) -> dict[str, Fact]:
    """Facts under `target.tokenizer` or `drafter.tokenizer`; what the file does not say is left out."""
    values: dict[str, FactValue | None] = {
        "family": tokenizer.family,
        "pre": tokenizer.pre,
        "size": tokenizer.rows,
        "add_bos": tokenizer.add_bos,
        "bos_id": tokenizer.special_ids.get("bos"),
        "add_eos": tokenizer.add_eos,
        "eos_id": tokenizer.special_ids.get("eos"),
    }
    return _facts({f"{side}.tokenizer.{name}": value for name, value in values.items()}, tokenizer.source)


def pair_facts(comparison: Comparison) -> dict[str, Fact]:
    """Facts under `tokenizers`."""
    source = f"{comparison.target.source}, {comparison.drafter.source}"
    values: dict[str, FactValue | None] = {
        "last_differing_id": comparison.last_differing_id,
        "merges_equal": comparison.merges_equal,
    }
    return _facts({f"tokenizers.{name}": value for name, value in values.items()}, source)


def _facts(values: Mapping[str, FactValue | None], source: str) -> dict[str, Fact]:
    provenance = Provenance(kind="from-file", source=source)
    return {
        name: Fact(name=name, value=value, provenance=provenance) for name, value in values.items() if value is not None
    }
