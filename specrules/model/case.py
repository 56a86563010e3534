"""A case: one target, one drafter, one engine, against what runs today. Everything that is not stated is unknown."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from specrules.model.acceptance import Acceptance
from specrules.model.base import DottedName, Identifier, Many, Model, Moment, SchemaVersion
from specrules.model.conditions import Conditions
from specrules.model.duration import Duration
from specrules.model.quantity import (
    DraftLength,
    Factor,
    Gibibytes,
    Milliseconds,
    PositiveMilliseconds,
    Share,
    Tokens,
    TokensPerRound,
    TokensPerSecond,
)

Arm = Literal["incumbent", "off", "candidate", "drafter"]
TargetKind = Literal["dense", "moe", "hybrid", "hybrid-moe"]
RateKind = Literal["client", "decode"]


class Tokenizer(Model):
    """What decides whether two tokenizers mean the same, as engines compare them."""

    family: str | None = Field(default=None, description="tokenizer.ggml.model: gpt2, llama, ..")
    pre: str | None = None
    size: int | None = Field(default=None, ge=0)
    add_bos: bool | None = None
    bos_id: int | None = None
    add_eos: bool | None = None
    eos_id: int | None = None


class TokenizerPair(Model):
    """The comparison of the drafter's token texts with the target's over their common ids."""

    last_differing_id: int | None = Field(default=None, ge=-1, description="-1: every common id has the same text")
    merges_equal: bool | None = None


class Experts(Model):
    """Routed experts of a mixture-of-experts target."""

    count: int = Field(ge=1)
    active: int = Field(ge=1)
    step_share: Share | None = Field(default=None, description="share of a plain step spent in routed experts")


class Target(Model):
    """The model that is served."""

    name: str
    file: str | None = Field(
        default=None, description="GGUF or tokenizer file, from the case's folder, or with --fetch an http(s) address"
    )
    checkpoint: str | None = Field(default=None, description="identity that a trained head must have been made for")
    kind: TargetKind | None = None
    device: str | None = None
    step_ms: PositiveMilliseconds | None = None
    step_is: Literal["plain", "incumbent-round"] | None = Field(
        default=None, description="whether step_ms is one undrafted step or a whole round of a drafting incumbent"
    )
    tokenizer: Tokenizer = Tokenizer()
    experts: Experts | None = None
    active_parameters_billion: float | None = Field(
        default=None, gt=0, description="parameters that compute one token, of all experts those it is routed to"
    )
    weights_gib: Gibibytes | None = Field(default=None, description="weights that one plain step reads")
    kv_gib: Gibibytes | None = Field(default=None, description="KV cache of one sequence at the workload's context")
    memory_gib: Gibibytes | None = None


class Drafter(Model):
    """What proposes tokens. `step_ms` is per drafted token for models and heads, per block for block drafters."""

    name: str
    file: str | None = Field(
        default=None, description="GGUF or tokenizer file, from the case's folder, or with --fetch an http(s) address"
    )
    drafter_class: Identifier = Field(alias="class")
    step_ms: Milliseconds | None = None
    catch_up_ms: Milliseconds | None = None
    device: str | None = None
    trained_for: str | None = None
    tokenizer: Tokenizer = Tokenizer()
    tokenizer_pair: TokenizerPair = TokenizerPair()
    memory_gib: Gibibytes | None = Field(default=None, description="weights, KV cache and compute buffers together")
    coverage: Share | None = Field(default=None, description="share of rounds in which anything is drafted")


def _without_secrets(url: str) -> str:
    if "@" in url or "?" in url:
        raise ValueError("user, password and query do not belong into a case: put them into netrc or the environment")
    return url


ServerUrl = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=300), AfterValidator(_without_secrets)]


def _engine_from_id(data: Any) -> Any:
    return {"id": data} if isinstance(data, str) else data


class EngineUse(Model):
    """The engine and how it is (to be) started."""

    id: Identifier
    version: str | None = None
    methods: Many[str] = Field(default=(), description="methods switched on together, as the engine names them")
    capabilities: Many[str] | None = Field(
        default=None,
        description="what the loaded checkpoint reports that it can draft with, where the engine asks for it",
    )
    backends: Many[str] = Field(default=(), description="build backends of this binary")
    flags: Many[str] = Field(default=(), description="command line, one flag or flag and value per entry")
    draft_length: DraftLength | None = Field(default=None, description="K to deploy at; unknown: every K is looked at")


class Device(Model):
    """An accelerator or the host memory."""

    name: str
    backend: str | None = None
    memory_gib: Gibibytes | None = None
    free_gib: Gibibytes | None = Field(default=None, description="free while the target is loaded and serving")
    bandwidth_gb_s: float | None = Field(default=None, gt=0, description="peak memory bandwidth, 10^9 bytes per second")
    tflops: float | None = Field(
        default=None,
        gt=0,
        description="peak 10^12 operations per second, dense, in the arithmetic that the target uses",
    )


class Host(Model):
    """The machine."""

    name: str | None = None
    group: str | None = Field(default=None, description="hardware group of the priors")
    devices: Many[Device] = ()


class Workload(Model):
    """The traffic that the verdict is for."""

    concurrency: int | None = Field(default=None, ge=1)
    new_prompt_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    context_tokens: Tokens | None = None
    temperature: float | None = Field(default=None, ge=0)
    task: str | None = None


class Incumbent(Model):
    """What runs today, speculation included."""

    url: ServerUrl | None = Field(default=None, description="where it answers; `measure` and `plan` ask it there")
    drafting: bool | None = None
    method: str | None = None
    draft_length: DraftLength | None = None
    rate_tok_s: TokensPerSecond | None = None
    rate_kind: RateKind | None = None
    tokens_per_round: TokensPerRound | None = None
    round_ms: PositiveMilliseconds | None = None
    head_share: Share | None = Field(default=None, description="share of head and host in the incumbent's round")
    conditions: Conditions = Conditions()


class Overhead(Model):
    """Time that is paid beside drafting and verifying, and per what it is paid."""

    ms: Milliseconds
    kind: Literal["per_token", "per_request", "per_round", "unknown"]


class WidthTime(Model):
    """One point of a measured verify curve: a target pass over `width` rows of each of `batch` sequences."""

    width: int = Field(ge=1)
    ms: PositiveMilliseconds
    batch: int | None = Field(
        default=None, ge=1, description="sequences at once; unstated: as many as the workload has"
    )
    context_tokens: int | None = Field(default=None, ge=0, description="context that each sequence held")


class CandidateRun(Model):
    """A measured speculative run of this very drafter on this pair, box and build."""

    draft_length: DraftLength | None = None
    rate_tok_s: TokensPerSecond | None = None
    rate_kind: RateKind | None = None
    tokens_per_round: TokensPerRound | None = None
    acceptance: Acceptance | None = None
    drafting: bool | None = None
    conditions: Conditions = Conditions()


class OffRun(Model):
    """The target alone, drafting off."""

    rate_tok_s: TokensPerSecond | None = None
    rate_kind: RateKind | None = None
    conditions: Conditions = Conditions()


class Measurements(Model):
    """What was measured or is believed about the candidate. `conditions` hold for all that states none of its own."""

    conditions: Conditions = Conditions()
    acceptance: Acceptance | None = None
    off: OffRun = OffRun()
    candidate: CandidateRun = CandidateRun()
    verify_curve: Many[WidthTime] = ()
    drafter_curve: Many[WidthTime] = Field(
        default=(), description="the drafter's own passes over several rows: what it pays to follow the target"
    )
    verify_factor: Factor | None = Field(
        default=None, description="V(K+1) / t1 as it is believed to be at every draft length, where no curve is known"
    )
    synthetic_zero_tok_s: TokensPerSecond | None = None
    overhead: Overhead | None = None
    restore_ms: Milliseconds | None = None
    overlap: Share | None = None
    drafter_prefill_ms: Milliseconds | None = None
    time_to_first_token_ms: Milliseconds | None = None
    round_slope: Annotated[
        tuple[float, float] | None,
        Field(description="prior interval of (round/t1 - 1)/K, drafter included", strict=False),
    ] = None


class PrometheusRange(Model):
    """What a Prometheus server recorded of one deployment over a range of time. Asked only where that is allowed."""

    url: str
    range: Duration = Field(description="such as 30m, 6h or 1d12h")
    selector: str = Field(default="{}", description='label matchers, such as {job="llm"}')
    until: Moment | None = Field(default=None, description="end of the range; without it now")
    by: Many[str] = Field(default=("job", "instance"), description="labels that tell one deployment from another")


class EvidenceFile(Model):
    """A file that is read through the readers of the engine or of a bench tool; its facts belong to `arm`.

    In place of a file a range of time on a Prometheus server.
    """

    path: str = ""
    prometheus: PrometheusRange | None = None
    arm: Arm
    before: str | None = Field(
        default=None, description="an earlier metrics dump of the same server run: what happened in between counts"
    )
    engine: Identifier | None = Field(
        default=None, description="where it differs from the case's engine: another engine, or a bench tool"
    )
    where: dict[str, float | bool | str] = Field(
        default_factory=dict, description="which of several runs in the file counts: values of what they differ in"
    )
    observed_at: Moment | None = None
    conditions: Conditions = Field(default=Conditions(), description="what the file does not hold itself")

    @model_validator(mode="after")
    def _one_place(self) -> EvidenceFile:
        if bool(self.path) is (self.prometheus is not None):
            raise ValueError("evidence has either a 'path' or a 'prometheus' server")
        if self.prometheus is not None and self.before is not None:
            raise ValueError("a range of time has no 'before': say when it ends with 'until'")
        return self


class Case(Model):
    """One question, as a file."""

    schema_version: SchemaVersion = Field(alias="schema")
    target: Target
    drafter: Drafter
    engine: Annotated[EngineUse, BeforeValidator(_engine_from_id, json_schema_input_type=str | EngineUse)]
    host: Host = Host()
    workload: Workload = Workload()
    incumbent: Incumbent = Incumbent()
    measurements: Measurements = Measurements()
    evidence: Many[EvidenceFile] = ()
    title: str | None = None
    notes: str | None = None


FactName = DottedName
