"""Verdicts to render: the worked example on a closed engine, a deployment, and a case about which nothing is known.

The numbers of the worked example are those of tests/data/tables/golden_seed.json (step 67 ms, drafter 12 ms, 25 tok/s,
factor 1.1).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from specrules.model.fact import Fact
from specrules.model.quantity import Provenance, ProvenanceKind
from specrules.model.verdict import (
    Alternative,
    BreakEven,
    BreakEvenRange,
    FlipPoint,
    Footer,
    FormulaLine,
    Gate,
    IncumbentSummary,
    LengthShare,
    Measurement,
    PriorUse,
    Projection,
    Range,
    Scope,
    Settings,
    Speedup,
    Swing,
    Verdict,
)

FOOTER = Footer(
    tool_version="0.1.0",
    now="2026-03-10T12:00:00+00:00",
    rules_digest="sha256:" + "0123456789abcdef" * 4,
    inputs_digest="sha256:" + "fedcba9876543210" * 4,
)


def fact(
    name: str,
    value: Any,
    unit: str = "",
    *,
    kind: ProvenanceKind = "measured",
    source: str = "",
    observed: datetime | None = None,
    **more: Any,
) -> Fact:
    return Fact(
        name=name,
        value=value,
        unit=unit,
        provenance=Provenance(kind=kind, source=source, observed_at=observed),
        **more,
    )


def blocked() -> Verdict:
    """The worked example on an engine without device routing; the numbers alone say to keep the incumbent."""
    seen = datetime(2026, 3, 7, 12, 0, tzinfo=UTC)
    return Verdict(
        case="examples/second-card-drafter.yaml",
        title="A 27B drafter on a second card",
        target="frank-large",
        drafter="27B IQ3_S",
        engine="halogen-flash-server",
        verdict="blocked",
        economics="keep-incumbent",
        sentence="do not attach this drafter: the engine cannot load it, and 17.09 tok/s would not beat 25 tok/s",
        because="the drafter cannot be attached as the case wants it",
        deciding="attachment",
        best="off",
        band=Speedup(low=0.592, mid=0.684, high=0.794),
        speedup=Speedup(low=0.55, mid=0.684, high=0.955, probability_above_margin=0.0),
        speedup_class="loss",
        alternatives=(
            Alternative(name="incumbent", draft_length=1, rate_tok_s=25.0),
            Alternative(name="off", rate_tok_s=26.5, note="derived from the step with drafting off"),
            Alternative(name="candidate", draft_length=3, rate_tok_s=17.09),
        ),
        incumbent=IncumbentSummary(drafting=True, method="mtp", rate_tok_s=25.0, tokens_per_round=1.67, round_ms=66.8),
        break_even=(
            BreakEven(
                draft_length=1,
                tokens_per_round=2.1425,
                possible=False,
                settled=False,
                basis="the stated step time and an assumed factor",
            ),
            BreakEven(
                draft_length=3,
                tokens_per_round=2.7425,
                conditional_acceptance=0.75194,
                accepted_ratio=0.58083,
                possible=True,
                beats_off=True,
                range=BreakEvenRange(
                    tokens_per_round=(2.35, 2.7425),
                    conditional_acceptance=(0.651, 0.75194),
                    accepted_ratio=(0.45, 0.58083),
                ),
                basis="the stated step time and an assumed factor",
            ),
            BreakEven(
                draft_length=4,
                tokens_per_round=3.0425,
                conditional_acceptance=0.7486,
                accepted_ratio=0.510625,
                possible=True,
                is_best=True,
                basis="the stated step time and an assumed factor",
            ),
            BreakEven(
                draft_length=7,
                tokens_per_round=3.9425,
                conditional_acceptance=0.7817,
                accepted_ratio=0.42036,
                possible=True,
                beats_off=False,
                basis="the stated step time and an assumed factor",
            ),
        ),
        projection=(
            Projection(draft_length=1, round_ms=85.7, missing=("acceptance.positions",), basis="a prior of its slope"),
            Projection(
                draft_length=3,
                tokens_per_round=1.875,
                round_ms=109.7,
                rate_tok_s=17.09,
                rate_range=Range(low=14.8, high=19.84),
                speedup=Speedup(low=0.55, mid=0.684, high=0.955, probability_above_margin=0.0),
                at_declared_step=Speedup(low=0.592, mid=0.684, high=0.794),
                is_best=True,
                basis="the stated step time and an assumed factor",
            ),
        ),
        acceptance_notes=("conditional acceptance 0.4 to 0.6: a band for drafters that were not made for the target",),
        gates=(
            Gate(
                id="incumbent-known",
                part="a",
                severity="block",
                outcome="pass",
                title="The incumbent is known",
                message="the incumbent drafts at 25 tok/s",
                expression="known(incumbent.rate_tok_s)",
                substituted="known(25)",
            ),
            Gate(
                id="beats-incumbent",
                part="c",
                severity="warn",
                outcome="fail",
                title="The candidate beats the incumbent",
                message="17.09 tok/s against 25 tok/s",
                expression="candidate.speedup_low > 1 + policy.margin",
                substituted="0.55 > 1 + 0.05",
                fix="take a drafter that is at least ten times as fast as the target",
            ),
            Gate(
                id="tokenizer-matches",
                part="d",
                severity="block",
                outcome="unknown",
                title="The tokenizers are the same",
                message="the drafter's tokenizer is unknown",
                expression="drafter.tokenizer.size == target.tokenizer.size",
                substituted="? == 248320",
                fix="Compare both headers with `specrules tokenizer A B`.",
                missing=("drafter.tokenizer.size",),
            ),
            Gate(
                id="attachment",
                part="d",
                severity="block",
                outcome="fail",
                title="The engine can attach the drafter",
                message="halogen-flash-server refuses external drafters",
                expression="engine.method_exists and (drafter.device == target.device or engine.routes_drafter)",
                substituted='false and ("3090" == "igpu" or false)',
                fix="use an engine that routes drafters, see https://example.org/docs/engines#routing.",
                refs=("https://example.org/issues/12", "the operator's notes"),
            ),
            Gate(
                id="restores",
                part="d",
                severity="info",
                outcome="not-applicable",
                title="Hybrid targets restore",
                message="the target is not hybrid",
            ),
        ),
        formulas=(
            FormulaLine(
                name="break_even.tokens_per_round",
                title="Tokens per round that pay",
                symbols="A_be = R T",
                expression="round_ms / (1000 / incumbent.rate_tok_s - overhead.per_token_ms)",
                substituted="109.7 / (1000 / 25 - 0)",
                result=2.7425,
                unit="tokens",
            ),
        ),
        decision=(
            FormulaLine(
                name="round_ms",
                title="Round time from its pieces",
                symbols="T = c0 + D(K) + V(K+1) + F Q - o a_(K+1) min(D, V)",
                expression="overhead.per_round_ms + draft_ms + verify_ms + restore_cost_ms - overlap_saving_ms",
                substituted="0 + 36 + 73.7 + 0 - 0",
                result=109.7,
                unit="ms",
            ),
            FormulaLine(
                name="loss",
                title="Class loss",
                symbols="",
                expression="candidate.speedup_high < 1",
                substituted="0.955 < 1",
                result=True,
            ),
        ),
        flips=(
            FlipPoint(
                name="acceptance.conditional",
                value=0.5,
                flips_at=0.75194,
                change_percent=50.388,
                note="conditional acceptance p",
            ),
            FlipPoint(name="drafter.step_ms", unit="ms", value=12.0, flips_at=2.5, change_percent=-79.2),
            FlipPoint(name="verify.factor", value=1.1, note="no value within reach flips it"),
        ),
        tornado=(
            Swing(name="restore_ms", value=0.0, range=Range(low=0.0, high=None), speedup_at_low=0.9),
            Swing(
                name="acceptance.conditional",
                value=0.5,
                range=Range(low=0.4, high=0.6),
                speedup_at_low=0.68,
                speedup_at_high=0.8,
            ),
        ),
        best_lengths=(LengthShare(draft_length=2, probability=0.6), LengthShare(draft_length=1, probability=0.4)),
        priors=(
            PriorUse(
                id="verify|slope",
                quantity="verify_slope",
                low=0.05,
                mid=0.1,
                high=0.3,
                rows=12,
                sources=("https://example.org/a", "https://example.org/b"),
            ),
        ),
        perfect_information_tok_s=1.25,
        measurement=Measurement(
            recipe="greedy-agreement",
            title="Greedy agreement on identical prompts",
            command="for prompt in prompts/*; do\n  curl -s localhost:8080/completion -d @$prompt | jq .tokens\ndone",
            settles="whether p can reach 0.75",
            minutes=10.0,
            quantity="conditional acceptance p",
            expected=Range(low=0.4, high=0.6),
            threshold=0.75194,
            samples_needed=34,
            value_tok_s=0.0,
            note="an upper bound: greedy agreement overstates acceptance",
        ),
        runners_up=(
            Measurement(
                recipe="drafting-off",
                title="The incumbent with drafting off",
                command="serve --drafter serial",
                settles="the plain step",
                minutes=3.0,
            ),
        ),
        settings=Settings(draft_length=3, switch_on=("--must-not-appear",)),
        known_issues=("silent-cap: requests are capped without a word (https://example.org/issues/7)",),
        notices=("the rate is decode-only, the incumbent's is client-visible",),
        not_checked=("memory: state host.devices[].free_gib",),
        facts=(
            fact("incumbent.rate_tok_s", 25.0, "tok/s", source="operator", observed=seen, low=24.0, high=26.0),
            fact("incumbent.rate_kind", "client", kind="reported"),
            fact(
                "off.rate_tok_s",
                26.5,
                "tok/s",
                kind="derived",
                formula="1000 / target.step_ms",
                substituted="1000 / 37.7",
            ),
            fact("target.step_ms", 67.0, "ms", source="server.log:14", observed=datetime(2025, 10, 1, tzinfo=UTC)),
            fact("incumbent.drafting", True, kind="from-file", source="server.log:2", observed=seen),
            fact("acceptance.positions", (0.5, 0.25, 0.125), kind="assumed"),
            fact("policy.max_age_days", 30.0, "days", kind="catalogue", source="rules/policies.yaml:9"),
        ),
        missing=("drafter.tokenizer.size", "drafter.memory_gib"),
        footer=FOOTER.model_copy(update={"overridden": ("rules/gates-d.yaml",)}),
    )


def deploy() -> Verdict:
    """An EAGLE head that was measured and wins."""
    seen = datetime(2026, 3, 10, 11, 20, tzinfo=UTC)
    return Verdict(
        case="examples/eagle3.yaml",
        title="",
        target="llama-3.1-8b",
        drafter="eagle3-llama-3.1-8b",
        engine="vllm",
        verdict="deploy",
        economics="deploy",
        sentence="deploy at K=3: 146.2 tok/s against 81.4 tok/s",
        because="the low end of the speedup is above the margin and every gate has passed",
        best="candidate",
        speedup=Speedup(low=1.72, mid=1.796, high=1.87, probability_above_margin=1.0),
        speedup_class="win",
        scope=Scope(
            concurrency=1,
            context_tokens=4096,
            temperature=0,
            text="Holds for: concurrency 1, context 4k, temperature 0; says nothing about others",
        ),
        alternatives=(
            Alternative(name="incumbent", rate_tok_s=81.4),
            Alternative(name="off", rate_tok_s=81.4),
            Alternative(name="candidate", draft_length=3, rate_tok_s=146.2),
        ),
        incumbent=IncumbentSummary(drafting=False, rate_tok_s=81.4, tokens_per_round=1.0, round_ms=12.28501),
        break_even=(
            BreakEven(
                draft_length=3,
                tokens_per_round=1.342,
                conditional_acceptance=0.262,
                accepted_ratio=0.114,
                possible=True,
                is_best=True,
            ),
        ),
        projection=(
            Projection(
                draft_length=3,
                tokens_per_round=2.41,
                round_ms=16.48,
                rate_tok_s=146.2,
                speedup=Speedup(low=1.72, mid=1.796, high=1.87, probability_above_margin=1.0),
                is_best=True,
                basis="a measured run",
            ),
        ),
        acceptance_notes=("measured over 400 requests",),
        gates=(
            Gate(
                id="incumbent-known",
                part="a",
                severity="block",
                outcome="pass",
                title="The incumbent is known",
                message="the incumbent runs at 81.4 tok/s",
            ),
        ),
        settings=Settings(
            draft_length=3,
            switch_on=('--speculative-config \'{"method":"eagle3","num_speculative_tokens":3}\'',),
            switch_off=("remove --speculative-config",),
        ),
        facts=(
            fact("incumbent.rate_tok_s", 81.4, "tok/s", source="bench.json", observed=seen),
            fact("candidate.rate_tok_s", 146.2, "tok/s", source="bench-eagle.json", observed=seen),
        ),
        footer=FOOTER,
    )


def unknown() -> Verdict:
    """Nothing is known but the names: every part must still be rendered."""
    return Verdict(
        case="-",
        title="",
        target="t",
        drafter="d",
        engine="e",
        verdict="measure-first",
        economics="measure-first",
        sentence="measure first: neither rate is known",
        because="the speedup cannot be computed",
        best="unknown",
        break_even=tuple(
            BreakEven(draft_length=length, missing=("incumbent.rate_tok_s", "target.step_ms")) for length in (1, 3, 7)
        ),
        projection=tuple(Projection(draft_length=length, missing=("target.step_ms",)) for length in (1, 3, 7)),
        gates=(
            Gate(
                id="incumbent-known",
                part="a",
                severity="block",
                outcome="unknown",
                title="The incumbent is known",
                message="the rate of the incumbent is unknown",
                missing=("incumbent.rate_tok_s",),
            ),
        ),
        formulas=(
            FormulaLine(name="speedup", title="", symbols="S = rate / R", expression="a / b", substituted="? / ?"),
        ),
        measurement=Measurement(recipe="rate", title="", command="", settles=""),
        runners_up=(Measurement(recipe="step", title="", command="", settles=""),),
        missing=("incumbent.rate_tok_s", "target.step_ms"),
        footer=FOOTER,
    )


def bare() -> Verdict:
    """A verdict with nothing but its required fields."""
    return Verdict(
        case="",
        title="",
        target="",
        drafter="",
        engine="",
        verdict="measure-first",
        economics="measure-first",
        sentence="",
        because="",
        best="unknown",
        footer=Footer(tool_version="", now="not a time", rules_digest="", inputs_digest=""),
    )


def named(text: str) -> Verdict:
    """The worked example with one text in every place that names something or quotes evidence."""
    verdict = blocked()
    gate = Gate(
        id=text,
        part="d",
        severity="block",
        outcome="fail",
        title=text,
        message=text,
        expression=text,
        substituted=text,
        missing=(text,),
    )
    names = dict.fromkeys(("case", "title", "target", "drafter", "engine", "sentence", "because"), text)
    return verdict.model_copy(
        update={
            **names,
            "alternatives": tuple(arm.model_copy(update={"note": text}) for arm in verdict.alternatives),
            "incumbent": verdict.incumbent.model_copy(update={"method": text}),
            "acceptance_notes": (text,),
            "gates": (gate,),
            "formulas": (verdict.formulas[0].model_copy(update={"title": text, "symbols": text, "substituted": text}),),
            "flips": (FlipPoint(name=text, unit=text, value=1.0, flips_at=2.0, note=text),),
            "measurement": verdict.measurement.model_copy(
                update=dict.fromkeys(("recipe", "title", "command", "settles", "quantity", "note"), text)
            )
            if verdict.measurement
            else None,
            "notices": (text,),
            "known_issues": (),
            "not_checked": (text,),
            "facts": (fact("incumbent.rate_kind", text, text, source=text, formula=text),),
            "missing": (text,),
        }
    )
