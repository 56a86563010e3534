"""Mistakes in layers: folders, rule files, engine files, templates. Exit code 2, each message at its place."""

from __future__ import annotations

import pytest

from .running import BARE, ENGINE, RULES, changed, cli, place, put, refused


def about_rules(old: str, new: str) -> list[str]:
    put("rules/ours.yaml", changed(RULES, old, new))
    return refused("rules", "list", "--rules", "rules")


def about_engine(old: str, new: str) -> list[str]:
    put("engines/ours.yaml", changed(ENGINE, old, new))
    return refused("engines", "check", "ours", "--engines", "engines")


class TestFolders:
    """A folder that holds nothing is never taken for nothing found."""

    @pytest.mark.parametrize("kind", ["engines", "rules", "templates"])
    def test_that_do_not_exist_or_hold_no_document(self, folder, kind):
        put("case.yaml", BARE)
        (folder / "empty").mkdir()
        put("notes/readme.md", "no document")
        suffix = "*.j2" if kind == "templates" else "*.yaml"
        assert refused("triage", "case.yaml", f"--{kind}", "gone") == [f"gone: --{kind}: no such folder"]
        for name in ("empty", "notes"):
            assert refused("triage", "case.yaml", f"--{kind}", name) == [
                f"{name}: --{kind}: the folder holds no document (looked for {suffix})"
            ]

    def test_all_of_them_are_named(self):
        assert refused("engines", "list", "--engines", "a", "--engines", "b", "--templates", "c") == [
            "a: --engines: no such folder",
            "b: --engines: no such folder",
            "c: --templates: no such folder",
        ]

    def test_that_hold_the_folder_that_is_meant(self):
        put("layer/engines/ours.yaml", ENGINE)
        assert refused("engines", "list", "--engines", "layer") == [
            "layer: --engines: this holds engines/, give that folder itself"
        ]

    def test_a_file_is_no_folder(self):
        put("ours.yaml", ENGINE)
        assert refused("engines", "list", "--engines", "ours.yaml") == ["ours.yaml: --engines: no such folder"]


