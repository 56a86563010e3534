"""An engine: everything that differs between engines and versions, as one YAML document."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from specrules.model.base import ExpressionText, Identifier, Many, Model
from specrules.model.case import Arm
from specrules.model.claim import Claim, Conditional, DeployedInput
from specrules.model.flag import Flag, HelpText, RemovedFlag
from specrules.model.launching import Launching
from specrules.model.program import Program
from specrules.model.serving import Serving, filled_body

CombinationStatus = Literal["works", "refused", "dies-at-load", "silently-off", "untested"]
Limited = Literal["running-requests", "context", "draft-length", "memory", "batched-tokens", "graphs", "drafting"]
RefusalEffect = Literal["refused-loudly", "refused-silently", "accepted-though-wrong", "dies-at-load"]


class RoundStructure(Model):
    """What one speculative round consists of on this engine."""

    catch_up: Literal["none", "batch"] = Field(
        default="none", description="batch: the drafter also runs K+1 rows per round to follow the target"
    )
    restores_hybrid: bool = Field(
        default=False, description="on hybrid targets a rejection restores a checkpoint and re-runs the target"
    )
    bonus_token: bool = True
    position_zero: Literal["draft", "anchor"] = "draft"
    order: Literal["serial", "cpu-overlap", "decoupled", "unknown"] = Field(
        default="serial",
        description="serial: draft, then verify; cpu-overlap: only host work is hidden; decoupled: two systems at once",
    )


class Method(Claim):
    """One way of drafting that the engine offers."""

    id: str
    title: str
    drafter_class: Identifier
    needs: str = ""
    round: RoundStructure = RoundStructure()
    draft_device: Literal["routable", "conditional", "same-device", "none"] = Field(
        description="routable: the drafter can sit on another device; conditional: with some files of this kind only "
        "(the note says which), so nobody can tell without the file; none: there is no drafter model"
    )
    max_draft_length: int | None = Field(default=None, ge=1, description="most tokens that a round can draft")
    lossless: bool | None = Field(default=None, description="output distribution unchanged as configured by default")
    lossless_note: str = ""
    switch_on: Many[str] = Field(default=(), description="settings; {drafter}, {target}, {draft_length} are filled in")
    switch_off: Many[str] = ()
    draft_length_flag: str | None = None
    aliases: Many[str] = Field(default=(), description="other names that the engine takes for this method")
    removed: bool = False


class RequestDrafter(Claim):
    """A name by which a request chooses its drafter, and what the loaded checkpoint has to report for it.

    `method` is the method that the name stands for; None means drafting off.
    """

    name: str
    wire_value: int | None = None
    method: str | None = None
    capability: str | None = Field(default=None, description="what the checkpoint reports; None: always served")
    body: str | None = Field(default=None, description="what a request adds to its body to choose it, as JSON text")

    @field_validator("body")
    @classmethod
    def _is_json(cls, body: str | None) -> str | None:
        if body is not None:
            filled_body(body, {})
        return body


class Combination(Claim):
    """Methods that are switched on together. Entries may be shell patterns such as `draft-*`."""

    methods: Many[str]
    status: CombinationStatus
    effect: str


class Backend(Claim):
    """A build backend and the device names that it gives."""

    id: str
    device_pattern: str | None = None


class Coexistence(Claim):
    """Whether backends can serve one process together."""

    backends: Many[str]
    status: Literal["works", "impossible", "unproven"]
    effect: str


class DraftRouting(Claim):
    """Whether and how a drafter can be put on a device of its own."""

    possible: bool
    flag: str | None = None
    effect: str


class Devices(Model):
    """Backends, what may coexist, and where a drafter can sit."""

    backends: Many[Backend] = ()
    coexistence: Many[Coexistence] = ()
    draft_routing: DraftRouting


class TokenizerCheck(Claim):
    """One comparison that the engine makes before it drafts, as an expression over the tokenizer inputs."""

    id: Identifier
    accepts: ExpressionText
    otherwise: RefusalEffect
    message: str
    log_text: str = ""


class TokenizerGate(Model):
    """The engine's tokenizer check as it is really applied, and to which methods."""

    methods: Many[str]
    checks: Many[TokenizerCheck]
    known: Identifier
    unchecked: str = Field(default="", description="what is not compared although it may matter")


class StartRefusal(Conditional):
    """A configuration that the engine refuses, changes or ignores at start, with the text that a user sees."""

    id: Identifier
    trigger: str
    effect: Literal["exits", "drafting-off", "setting-ignored", "setting-changed", "warning"]
    text: str = Field(default="", description="what is printed; {name} stands for what the configuration held")
    methods: Many[str] = Field(default=(), description="methods it is about, as patterns; empty: all")


class FeatureSupport(Conditional):
    """Whether drafting works together with another feature of the engine, such as tensor parallelism or LoRA."""

    feature: Identifier
    status: CombinationStatus
    effect: str
    methods: Many[str] = Field(default=(), description="methods it is about, as patterns; empty: all")


