from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import LoadError
from specrules.model.policy import PolicyFile
from specrules.model.rule import VerdictName
from specrules.pipeline.policy_cases import run_policy_cases

from .build import catalog


def problems(policies: dict[str, PolicyFile] | None = None) -> list[str]:
    return [item.message for result in run_policy_cases(catalog(), policies) for item in result.problems]


def test_the_shipped_policies_are_what_their_cases_say() -> None:
    assert problems() == []


@pytest.mark.parametrize("policy", ["default", "strict", "advisory"])
def test_every_verdict_has_its_case(policy: str) -> None:
    asked = {result.case.given.verdict for result in run_policy_cases(catalog()) if result.case.policy == policy}
    assert asked - {None} == set(get_args(VerdictName))


def changes(policy: PolicyFile) -> Iterator[PolicyFile]:
    """A policy with one of its decisions turned round, once for each."""
    for name, outcome in policy.verdicts.model_dump().items():
        other = {"pass": "warn", "warn": "fail", "fail": "warn"}[outcome]
        yield policy.model_copy(update={"verdicts": policy.verdicts.model_copy(update={name: other})})
    yield policy.model_copy(update={"unknown": "warn" if policy.unknown == "block" else "block"})
    for name in policy.rules:
        yield policy.model_copy(update={"rules": {**policy.rules, name: "info"}})
    for name, asked in policy.evidence.items():
        for change in (
            {"max_age_days": asked.max_age_days + 0.5},
            {"max_age_days": asked.max_age_days - 0.5},
            {"kinds": ("measured", "from-file", "reported")} if name == "incumbent-rate" else {"kinds": ("measured",)},
            {"severity": "warn"},
        ):
            yield policy.model_copy(update={"evidence": {**policy.evidence, name: asked.model_copy(update=change)}})


@pytest.mark.parametrize("name", ["default", "strict", "advisory"])
def test_turning_any_decision_of_a_shipped_policy_fails_a_case(name: str) -> None:
    policies = dict(catalog().policies)
    found = list(changes(policies[name]))
    assert len(found) >= 7
    for changed in found:
        assert problems({**policies, name: changed}), changed


def ours(tmp_path: Path, cases: str) -> list[str]:
    (tmp_path / "ours.yaml").write_text("schema: 1\nid: ours\nextends: strict\nrules: {drafter-fits: off}\n")
    (tmp_path / "ours.test.yaml").write_text(f"schema: 1\npolicy_cases:\n{cases}")
    loaded = Catalog.load(rules=[tmp_path], environ={}, cwd=tmp_path)
    results = [result for result in run_policy_cases(loaded) if result.case.name == "x"]
    assert results
    return [item.render().removeprefix(f"{tmp_path}/") for result in results for item in result.problems]


@pytest.mark.parametrize(
    ("given", "expected", "message"),
    [
        ("rule: drafter-fits, outcome: fail", "off", None),
        ("rule: drafter-fits, outcome: fail", "fail", "the gate says 'off' and not 'fail'"),
        ("rule: drafter-fit, outcome: fail", "fail", "there is no rule 'drafter-fit' (did you mean 'drafter-fits'?)"),
        (
            "evidence: incumbent-rates",
            "fail",
            "ours asks for no evidence 'incumbent-rates' (did you mean 'incumbent-rate'?)",
        ),
    ],
)
def test_cases_of_your_own(tmp_path: Path, given: str, expected: str, message: str | None) -> None:
    line = f"  - {{name: x, policy: ours, given: {{{given}}}, expect: {{gate: {expected}}}}}\n"
    found = ours(tmp_path, line)
    assert [item.partition("case 'x': ")[2] for item in found] == ([] if message is None else [message])
    assert all(item.startswith("ours.test.yaml:3:") for item in found)


def test_a_policy_that_does_not_exist(tmp_path: Path) -> None:
    (found,) = ours(tmp_path, "  - {name: x, policy: our, given: {verdict: deploy}, expect: {gate: pass}}\n")
    assert found.startswith("ours.test.yaml:3:23: case 'x': there is no policy 'our' (did you mean 'ours'?)")


@pytest.mark.parametrize(
    "given", ["{}", "{verdict: deploy, evidence: acceptance}", "{rule: drafter-fits}", "{outcome: fail}"]
)
def test_one_question_at_a_time(tmp_path: Path, given: str) -> None:
    with pytest.raises(LoadError):
        ours(tmp_path, f"  - {{name: x, policy: ours, given: {given}, expect: {{gate: pass}}}}\n")
