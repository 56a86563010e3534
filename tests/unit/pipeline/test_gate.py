from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from specrules.catalog.catalogue import Catalog
from specrules.errors import LoadError
from specrules.model.finding import Finding, GateReport, Subject
from specrules.pipeline.gate import gate
from specrules.pipeline.gate_kind import is_case

from .build import catalog

NOW = datetime(2026, 11, 29, tzinfo=UTC)
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: llm}
spec:
  containers:
    - name: server
      image: ghcr.io/ggml-org/llama.cpp:server-cuda-b11434
      args: [-m, /models/big.gguf, --metrics%s]
"""
DRAFTS = POD % ', --spec-type, draft-mtp, --spec-draft-n-max, "3"'
PLAIN = POD % ""
OLD_FLAG = POD % ', --spec-type, draft-mtp, --draft-max, "3"'
CASE = """\
schema: 1
target: {name: big}
drafter: {name: head, class: mtp-head}
engine: llama.cpp
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")
    return name


def judge(*paths: str, policy: str | None = None, **more: object) -> GateReport:
    chosen = catalog() if policy is None else Catalog.load(policy=policy, environ={})
    return gate(paths, catalog=chosen, now=NOW, **more)  # type: ignore[arg-type]


def only(report: GateReport) -> Subject:
    (subject,) = report.subjects
    return subject


def of(subject: Subject, rule: str) -> Finding:
    (finding,) = [item for item in subject.findings if item.rule == rule]
    return finding


class TestDeployments:
    def test_no_speculation_is_one_line(self) -> None:
        found = only(judge(put("llm.yaml", PLAIN)))
        assert (found.summary, found.outcome, found.kind, found.engine) == (
            "no speculation configured",
            "pass",
            "deployment",
            "llama.cpp",
        )
        (finding,) = found.findings
        assert (finding.rule, finding.outcome) == ("speculation-configured", "not-applicable")

    def test_no_speculation_where_it_is_required(self) -> None:
        put("ours.yaml", "schema: 1\nid: ours\nextends: default\nspeculation: required\n")
        found = only(judge(put("llm.yaml", PLAIN), policy="ours.yaml"))
        assert of(found, "speculation-configured").message == "no speculation configured, and the policy requires it"
        assert found.outcome == "fail"
        drafts = only(judge(put("llm.yaml", DRAFTS), policy="ours.yaml"))
        assert of(drafts, "speculation-configured").outcome == "pass"

    def test_a_removed_flag_at_its_place(self) -> None:
        found = only(judge(put("llm.yaml", OLD_FLAG)))
        finding = of(found, "setting-not-removed")
        assert (finding.outcome, finding.level, found.outcome) == ("fail", "error", "fail")
        line = OLD_FLAG.splitlines()[finding.place.line - 1]
        assert line[finding.place.column - 1 :].startswith("--draft-max")

    def test_a_case_is_asked_for_by_a_policy(self) -> None:
        put("llm.yaml", DRAFTS)
        found = of(only(judge("llm.yaml", policy="strict")), "case-given")
        assert (found.outcome, found.level) == ("unknown", "error")
        assert "NAME.specrules.yaml" in found.fix
        put("llm.specrules.yaml", CASE)
        assert of(only(judge("llm.yaml", policy="strict")), "case-given").outcome == "pass"

    def test_a_case_beside_the_file_gives_the_verdict(self) -> None:
        put("llm.yaml", DRAFTS)
        put("llm.specrules.yaml", CASE)
        found = only(judge("llm.yaml"))
        assert (found.verdict, found.case) == ("measure-first", "llm.specrules.yaml")
        verdict = of(found, "verdict")
        assert (verdict.outcome, verdict.place.path) == ("unknown", "llm.yaml")
        assert of(found, "incumbent-rate-known").place.path == "llm.specrules.yaml"
        assert found.inputs_digest != only(judge(put("alone.yaml", DRAFTS))).inputs_digest

    def test_a_case_stands_for_the_deployments_beside_it(self) -> None:
        put("llm.specrules.yaml", CASE)
        assert only(judge("llm.specrules.yaml")).kind == "case"
        put("llm.yaml", DRAFTS)
        put("llm.sh", "llama-server -m big.gguf\n")
        put("llm-other.yaml", PLAIN)
        report = judge("llm.specrules.yaml", "llm.yaml")
        assert [(subject.path, subject.kind) for subject in report.subjects] == [
            ("llm.sh", "deployment"),
            ("llm.yaml", "deployment"),
        ]
        put("eu/Dockerfile", "FROM ghcr.io/ggml-org/llama.cpp:server-b11434\n")
        put("eu/Dockerfile.specrules.yaml", CASE)
        assert [subject.path for subject in judge("eu/Dockerfile.specrules.yaml").subjects] == ["eu/Dockerfile"]

    def test_a_case_for_all(self) -> None:
        put("numbers.yaml", CASE)
        report = judge(put("a.yaml", DRAFTS), put("b.yaml", PLAIN), case="numbers.yaml")
        assert [subject.verdict for subject in report.subjects] == ["measure-first", None]
        with pytest.raises(LoadError, match=r"nowhere\.yaml: cannot be read"):
            judge("a.yaml", case="nowhere.yaml")

    def test_a_broken_case_beside_the_file_is_an_error_and_the_deployment_is_judged(self) -> None:
        put("llm.yaml", OLD_FLAG)
        put("llm.specrules.yaml", CASE.replace("target:", "targte:"))
        report = judge("llm.yaml")
        assert report.outcome == "error"
        assert report.errors[0].place.path == "llm.specrules.yaml"
        assert of(only(report), "setting-not-removed").outcome == "fail"

    def test_the_digest_of_inputs_is_that_of_what_is_deployed(self) -> None:
        digests = {
            text: only(judge(put("llm.yaml", text))).inputs_digest
            for text in (DRAFTS, "# a comment\n" + DRAFTS, DRAFTS.replace('"3"', '"4"'))
        }
        same, commented, other = digests.values()
        assert same == commented != other

    def test_secrets_do_not_count_and_are_not_shown(self) -> None:
        text = POD % ', --spec-type, draft-mtp, --api-key, "hunter2-hunter2"'
        report = judge(put("llm.yaml", text))
        other = judge(put("llm.yaml", text.replace("hunter2", "swordfish")))
        assert only(report).inputs_digest == only(other).inputs_digest
        assert "hunter2" not in report.model_dump_json()


