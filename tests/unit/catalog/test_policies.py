from __future__ import annotations

from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.catalog.policies import GATE_RULES, all_rule_ids
from specrules.errors import UserError
from specrules.model.rule import RuleFile


def load(folder: Path, policy: str | Path | None = None) -> Catalog:
    rules = folder / "rules"
    return Catalog.load(rules=[rules] if rules.exists() else [], policy=policy, cwd=folder, environ={})


def put(folder: Path, text: str, name: str = "rules/ours.yaml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("schema: 1\n" + text, encoding="utf-8")
    return file


def refused(folder: Path, text: str) -> list[str]:
    """What is wrong with a policy, by place in its file."""
    file = put(folder, text)
    with pytest.raises(UserError) as caught:
        load(folder).policies  # noqa: B018
    return [problem.render().split("\n")[0].removeprefix(f"{file}:") for problem in caught.value.problems]


def test_the_shipped_policies(tmp_path: Path) -> None:
    default, strict, advisory = (load(tmp_path, name).policy for name in ("default", "strict", "advisory"))
    assert (default.unknown, strict.unknown, advisory.unknown) == ("block", "block", "warn")
    for policy in (default, strict, advisory):
        assert policy.verdicts.of("deploy") == "pass"
        assert {policy.verdicts.of(name) for name in ("keep-incumbent", "blocked", "invalid-evidence")} == {"fail"}
        undecided = "warn" if policy is advisory else "fail"
        assert {policy.verdicts.of(name) for name in ("marginal", "measure-first")} == {undecided}
    assert default.evidence == {}
    assert set(strict.evidence) == {"incumbent-rate", "acceptance"}
    assert strict.rules["evidence-fresh"] == "block"
    assert (default.case, strict.case) == ("optional", "required")
    assert strict.thresholds["margin"] > default.thresholds["margin"] == advisory.thresholds["margin"]
    assert strict.thresholds["search_depth"] == default.thresholds["search_depth"]
    assert strict.waivers.max_days < default.waivers.max_days


def test_the_default_says_what_leaving_out_means(tmp_path: Path) -> None:
    put(tmp_path, "id: bare\ntitle: Bare\nthresholds: {}\ndocs: {}\n")
    default, bare = load(tmp_path).policy, load(tmp_path).policies["bare"]
    for name in ("verdicts", "unknown", "rules", "speculation", "case", "evidence", "waivers"):
        assert getattr(bare, name) == getattr(default, name)


def test_thresholds_of_the_policy_reach_the_symbols(tmp_path: Path) -> None:
    put(tmp_path, "id: ours\nextends: strict\ntitle: Ours\nthresholds: {ours: 2}\ndocs: {ours: our own}\n")
    assert "policy.ours" in load(tmp_path, "ours").symbols
    assert "policy.ours" not in load(tmp_path).symbols
    assert load(tmp_path, "ours").policy.thresholds["margin"] == 0.1


class TestWhichPolicyCounts:
    def test_one_that_does_not_exist(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"no policy 'strikt'; known are .* \(did you mean 'strict'\?\)"):
            load(tmp_path, "strikt").policy  # noqa: B018

    @pytest.mark.parametrize("as_path", [True, False])
    def test_a_file(self, tmp_path: Path, as_path: bool) -> None:
        file = put(tmp_path, "id: staging\nextends: strict\nthresholds: {margin: 0.02}\n", "staging.yaml")
        catalog = load(tmp_path, file if as_path else str(file))
        assert (catalog.policy.id, catalog.policy.thresholds["margin"]) == ("staging", 0.02)
        assert catalog.rules_digest != load(tmp_path, "strict").rules_digest

    def test_a_file_that_changes_a_policy_in_place(self, tmp_path: Path) -> None:
        file = put(tmp_path, "extends: default\nunknown: info\n", "changed.yaml")
        catalog = load(tmp_path, file)
        assert (catalog.policy.id, catalog.policy.unknown) == ("default", "info")
        assert catalog.overridden == (f"default ({file})",)

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"nowhere/p.yaml: --policy: no such file"):
            load(tmp_path, "nowhere/p.yaml")

    def test_a_file_that_is_no_policy(self, tmp_path: Path) -> None:
        file = put(tmp_path, "id: ours\nrules: {}\n", "ours.yaml")
        with pytest.raises(UserError, match=r"not a policy: it holds no thresholds \(write 'extends: default'"):
            load(tmp_path, file)

    def test_circles(self, tmp_path: Path) -> None:
        put(tmp_path, "id: one\nextends: two\n", "rules/one.yaml")
        put(tmp_path, "id: two\nextends: one\n", "rules/two.yaml")
        with pytest.raises(UserError, match=r"rules/one.yaml:3:10: extends itself: one .* -> two .* -> one"):
            load(tmp_path)


class TestWhatIsWrong:
    def test_everything_at_once_and_at_its_place(self, tmp_path: Path) -> None:
        text = """\
id: ours
extends: default
thresholds: {margn: 0.1, confidence: 1.5}
rules:
  drafter-fit: block
  verdict: warn
evidence:
  rate:
    title: The rate
    facts: [acceptance, incumbent.rate_toks]
"""
        assert refused(tmp_path, text) == [
            "4:14: threshold 'margn' is not described under 'docs' (did you mean 'margin'?)",
            "4:38: 'thresholds.confidence' is a probability below 1: nothing measured is certain",
            "6:3: there is no rule 'drafter-fit' (did you mean 'drafter-fits'?)",
            "11:25: unknown fact 'incumbent.rate_toks' (did you mean 'incumbent.rate_tok_s'?)",
        ]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("verdicts: {blocked: pass}", "4:21: 'verdicts.blocked' must be one of 'warn' or 'fail', not 'pass'"),
            ("verdicts: {keep-incumbnt: fail}", "4:12: unknown key 'verdicts.keep-incumbnt'"),
            ("unknown: pass", "4:10: 'unknown' must be one of 'block', 'warn' or 'info', not 'pass'"),
            ("rules: {drafter-fits: blok}", "4:23: 'rules.drafter-fits' must be one of "),
            ("evidence: {a: {title: x, facts: []}}", "4:33: 'evidence.a.facts' "),
            ("waivers: {max_days: 0}", "4:21: 'waivers.max_days' must be "),
            ("speculation: maybe", "4:14: 'speculation' must be one of 'optional' or 'required', not 'maybe'"),
        ],
    )
    def test_values(self, tmp_path: Path, line: str, message: str) -> None:
        (found,) = refused(tmp_path, f"id: ours\nextends: default\n{line}\n")
        assert found.startswith(message)

    def test_a_rule_that_asks_what_is_known_cannot_block(self, tmp_path: Path) -> None:
        (found,) = refused(tmp_path, "id: ours\nextends: default\nrules: {off-beats-incumbent: block}\n")
        assert found.startswith("4:30: 'off-beats-incumbent' cannot block: it asks what is known")
        put(tmp_path, "id: ours\nextends: default\nrules: {off-beats-incumbent: info, lossless: block}\n")
        assert load(tmp_path, "ours").policy.rules == {"off-beats-incumbent": "info", "lossless": "block"}


def test_every_id_that_findings_can_have(tmp_path: Path) -> None:
    catalog = load(tmp_path)
    rules = [rule.id for file in catalog.of_kind(RuleFile) for rule in file.model.rules]
    found = all_rule_ids(rules, catalog.policies.values())
    assert {*rules, *GATE_RULES, "evidence.incumbent-rate", "evidence.acceptance"} == set(found)
    assert len(found) == len(set(found))