class TestRuleFiles:
    """Expressions have the column of the word that is wrong."""

    @pytest.mark.parametrize(
        ("require", "at", "message"),
        [
            ("drafter.stepms < 5", "drafter.stepms", "unknown name 'drafter.stepms' (did you mean 'drafter.step_ms'?)"),
            ("drafter.step_ms < 5 and target.nme == 'x'", "target.nme", "unknown name 'target.nme'"),
            (
                "drafter.step_ms < 'a'",
                "'a'",
                "`<` compares different types: `drafter.step_ms` is a number, `'a'` a text",
            ),
            ("drafter.step_ms < < 5", "< 5", "the expression does not parse: invalid syntax"),
            ("drafter.step_ms + 1", "drafter", "the expression has to be true or false, and it is a number"),
            ("__import__('os')", "__import__", "unknown function '__import__'"),
            ("known(drafter.step_ms", "(drafter", "the expression does not parse: '(' was never closed"),
        ],
    )
    def test_a_bad_expression(self, require, at, message):
        text = changed(RULES, "drafter.step_ms < 5", require)
        (problem,) = about_rules("drafter.step_ms < 5", require)
        line = f"    require: {require}"
        assert problem.startswith(f"rules/ours.yaml:9:{line.index(at) + 1}: {message}"), (problem, text)

    def test_the_column_in_block_text_and_in_quotes(self):
        for written, expected in (
            ('"drafter.step_ms < 5 and big"', "9:39"),
            ("'drafter.step_ms < 5 and big'", "9:39"),
            (">-\n      drafter.step_ms < 5\n      and big", "11:11"),
        ):
            (problem,) = about_rules("drafter.step_ms < 5", written)
            assert problem.startswith(f"rules/ours.yaml:{expected}: unknown name 'big'"), (written, problem)

    def test_the_source_line_is_shown_with_a_caret(self):
        put("rules/ours.yaml", changed(RULES, "drafter.step_ms < 5", "drafter.stepms < 5"))
        assert cli("rules", "list", "--rules", "rules").err.splitlines()[1:] == [
            "        require: drafter.stepms < 5",
            "                 ^",
        ]

    def test_a_case_is_not_judged_with_a_broken_rule(self):
        put("case.yaml", BARE)
        put("rules/ours.yaml", changed(RULES, "drafter.step_ms < 5", "drafter.stepms < 5"))
        assert refused("triage", "case.yaml", "--rules", "rules") == [
            "rules/ours.yaml:9:14: unknown name 'drafter.stepms' (did you mean 'drafter.step_ms'?)"
        ]

    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            ("{{ drafter.step_ms }}", "{{ drafter.stepms }}",
             "10:18: unknown name 'drafter.stepms' in the message (did you mean 'drafter.step_ms'?)"),
            ("{{ drafter.step_ms }}", "{{ drafter.step_ms ", "10:15: the message does not parse: "),
            ("severity: warn", "severity: wran",
             "8:15: 'rules[0].severity' must be one of 'block', 'warn' or 'info', not 'wran' (did you mean 'warn'?)"),
            ("id: quick-drafter", "id: drafter-fits", "6:9: the rule id 'drafter-fits' is used twice (first at "),
            ("schema: 1", "schema: 2", "1:9: written for a newer specrules (schema 2, this one reads 1)"),
            ("id: ours\n", "", "1:1: missing key 'id'"),
            ("rules:\n", "rulez:\n", "1:1: not a document of rules: it holds none of the keys "),
            ("title: Ours\n", "title: Ours\ntitle: Again\n", "5:1: duplicate key 'title' (first at line 4)"),
        ],
    )  # fmt: skip
    def test_other_mistakes(self, old, new, problem):
        problems = about_rules(old, new)
        assert len(problems) == 1
        assert problems[0].startswith(f"rules/ours.yaml:{problem}")

    def test_an_id_that_is_taken(self):
        put("rules/policy.yaml", "schema: 1\nid: default\ntitle: Ours\nthresholds: {margin: 0.1}\ndocs: {margin: x}\n")
        (problem,) = refused("rules", "list", "--rules", "rules")
        assert problem.startswith("rules/policy.yaml:2:5: id 'default' is taken by built-in rules/policy.yaml:")
        assert problem.endswith(" (add 'overrides: true', or 'extends: default' to change it)")

    def test_two_files_with_one_id(self):
        put("rules/a.yaml", RULES)
        put("rules/b.yaml", changed(RULES, "quick-drafter", "other"))
        assert refused("rules", "list", "--rules", "rules") == [
            "rules/b.yaml:2:5: id 'ours' is already taken by rules/a.yaml:2:5"
        ]

    def test_a_misspelt_threshold(self):
        put("rules/policy.yaml", "schema: 1\nextends: default\nthresholds: {margn: 0.1}\n")
        assert refused("rules", "list", "--rules", "rules") == [
            "rules/policy.yaml:3:14: threshold 'margn' is not described under 'docs' (did you mean 'margin'?)"
        ]

    def test_a_threshold_below_zero(self):
        put("rules/policy.yaml", "schema: 1\nextends: default\nthresholds: {margin: -1}\n")
        (problem,) = refused("rules", "list", "--rules", "rules")
        assert problem.startswith("rules/policy.yaml:3:22: 'thresholds.margin' must be ")


