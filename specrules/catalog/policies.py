"""Which policy counts, and whether what it names exists: rules, thresholds and facts."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.layers import Layer
from specrules.errors import CatalogError, Location, Problem, did_you_mean
from specrules.model.policy import PolicyFile
from specrules.model.rule import Rule

if TYPE_CHECKING:
    from specrules.catalog.document import Document
    from specrules.catalog.loaded import Loaded

OPTION = "--policy"
DEFAULT = "default"
ACCEPTANCE = "acceptance"
"""The name by which a policy asks for acceptance, which is no single fact."""

GATE_RULES: Mapping[str, str] = {
    "verdict": "The verdict of the case is one that the policy lets pass",
    "confidence": "The speedup clears the margin as surely as the policy asks",
    "engine-recognised": "The engine of the deployment is known",
    "case-given": "A deployment that drafts comes with the numbers of a case",
    "speculation-configured": "The deployment switches speculation on",
}
"""What the gate asks beside the rules of the catalogue. Policies weigh these as any other rule."""

_SUFFIXES = (".yaml", ".yml")
_KNOWN = re.compile(r"\bknown\s*\(")


def policy_layer(policy: str | os.PathLike[str] | None) -> tuple[Layer, ...]:
    """The layer of a policy that is named by its file; none for the id of one. CatalogError where it is no file."""
    if policy is None or not is_file_name(policy):
        return ()
    shown = os.fspath(policy)
    if not Path(shown).is_file():
        raise CatalogError(Problem(f"{OPTION}: no such file", Location(shown)))
    return (Layer(OPTION, Path(shown), os.path.dirname(shown), "rules"),)


def is_file_name(policy: str | os.PathLike[str]) -> bool:
    """Whether a policy is named by its file: ids hold no separator and do not end like YAML files."""
    shown = os.fspath(policy)
    return not isinstance(policy, str) or shown.endswith(_SUFFIXES) or os.sep in shown or "/" in shown


def policy_id(policy: str | os.PathLike[str] | None, documents: Mapping[str, Document]) -> str:
    """The id of the policy that counts. CatalogError for a file that holds none."""
    if policy is None:
        return DEFAULT
    if not is_file_name(policy):
        return os.fspath(policy)
    name, document = next(item for item in documents.items() if item[1].layer == OPTION)
    if "thresholds" not in document.data:
        hint = f"write 'extends: {DEFAULT}' to change that policy"
        raise CatalogError(document.problem("not a policy: it holds no thresholds", (), hint))
    return name


def policy_problems(loaded: Loaded[PolicyFile], rules: Mapping[str, Rule], facts: Collection[str]) -> list[Problem]:
    """Return what a policy names and does not exist, and what its numbers cannot be, in order of place."""
    problems = (*_thresholds(loaded), *_weights(loaded, rules), *_evidence(loaded, facts))
    return sorted(problems, key=lambda problem: problem.where or Location(loaded.document.path))


def evidence_rule(name: str) -> str:
    """The rule id of a piece of evidence that a policy asks for."""
    return f"evidence.{name}"


def all_rule_ids(rules: Iterable[str], policies: Iterable[PolicyFile]) -> tuple[str, ...]:
    """Every id that findings can have: rules of the catalogue, the gate's own, and evidence that policies ask for."""
    asked = (evidence_rule(name) for policy in policies for name in policy.evidence)
    return tuple(dict.fromkeys((*rules, *GATE_RULES, *asked)))


def _thresholds(loaded: Loaded[PolicyFile]) -> Iterator[Problem]:
    docs = loaded.model.docs
    for name, value in loaded.model.thresholds.items():
        if name not in docs:
            message = f"threshold {name!r} is not described under 'docs'"
            yield loaded.document.problem(message, ("thresholds", name), did_you_mean(name, docs), at_key=True)
        if name == "confidence" and value >= 1:
            message = "'thresholds.confidence' is a probability below 1: nothing measured is certain"
            yield loaded.document.problem(message, ("thresholds", name))


def _weights(loaded: Loaded[PolicyFile], rules: Mapping[str, Rule]) -> Iterator[Problem]:
    for name, weight in loaded.model.rules.items():
        rule = rules.get(name)
        if rule is None and name not in GATE_RULES:
            hint = did_you_mean(name, (*rules, *GATE_RULES))
            yield loaded.document.problem(f"there is no rule {name!r}", ("rules", name), hint, at_key=True)
        if rule is not None and weight == "block" and rule.severity != "block" and _asks_what_is_known(rule):
            message = f"{name!r} cannot block: it asks what is known, so that learning more could turn it"
            yield loaded.document.problem(message, ("rules", name))


def _asks_what_is_known(rule: Rule) -> bool:
    texts = (rule.applies or "", rule.require, *rule.let.values())
    return any(_KNOWN.search(text) for text in texts)


def _evidence(loaded: Loaded[PolicyFile], facts: Collection[str]) -> Iterator[Problem]:
    known = (*facts, ACCEPTANCE)
    for name, asked in loaded.model.evidence.items():
        for index, fact in enumerate(asked.facts):
            if fact not in known:
                loc = ("evidence", name, "facts", index)
                yield loaded.document.problem(f"unknown fact {fact!r}", loc, did_you_mean(fact, known))