class TestWhatIsNoEngine:
    SIDECAR = PLAIN + "    - {name: proxy, image: nginx:1.25}\n"

    def test_beside_an_engine_it_is_mentioned(self) -> None:
        report = judge(put("llm.yaml", self.SIDECAR))
        assert [subject.outcome for subject in report.subjects] == ["pass", "pass"]
        finding = of(report.subjects[1], "engine-recognised")
        assert (finding.outcome, finding.level) == ("unknown", "note")
        assert finding.message == (
            "Which engine Pod/llm, container proxy (nginx:1.25) starts is not known, so this was not judged."
        )

    def test_alone_it_is_not_passed(self) -> None:
        alone = PLAIN.replace("ghcr.io/ggml-org/llama.cpp:server-cuda-b11434", "internal/llm:7")
        found = only(judge(put("llm.yaml", alone.replace("[-m, /models/big.gguf, --metrics]", "[serve]"))))
        assert (of(found, "engine-recognised").level, found.outcome) == ("error", "fail")

    def test_many_are_one_finding(self) -> None:
        put("run.sh", "".join(f"tool-{number} --serve\n" for number in range(7)))
        (finding,) = only(judge("run.sh")).findings
        assert finding.message.count("run.sh (tool-") == 5
        assert " and 2 more start is not known" in finding.message
        assert (finding.place.line, finding.place.column) == (1, 1)

    @pytest.mark.parametrize("text", ["a: 1\n", "null\n", "[]\n", "\xff\n"])
    def test_a_file_that_nobody_knows_is_not_passed(self, text: str) -> None:
        found = only(judge(put("some.yaml", text)))
        assert found.outcome == "fail"
        assert of(found, "engine-recognised").message.startswith("Nothing in this file is known: ")

    def test_a_manifest_that_starts_nothing_is_clean(self) -> None:
        found = only(judge(put("service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: llm}\n")))
        assert (found.outcome, found.findings[0].outcome) == ("pass", "not-applicable")
        assert "no process is started" in found.summary


class TestErrors:
    def test_a_file_that_cannot_be_read_stops_no_other(self) -> None:
        put("bad.yaml", "apiVersion: v1\nkind: [\n")
        report = judge("bad.yaml", "nowhere.yaml", put("llm.yaml", OLD_FLAG))
        assert report.outcome == "error"
        assert [error.place.path for error in report.errors] == ["bad.yaml", "nowhere.yaml"]
        assert report.errors[0].place.line == 3
        assert only(report).outcome == "fail"

    def test_a_case_with_a_mistake_is_an_error_with_a_hint(self) -> None:
        report = judge(put("case.yaml", CASE.replace("llama.cpp", "llama.ccp")), put("llm.yaml", PLAIN))
        (error,) = report.errors
        assert (error.place.path, error.place.line) == ("case.yaml", 4)
        assert error.hint == "did you mean 'llama.cpp'?"
        assert only(report).outcome == "pass"

    def test_a_bug_on_one_file_keeps_the_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import specrules.pipeline.gate_deployment as module

        real = module.read_deployments

        def faulty(path: str, found: Catalog) -> object:
            return 1 // 0 if path == "a.yaml" else real(path, found)

        monkeypatch.setattr(module, "read_deployments", faulty)
        report = judge(put("a.yaml", PLAIN), put("b.yaml", PLAIN))
        assert report.errors[0].message == "internal error: ZeroDivisionError: integer division or modulo by zero"
        assert only(report).path == "b.yaml"
        monkeypatch.setenv("SPECRULES_DEBUG", "1")
        with pytest.raises(ZeroDivisionError):
            judge("a.yaml")

    def test_a_file_named_twice_is_judged_once(self) -> None:
        put("llm.yaml", PLAIN)
        assert len(judge("llm.yaml", "llm.yaml").subjects) == 1


