"""transformers: a check of sizes only, a draft length that generate() does not read, one generator of several."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from itertools import combinations

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.derive.conditions import holds, tokenizer_gate
from specrules.model.engine import Combination, Engine, Method
from specrules.model.version import in_range


@cache
def _catalog() -> Catalog:
    return Catalog.load(environ={})


def _engine() -> Engine:
    return _catalog().engine("transformers").model


def _method(name: str) -> Method:
    return next(method for method in _engine().methods if method.id == name)


def _combined(pair: tuple[str, str]) -> Combination:
    """The first entry that fits two methods in either order: the one that counts."""
    return next(
        claim
        for claim in _engine().combinations
        if any(all(map(fnmatchcase, order, claim.methods)) for order in (pair, pair[::-1]))
    )


def _failed(method: str, version: str, target: float, drafter: float, differing: float) -> list[tuple[str, str]]:
    """The checks that refuse a pair of vocabularies in a version, with what the library does then."""
    gate = tokenizer_gate(_engine(), _method(method))
    assert gate is not None
    values = {
        "target.tokenizer.size": target,
        "drafter.tokenizer.size": drafter,
        "tokenizers.last_differing_id": differing,
    }
    return [
        (check.id, check.otherwise)
        for check in gate.checks
        if in_range(version, check.since, check.until, "dotted")
        and holds(check.accepts, _catalog().symbols, values) is False
    ]


@pytest.mark.parametrize(
    ("method", "version", "pair", "failed"),
    [
        ("assistant-model", "5.24.0", (49152.0, 49152.0, -1.0), []),
        ("assistant-model", "5.24.0", (152064.0, 151936.0, -1.0), [("size", "refused-loudly")]),
        ("assistant-model", "4.45.2", (152064.0, 151936.0, -1.0), [("size-before-universal", "refused-loudly")]),
        ("assistant-model", "5.24.0", (49152.0, 49152.0, 0.0), [("texts", "accepted-though-wrong")]),
        ("gemma4-assistant", "5.24.0", (262144.0, 262400.0, -1.0), [("size", "refused-loudly")]),
        ("universal-assisted", "5.24.0", (152064.0, 49152.0, 49151.0), []),
        ("universal-assisted", "5.24.0", (49152.0, 49152.0, 7.0), [("different-size", "refused-loudly")]),
    ],
)
def test_only_vocabulary_sizes_are_compared(
    method: str, version: str, pair: tuple[float, float, float], failed: list[tuple[str, str]]
) -> None:
    assert _failed(method, version, *pair) == failed


def test_heads_and_lookups_are_not_compared() -> None:
    for name in ("prompt-lookup", "early-exit", "mtp", "dflash"):
        assert tokenizer_gate(_engine(), _method(name)) is None


def test_the_draft_length_is_read_from_the_assistant_alone() -> None:
    refusals = {refusal.id: refusal for refusal in _engine().start_refusals}
    ignored = refusals["length-in-generate"]
    assert (ignored.effect, ignored.text) == ("setting-ignored", "")
    assert set(ignored.methods) == {"assistant-model", "universal-assisted", "gemma4-assistant", "early-exit"}
    defaults = {flag.name: flag.default for flag in _engine().flags}
    assert defaults["num_assistant_tokens"] == "20"
    assert defaults["num_assistant_tokens_schedule"] == "constant"
    assert defaults["assistant_confidence_threshold"] == "0.4"
    assert refusals["batch"].text == "assisted generate is only supported for batch_size = 1"
    assert refusals["stateful-model"].effect == "exits"
    assert [limit.value for limit in _engine().limits if limit.of == "running-requests"] == [1.0]


def test_of_two_methods_at_most_one_drafts() -> None:
    methods = [method.id for method in _engine().methods]
    claims = {pair: _combined(pair) for pair in combinations(methods, 2)}
    assert {claim.status for claim in claims.values()} == {"silently-off", "refused"}
    lookup = claims["assistant-model", "prompt-lookup"]
    assert (lookup.status, lookup.methods[0]) == ("silently-off", "prompt-lookup")
    assert claims["prompt-lookup", "early-exit"].methods[0] == "early-exit"


@pytest.mark.parametrize(
    ("method", "version", "exists"),
    [
        ("universal-assisted", "4.45.2", False),
        ("universal-assisted", "4.46.0", True),
        ("early-exit", "4.46.0", False),
        ("early-exit", "4.47.0", True),
        ("mtp", "5.12.1", False),
        ("mtp", "5.14.1", True),
        ("dflash", "5.14.1", False),
        ("dflash", "5.15.1", True),
    ],
)
def test_versions_that_were_read(method: str, version: str, exists: bool) -> None:
    claim = _method(method)
    assert in_range(version, claim.since, claim.until, "dotted") is exists


def test_nothing_is_reported_and_nothing_can_be_simulated() -> None:
    assert _engine().readers == ()
    assert _engine().synthetic_acceptance == ()
    assert _method("gemma4-assistant").lossless is None
    assert _method("assistant-model").draft_device == "routable"
    assert _method("mtp").draft_device == "same-device"


def test_recurrent_targets_and_several_sequences_end_drafting() -> None:
    fatal = {issue.id: issue.condition for issue in _engine().known_issues if issue.fatal}
    assert fatal == {"hybrid-refused": "target.is_hybrid", "concurrency": "workload.concurrency > 1"}
