"""`specrules export prometheus-rules`."""

from __future__ import annotations

from pathlib import Path

import yaml

from .running import cli, put, refused

CASE = """\
schema: 1
target: {name: big, checkpoint: big, kind: dense, device: CUDA0}
drafter: {name: head, class: block, trained_for: big, device: CUDA0}
engine: {id: llama.cpp, version: b11434, methods: [draft-dflash], draft_length: 7}
incumbent: {drafting: false, rate_tok_s: 18.8, rate_kind: decode}
measurements:
  candidate: {drafting: true, draft_length: 7, rate_tok_s: 43.5, rate_kind: decode, tokens_per_round: 3.87}
"""


def test_rules_are_printed_or_written():
    put("case.yaml", CASE)
    ran = cli("export", "prometheus-rules", "case.yaml", "--now", "2026-11-29", "--window", "5m", "--by", "pod")
    assert (ran.code, ran.err) == (0, "")
    (group,) = yaml.safe_load(ran.out)["groups"]
    assert group["name"] == "specrules case"
    assert group["rules"][0]["expr"] == "sum by (pod) (rate(llamacpp:tokens_predicted_total[5m]))"
    assert cli("export", "prometheus-rules", "case.yaml", "--now", "2026-11-29", "-o", "rules.yml").out == ""
    assert yaml.safe_load(Path("rules.yml").read_text(encoding="utf-8"))["groups"][0]["name"] == "specrules case"


def test_what_cannot_be_watched_is_refused():
    put("case.yaml", CASE.replace("rate_tok_s: 18.8, ", ""))
    (message,) = refused("export", "prometheus-rules", "case.yaml")
    assert message.startswith("the break-even at K = 7 is not known yet: it needs ")
    messages = refused("export", "prometheus-rules", "case.yaml", "--window", "x", "--for", "y")
    assert [message.split(":")[0] for message in messages] == ["--window", "--for"]


def test_a_template_of_ones_own_counts():
    put("case.yaml", CASE)
    put("ours/prometheus-rules.yml.j2", "case: {{ watch.case }}\nalerts: {{ watch.alerts | length ~ '' }}\n")
    ran = cli("export", "prometheus-rules", "case.yaml", "--templates", "ours")
    assert yaml.safe_load(ran.out) == {"case": "case", "alerts": "3"}


def test_a_misspelt_form_is_told():
    ran = cli("export", "prometheus-rule", "case.yaml")
    assert ran.code == 2
    assert "did you mean 'prometheus-rules'?" in ran.err
