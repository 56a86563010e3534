"""The text of a case to start from. What was learned stands in it with its source, the rest is commented out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from os.path import relpath
from pathlib import Path

from specrules.catalog.datadir import builtin
from specrules.model.fact import Fact
from specrules.pipeline.sketch import Learned
from specrules.templating import num

TEMPLATE = "scaffold/case.yaml.j2"
ENOUGH_TOKENS = 512
"""Counters over fewer generated tokens are not used: they are a handful of requests since the server started."""

_UNITS = {"rate_tok_s": "tok/s", "tokens_per_round": "tokens", "round_ms": "ms"}


def case_text(learned: Learned, now: datetime, case: Path) -> str:
    """Return the text of a case that loads as it is. `case` is the file that it will be written to."""
    from specrules.templating import environment

    template = builtin("templates").joinpath(*TEMPLATE.split("/")).read_text(encoding="utf-8")
    made = environment().from_string(template)
    incumbent = list(_incumbent(learned, now, case))
    return made.render(
        day=now.date().isoformat(),
        remarks=learned.remarks,
        target=list(_target(learned)),
        drafter=list(_drafter(learned, case)),
        engine=list(_engine(learned)),
        workload=list(_workload(learned)),
        incumbent=incumbent,
        is_incumbent_known=any(not line.startswith("#") for line in incumbent),
        evidence=[f"- {{path: {_text(_near(file, case))}, arm: incumbent}}" for file in learned.evidence],
        following=list(_following(learned, case)),
    )


def _target(learned: Learned) -> Iterator[str]:
    served = learned.target.model if learned.target is not None else None
    yield f"name: {_text(_name(served or 'the served model'))}"
    if learned.file is not None:
        yield f"file: {_text(learned.file)}  # as the server says; its header is read for tokenizer and memory"
    if learned.kind is not None:
        yield f"kind: {learned.kind}  # from the header of its file"
    else:
        yield "# kind: dense | moe | hybrid | hybrid-moe"
    yield "# device: where it runs, one of host.devices"


def _drafter(learned: Learned, case: Path) -> Iterator[str]:
    drafter = learned.drafter
    if drafter is None:
        yield "# No drafter was named: specrules init --drafter FILE|URL. This stands for one until then."
        yield "name: no drafter named yet"
        yield "class: model  # specrules rules show attachment-surface lists the classes"
        return
    yield f"name: {_text(drafter.name)}"
    if drafter.file is not None and not drafter.file.startswith("http"):
        yield f"file: {_text(_near(drafter.file, case))}"
    how = "by its architecture" if drafter.file else "a model, since a server serves it alone"
    yield f"class: {drafter.kind}  # {how}"
    where = drafter.url or "URL"
    yield f"# step_ms: serve it alone, then specrules measure drafter={where} -o drafter.jsonl"


def _engine(learned: Learned) -> Iterator[str]:
    engine = learned.engine
    yield f"id: {engine.id}"
    if learned.version is not None:
        yield f"version: {_text(learned.version)}"
    else:
        yield f"# version: {engine.version.how_to_find}"
    kind = learned.drafter.kind if learned.drafter else "model"
    methods = [method.id for method in engine.methods if method.drafter_class == kind and not method.removed]
    if len(methods) == 1:
        yield f"methods: [{methods[0]}]  # the one method of this engine for such a drafter"
    elif methods:
        yield f"# methods: one of {', '.join(methods)}"
    else:
        yield f"# methods: {engine.title} has none for drafters of class {kind}"
    yield "# draft_length: K to deploy at; without it every K is looked at"
    context = learned.facts.number("engine.context_tokens")
    if context is not None:
        yield f"# The server gives a request {num(context)} tokens of context."


def _workload(learned: Learned) -> Iterator[str]:
    slots = learned.facts.number("engine.slots")
    if slots == 1:
        yield "concurrency: 1  # the server has one slot"
    else:
        known = "" if slots is None else f"; the server has {num(slots)} slots"
        yield f"concurrency: 1  # requests at once on a usual day: the verdict holds for this number{known}"
    yield "# temperature: 0  # what clients send; acceptance falls with it"
    yield "# new_prompt_tokens: 500, output_tokens: 300, context_tokens: 2000"


def _incumbent(learned: Learned, now: datetime, case: Path) -> Iterator[str]:
    facts = learned.facts
    if learned.url is not None:
        yield f"url: {_text(learned.url)}"
    yield from _flag(facts.get("incumbent.drafting"), learned)
    method = facts.get("incumbent.method")
    if method is not None:
        yield f"method: {_text(str(method.value))}  # {method.provenance.source}"
    elif facts.value("incumbent.drafting") is True:
        yield "# method: the one that the server was started with; nothing that was read says which"
    length = facts.number("incumbent.draft_length")
    if length is not None:
        yield f"draft_length: {num(length)}"
    ask = f"specrules measure {learned.url or 'URL'} --case {case.name} -o {case.stem}.jsonl"
    tokens = facts.number("incumbent.tokens")
    drafts = facts.value("incumbent.drafting") is True
    wanted = ("rate_tok_s", "tokens_per_round", "round_ms") if drafts else ("rate_tok_s",)
    for key in wanted:
        fact = facts.get(f"incumbent.{key}")
        if fact is None or learned.evidence:
            continue
        if tokens is None or tokens < ENOUGH_TOKENS:
            seen = "an unknown number of" if tokens is None else num(tokens)
            yield f"# {key}: {num(float(fact.value))} over {seen} tokens, which is too few"  # type: ignore[arg-type]
        else:
            yield f"{key}: {_quantity(fact, now)}"
    rate = facts.get("incumbent.rate_tok_s")
    kind = facts.value("incumbent.rate_kind")
    if rate is not None and kind is not None and not learned.evidence and (tokens or 0) >= ENOUGH_TOKENS:
        yield f"rate_kind: {kind}"
    else:
        yield f"# rate_tok_s, rate_kind: {ask}"


def _flag(fact: Fact | None, learned: Learned) -> Iterator[str]:
    if fact is not None and isinstance(fact.value, bool):
        yield f"drafting: {str(fact.value).lower()}  # {fact.provenance.source}"
    else:
        configured = learned.facts.value("incumbent.configured")
        note = "a drafting method is configured; whether it drafts" if configured else "whether it drafts already"
        yield f"# drafting: true | false. {note[0].upper()}{note[1:]} was not to be seen"


def _following(learned: Learned, case: Path) -> Iterator[str]:
    url, drafter = learned.url or "URL", learned.drafter
    yield f"specrules measure {url} --case {case.name} -o {case.stem}.jsonl    what runs today, as clients see it"
    if drafter is not None and drafter.kind == "model":
        yield f"specrules agree {url} {drafter.url or 'URL-OF-DRAFTER'}    about how often the drafter guesses right"
    yield f"specrules triage {case.name}    the verdict, and what would settle it"
    yield f"specrules plan {case.name}    a script that measures that"


def _quantity(fact: Fact, now: datetime) -> str:
    value = fact.value if isinstance(fact.value, float) else 0.0
    moment = fact.provenance.observed_at or now
    source = f"{fact.provenance.source}, since the server started"
    return (
        f"{{value: {value:.6g}, kind: measured, source: {_text(source)}, "
        f"observed_at: {moment.isoformat(timespec='seconds').replace('+00:00', 'Z')}}}"
    )


def _near(file: str, case: Path) -> str:
    """Return the path of a file as the folder of the case sees it."""
    return file if Path(file).is_absolute() else relpath(file, case.parent)


def _name(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2] or name


def _text(value: str) -> str:
    """Return a text as YAML takes it, quoted where it has to be. JSON strings are YAML strings."""
    plain = value.isascii() and value.replace("-", "").replace(".", "").replace("_", "").replace("/", "").isalnum()
    return value if plain and value[0].isalpha() else json.dumps(value)