class TestWaivers:
    LINE = "- {rule: %s, files: [%s], reason: r, owner: o, expires: 2026-12-10%s}\n"

    def put(self, rule: str, files: str = "'*.yaml'", more: str = "", name: str = ".specrules/waivers.yaml") -> None:
        put(name, "schema: 1\nwaivers:\n" + self.LINE % (rule, files, more))

    def test_the_file_of_the_repository_counts(self) -> None:
        self.put("setting-not-removed", "deploy/**")
        report = judge(put("deploy/eu/llm.yaml", OLD_FLAG))
        finding = of(only(report), "setting-not-removed")
        assert (finding.waiver.owner, finding.outcome) == ("o", "fail")
        assert report.waivers[0].used == 1
        assert only(judge(put("elsewhere/llm.yaml", OLD_FLAG))).outcome == "fail"

    def test_paths_start_at_the_repository_from_any_folder_of_it(
        self, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (here / ".git").mkdir()
        self.put("setting-not-removed", "deploy/llm.yaml")
        put("deploy/llm.yaml", OLD_FLAG)
        monkeypatch.chdir(here / "deploy")
        assert of(only(judge("llm.yaml")), "setting-not-removed").waiver is not None

    def test_a_named_file_counts_instead(self) -> None:
        self.put("setting-not-removed")
        self.put("verdict", name="others.yaml")
        put("llm.yaml", OLD_FLAG)
        assert only(judge("llm.yaml", waivers="others.yaml")).outcome == "fail"

    def test_bound_to_the_inputs_that_the_gate_prints(self) -> None:
        digest = only(judge(put("llm.yaml", OLD_FLAG))).inputs_digest
        self.put("setting-not-removed", more=f", inputs: {digest}")
        assert of(only(judge("llm.yaml")), "setting-not-removed").waiver is not None
        put("llm.yaml", OLD_FLAG.replace('"3"', '"4"'))
        report = judge("llm.yaml")
        assert only(report).outcome == "fail"
        assert [notice.state for notice in report.waivers] == ["inputs-changed"]

    def test_a_rule_that_does_not_exist_is_refused(self) -> None:
        self.put("setting-not-remove")
        with pytest.raises(LoadError, match=r"did you mean 'setting-not-removed'"):
            judge(put("llm.yaml", PLAIN))


def test_the_same_input_gives_the_same_report() -> None:
    put("llm.yaml", OLD_FLAG)
    put("case.yaml", CASE)
    first, second = (judge("llm.yaml", "case.yaml", "nowhere.yaml").model_dump_json() for _ in range(2))
    assert first == second


def test_what_made_the_report_is_named() -> None:
    report = judge(put("llm.yaml", PLAIN), policy="advisory")
    assert (report.policy, report.now, report.schema_version) == ("advisory", "2026-11-29T00:00:00+00:00", 1)
    assert len(report.rules_digest) == 12


class TestKinds:
    @pytest.mark.parametrize(
        ("name", "text", "case"),
        [
            ("a.yaml", CASE, True),
            ("a.yaml", "\ufeff# comment\n" + CASE, True),
            ("a.yaml", CASE.replace("schema: 1\n", ""), True),
            ("a.json", '{"schema": 1, "target": {"name": "x"}}', True),
            ("a.json", '{\n  "schema": 1,\n  "target": {"name": "x"}}', True),
            ("a.yaml", "schema : 1\n", True),
            ("a.specrules.yaml", "nonsense", True),
            ("a.yaml", PLAIN, False),
            ("a.yaml", "apiVersion: v1\nspec:\n  schema: 1\n  target: x\n  drafter: y\n", False),
            ("a.yaml", "services: {llm: {image: x}}\ntarget: x\n", False),
            ("a.ini", "[schema]\nm = x\n", False),
            ("Dockerfile", "FROM x\n", False),
        ],
    )
    def test_by_name_or_by_keys_at_the_margin(self, name: str, text: str, case: bool) -> None:
        assert is_case(put(name, text)) is case

    def test_what_cannot_be_read_is_left_to_the_reader(self) -> None:
        assert not is_case("nowhere.yaml")
        assert not is_case(os.curdir)
        os.mkfifo("pipe")
        assert not is_case("pipe")
