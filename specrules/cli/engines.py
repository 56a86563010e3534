"""`specrules engines`: what the catalogue knows about engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specrules.cli import options
from specrules.cli.main import EXIT_COULD_NOT_JUDGE, EXIT_OK
from specrules.cli.new_engine import new
from specrules.cli.verify import verify

if TYPE_CHECKING:
    from specrules.catalog.catalogue import Catalog
    from specrules.errors import Problem
    from specrules.model.engine import Engine
    from specrules.model.program import Bench


@click.group(name="engines", cls=options.Group)
def command() -> None:
    """List, show and check engine files.

    \b
    Example:
      specrules engines list
    """


command.add_command(new)
command.add_command(verify)


@command.command(name="list")
@options.layers
def list_engines(engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]) -> None:
    """List every engine with the version its facts are from, its methods, and where its file lies.

    \b
    Example:
      specrules engines list --engines ./our-engines
    """
    from specrules.cli.writing import write
    from specrules.errors import UserError

    catalog = _load(engines, rules, templates)
    lines = []
    problems: list[Problem] = []
    for name in catalog.engine_ids:
        try:
            loaded = catalog.engine(name)
        except UserError as error:
            problems += error.problems
            continue
        engine = loaded.model
        methods = ", ".join(method.id for method in engine.methods if not method.removed)
        lines.append(f"{engine.id}  {engine.version.facts_from}  {methods}  ({loaded.document.path})")
    if lines:
        write("\n".join(lines))
    if problems:
        raise UserError(problems)


@command.command(name="show")
@click.argument("name", metavar="ID")
@options.layers
def show(name: str, engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]) -> None:
    """Show what is known about an engine: every claim with how it is known.

    \b
    Example:
      specrules engines show llama.cpp
    """
    from specrules.cli.writing import write

    write("\n".join(_page(_load(engines, rules, templates).engine(name).model)))


@command.command(name="check")
@click.argument("names", nargs=-1, metavar="[ID]...")
@options.layers
def check(
    names: tuple[str, ...], engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]
) -> int:
    """Check engine files: structure, references, versions, expressions, and every example.

    The files of bench tools (benches/) are checked with them.

    \b
    Examples:
      specrules engines check
      specrules engines check my-engine --engines ./our-engines
    """
    from specrules.cli.writing import progress, write
    from specrules.errors import Location, UserError
    from specrules.evidence.readers.examples import check_examples
    from specrules.pipeline.condition_examples import condition_problems

    catalog = _load(engines, rules, templates)
    failed = False
    for name in names or (*catalog.engine_ids, *catalog.bench_ids):
        progress(f"checking {name}")
        problems: tuple[Problem, ...]
        try:
            loaded = catalog.program(name)
            catalog.check_program(loaded)
            file = Location(loaded.document.path)
            # Problems of readers name reader and pattern, and have no place of their own.
            found = check_examples(loaded.model)
            if loaded.model.id in catalog.engine_ids:
                found += condition_problems(catalog.engine(loaded.model.id), catalog)
            problems = tuple(replace(item, where=item.where or file) for item in found)
        except UserError as error:
            problems = error.problems
        for problem in problems:
            failed = True
            click.echo(problem.render(), err=True)
        if not problems:
            write(f"{loaded.model.id}: ok, {_size(loaded.model)}")
    return EXIT_COULD_NOT_JUDGE if failed else EXIT_OK


def _load(engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]) -> Catalog:
    from specrules.catalog.catalogue import Catalog

    return Catalog.load(engines=engines, rules=rules, templates=templates)


def _size(program: Engine | Bench) -> str:
    patterns = sum(len(reader.patterns) for reader in program.readers)
    examples = sum(
        len(reader.examples) + sum(len(pattern.examples) for pattern in reader.patterns) for reader in program.readers
    )
    methods = f"{len(program.methods)} methods, " if hasattr(program, "methods") else ""
    return f"{methods}{len(program.readers)} readers, {patterns} patterns, {examples} examples"


def _page(engine: Engine) -> Iterator[str]:
    by_id = {source.id: source for source in engine.sources}

    def known(name: str) -> str:
        source = by_id[name]
        return f"[{source.by} {source.on.isoformat()}: {source.title}]"

    yield f"{engine.title} ({engine.id}), facts from {engine.version.facts_from}"
    yield engine.description
    yield ""
    yield "Methods"
    for method in engine.methods:
        state = "removed" if method.removed else method.drafter_class
        yield f"  {method.id} ({state}): {method.title} {known(method.known)}"
        if method.note:
            yield f"    {method.note}"
    for chosen in engine.request_drafters:
        served = f"served where the checkpoint reports {chosen.capability}" if chosen.capability else "always served"
        yield f"  a request may name {chosen.name}: {chosen.method or 'drafting off'}, {served} {known(chosen.known)}"
    yield "Combinations, the first that fits decides"
    for together in engine.combinations:
        yield f"  {' + '.join(together.methods)}: {together.status}. {together.effect} {known(together.known)}"
    routing = engine.devices.draft_routing
    possible = "possible" if routing.possible else "not possible"
    yield "Devices"
    yield f"  drafter on another device: {possible}. {routing.effect} {known(routing.known)}"
    for beside in engine.devices.coexistence:
        yield f"  {' + '.join(beside.backends)}: {beside.status}. {beside.effect} {known(beside.known)}"
    for gate in engine.tokenizer_gates:
        yield f"Tokenizer check for {', '.join(gate.methods)} {known(gate.known)}"
        for item in gate.checks:
            yield f"  {item.id}: {item.accepts} (otherwise {item.otherwise})"
    yield "Readers"
    for reader in engine.readers:
        yield f"  {reader.id} ({reader.kind}): {reader.title} {known(reader.known)}"
    yield "Measurements"
    for recipe in engine.recipes:
        yield f"  {recipe.id}: {recipe.title}, {recipe.minutes:g} minutes {known(recipe.known)}"
    yield "Known issues"
    for issue in engine.known_issues:
        span = " ".join(filter(None, (issue.since and f"since {issue.since}", issue.until and f"until {issue.until}")))
        yield f"  {issue.title}{f' ({span})' if span else ''}: {issue.effect} {known(issue.known)}"