class Limit(Conditional):
    """Something that drafting caps or takes away: running requests, context, draft length, memory."""

    id: Identifier
    of: Limited = Field(
        description="graphs: passes that no captured graph serves; drafting: batches too large for the engine to draft"
    )
    effect: str
    value: float | None = Field(default=None, description="the cap, where it is one number")
    methods: Many[str] = Field(default=(), description="methods it is about, as patterns; empty: all")


class SyntheticAcceptance(Claim):
    """The switch that replaces acceptance by a given one, to price rounds: part (e) rests on it."""

    how: str
    needs_drafter: bool
    effect: str = ""


class RequestRefusal(Conditional):
    """A request that the running engine answers with an error."""

    id: Identifier
    trigger: str
    status: int
    text: str = Field(description="the answer's text; {name} stands for what the request held")
    means: str


class RowLimit(Claim):
    """A width beyond which verifying gets abruptly slower or impossible."""

    id: Identifier
    max_rows: int = Field(ge=1)
    backends: Many[str] = ()
    effect: str


class MemoryNote(Claim):
    """What drafting adds to memory, and what the engine's own fit leaves out."""

    id: Identifier
    effect: str


class ProbeAnswer(Model):
    """One answer to a probe and what it means."""

    status: int | None = None
    contains: str | None = None
    means: str
    identifies: bool = Field(default=False, description="no other engine answers this way")


class Probe(Claim):
    """A request that shows what the running engine can do."""

    id: Identifier
    method: Literal["GET", "POST"]
    path: str
    body: str | None = None
    shows: str
    answers: Many[ProbeAnswer]
    generates: bool = Field(default=False, description="the request makes the server generate tokens")


class Step(Model):
    """One step of a measurement as a script takes it: a shell command, and the file of evidence that it leaves behind.

    The command may use $out, the folder of results, and {url}, {off_url}, {candidate_url} and {drafter_url} beside the
    words of other commands; the servers that it asks are started first.
    """

    run: str
    writes: str = Field(default="", description="evidence file in $out; empty: the step leaves none")
    before: str = Field(default="", description="an earlier metrics dump in $out, to be subtracted")
    arm: Arm | None = None

    @model_validator(mode="after")
    def _whose(self) -> Step:
        if self.writes and self.arm is None:
            raise ValueError("a step that writes evidence says of which 'arm' it is")
        return self


class Recipe(Claim):
    """A measurement that the engine offers, with its price."""

    id: Identifier
    title: str
    command: str
    minutes: float = Field(gt=0)
    yields: Many[str] = Field(description="facts that the measurement gives")
    settles: str
    needs: str = ""
    needs_drafter: bool = False
    methods: Many[str] = Field(default=(), description="methods it is offered for; empty: all")
    steps: Many[Step] = Field(default=(), description="what a script runs beside measuring the servers it starts")


CountedFact = Literal[
    "candidate.accepted_ratio",
    "candidate.tokens_per_round",
    "candidate.drafting",
    "incumbent.accepted_ratio",
    "incumbent.tokens_per_round",
    "incumbent.drafting",
]


class KnownIssue(Claim):
    """A bug or limitation, when it applies, and where it is discussed."""

    id: Identifier
    title: str
    condition: ExpressionText | None = None
    effect: str
    fatal: bool = Field(default=False, description="where it applies the candidate cannot draft: a blocking gate")
    undermines: Many[CountedFact] = Field(
        default=(), description="numbers that do not mean what their name says where it applies"
    )
    link: str | None = None


class Engine(Program):
    """One engine."""

    closed: bool = Field(default=False, description="refuses external drafters by design")
    methods: Many[Method]
    request_drafters: Many[RequestDrafter] = ()
    combinations: Many[Combination] = ()
    devices: Devices
    tokenizer_gates: Many[TokenizerGate] = ()
    joined_flag_values: bool = Field(
        default=True, description="the command line takes --flag=value beside --flag value"
    )
    flags: Many[Flag] = ()
    removed_flags: Many[RemovedFlag] = ()
    true_words: Many[str] = Field(
        default=("1", "true", "yes", "on", "enabled"),
        description="what switches a variable or key on; every other word leaves it off",
    )
    deployed: Many[DeployedInput] = Field(
        default=(), description="what settings say about inputs of rules, where one setting alone does not say it"
    )
    launch: Launching | None = None
    help: HelpText | None = None
    start_refusals: Many[StartRefusal] = ()
    request_refusals: Many[RequestRefusal] = ()
    features: Many[FeatureSupport] = ()
    limits: Many[Limit] = ()
    synthetic_acceptance: Many[SyntheticAcceptance] = ()
    row_limits: Many[RowLimit] = ()
    memory: Many[MemoryNote] = ()
    probes: Many[Probe] = ()
    serving: Serving | None = None
    recipes: Many[Recipe] = ()
    known_issues: Many[KnownIssue] = ()