class TestEngineFiles:
    """What the model cannot see is checked too: references, versions, expressions, examples."""

    def test_the_engine_itself_is_fine(self):
        put("engines/ours.yaml", ENGINE)
        ran = cli("engines", "check", "ours", "--engines", "engines")
        assert (ran.code, ran.out) == (0, "ours: ok, 1 methods, 1 readers, 1 patterns, 1 examples\n")

    @pytest.mark.parametrize(
        ("old", "new", "at", "message"),
        [
            ("title: Ours", "titel: Ours", "titel", "unknown key 'titel' (did you mean 'title'?)"),
            ("by: run", "by: rumour", "rumour", "'sources[0].by' must be one of 'source', 'run', "),
            ("draft_device: routable, known: ran", "draft_device: routable, known: run", "run}",
             "no source 'run' in this file (did you mean 'ran'?)"),
            ("drafter_class: model", "drafter_class: modle", "modle", "no drafter class 'modle'; known are model, "),
            ('facts_from: "1.0"', "facts_from: 1.0", "1.0", "'version.facts_from' must be text, not 1.0"),
            ("draft_device: routable,", "draft_device: routable, since: b12,", "b12",
             "'b12' is not a version such as 0.33.0"),
            ("value: tokens", "value: tokns", "tokns", "unknown name 'tokns' (did you mean 'tokens'?)"),
            ("\n          - {line: finished after 5 tokens, fields: {tokens: 5}, source: our machine}", " []",
             "id: done",
             "readers[0].patterns[0]: the pattern 'done' has no example: a pattern without one does not load"),
        ],
    )  # fmt: skip
    def test_one_message_at_its_place(self, old, new, at, message):
        problems = [item for item in about_engine(old, new) if "missing key" not in item]
        assert len(problems) == 1
        assert problems[0].startswith(f"engines/ours.yaml:{place(changed(ENGINE, old, new), at)}: {message}")

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("fields: {tokens: 5}", "fields: {tokens: 6}", "example 1: the field tokens is 5.0, not 6.0"),
            ("(?P<tokens>\\d+)", "(?P<tokens>\\d+", "RE2 refuses the pattern"),
            ("after (?P", "(?<=after) (?P", "RE2 refuses the pattern"),
        ],
    )
    def test_patterns_and_examples_name_the_file_reader_and_pattern(self, old, new, message):
        first = about_engine(old, new)[0]
        assert first.startswith("engines/ours.yaml: engine 'ours', reader 'log', pattern 'done'")
        assert message in first

    def test_the_place_in_a_file_that_extends_another_is_the_one_that_is_wrong(self):
        put("engines/ours.yaml", "schema: 1\nextends: llama.cpp\ntitel: Ours\n")
        assert refused("engines", "check", "llama.cpp", "--engines", "engines") == [
            "engines/ours.yaml:3:1: unknown key 'titel' (did you mean 'title'?)"
        ]

    def test_extending_what_does_not_exist(self):
        put("engines/ours.yaml", "schema: 1\nextends: lama.cpp\ntitle: Ours\n")
        assert refused("engines", "list", "--engines", "engines") == [
            "engines/ours.yaml:2:10: extends 'lama.cpp': no such document to build on (did you mean 'llama.cpp'?)"
        ]

    def test_an_id_that_is_taken(self):
        put("engines/ours.yaml", changed(ENGINE, "id: ours", "id: llama.cpp"))
        (problem,) = refused("engines", "list", "--engines", "engines")
        assert problem.startswith("engines/ours.yaml:2:5: id 'llama.cpp' is taken by built-in engines/llama.cpp.yaml:")

    def test_the_good_engines_are_listed_and_checked_all_the_same(self):
        put("engines/ours.yaml", changed(ENGINE, "title: Ours", "titel: Ours"))
        listed = cli("engines", "list", "--engines", "engines")
        assert (listed.code, "llama.cpp  " in listed.out, "ours" in listed.out) == (2, True, False)
        checked = cli("engines", "check", "--engines", "engines")
        assert (checked.code, "llama.cpp: ok" in checked.out, "ours" in checked.out) == (2, True, False)
        assert checked.problems == listed.problems


class TestTemplates:
    """A template of a layer that does not work."""

    @pytest.mark.parametrize(
        ("template", "message"),
        [
            ("{{ verdict.sentence", "report.md.j2:1: "),
            ("{{ verdict.nothing }}", "report.md.j2:1: the template fails: "),
            ("\n{{ 1 / 0 }}", "report.md.j2:2: the template fails: division by zero"),
            ("{% include 'gone.j2' %}", "there is no template 'gone.j2' in any template folder"),
            ("{{ verdict.__class__.__mro__ }}", "report.md.j2:1: the template fails: "),
        ],
    )
    def test_mistakes(self, template, message):
        put("case.yaml", BARE)
        put("templates/report.md.j2", template)
        (problem, *_) = refused("triage", "case.yaml", "--templates", "templates")
        assert message in problem
