"""`specrules rules`: the gates, what they ask, and their cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specrules.cli import options
from specrules.cli.main import EXIT_GATE_FAILED, EXIT_OK

if TYPE_CHECKING:
    from specrules.catalog.catalogue import Catalog
    from specrules.decide import CompiledRule, RuleSet


@click.group(name="rules", cls=options.Group)
def command() -> None:
    """List, show, check and test rules.

    \b
    Example:
      specrules rules show drafter-fits
    """


@command.command(name="list")
@options.layers
def list_rules(engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]) -> None:
    """List every rule with its report part and severity. Rules that judge deployments are marked.

    \b
    Example:
      specrules rules list
    """
    from specrules.cli.writing import write

    _, compiled = _load(engines, rules, templates)
    width = max(len(item.rule.id) for item in compiled)
    marks = {"case": "", "deployment": " [deployment]"}
    rows = (
        f"({item.part}) {item.rule.severity:5} {item.rule.id:{width}} {item.rule.title}{marks[item.scope]}"
        for item in compiled
    )
    write("\n".join(rows))


@command.command(name="show")
@click.argument("name", metavar="ID")
@options.layers
def show(name: str, engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]) -> None:
    """Show a rule: what it requires, why, the inputs it reads and what makes them known.

    \b
    Example:
      specrules rules show tokenizers-compatible
    """
    from specrules.cli.writing import write
    from specrules.errors import CatalogError, Problem, did_you_mean

    catalog, compiled = _load(engines, rules, templates)
    rule = compiled.get(name)
    if rule is None:
        raise CatalogError(Problem(f"no rule {name!r}", hint=did_you_mean(name, compiled.ids)))
    write("\n".join(_page(rule, catalog)))


@command.command(name="check")
@options.layers
def check(engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]) -> None:
    """Check rules and verdict table: expressions, names, messages, and the proof of the table.

    \b
    Example:
      specrules rules check --rules ./our-rules
    """
    from specrules.cli.writing import write
    from specrules.decide import prove
    from specrules.errors import LoadError
    from specrules.model.rule import FormulaFile
    from specrules.pipeline.rules import compiled

    catalog, found = _load(engines, rules, templates)
    _, table = compiled(catalog)
    problems = prove(table)
    if problems:
        raise LoadError(problems)
    formulas = catalog.only(FormulaFile, "formulas", "formulas").model
    write(
        f"{len(found)} rules, {len(table.rows)} verdict rows, {len(formulas.formulas)} formulas, "
        f"memory of {sum(len(item.names) for item in catalog.memory.architectures)} architectures: ok\n"
        "verdict table: total, every row reachable, deploy only where every block gate is settled"
    )


@command.command(name="test")
@options.layers
def test(engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]) -> int:
    """Run the cases beside rules and policies. Leaves with 1 where a case fails or a rule lacks one.

    A case that fails is shown as a diff: - what it expects, + what the rule said, and the values that decided.

    \b
    Example:
      specrules rules test --rules ./our-rules
    """
    from specrules.cli.writing import write
    from specrules.decide import case_diff
    from specrules.pipeline.policy_cases import run_policy_cases
    from specrules.pipeline.rule_cases import run_all

    catalog, compiled = _load(engines, rules, templates)
    results, gaps = run_all(catalog, compiled)
    policies = run_policy_cases(catalog)
    failed = [result for result in results if not result.ok]
    for result in failed:
        for problem in result.problems:
            click.echo(problem.render(), err=True)
        for line in case_diff(result):
            click.echo(line, err=True)
    wrong = [problem for result in policies for problem in result.problems]
    for problem in (*wrong, *gaps):
        click.echo(problem.render(), err=True)
    count, bad = len(results) + len(policies), len(failed) + len(wrong)
    write(f"{count - bad} passed, {bad} failed, {len(gaps)} missing")
    return EXIT_GATE_FAILED if bad or gaps else EXIT_OK


def _load(engines: tuple[Path, ...], rules: tuple[Path, ...], templates: tuple[Path, ...]) -> tuple[Catalog, RuleSet]:
    from specrules.catalog.catalogue import Catalog
    from specrules.pipeline.deployment_rules import every_rule

    catalog = Catalog.load(engines=engines, rules=rules, templates=templates)
    return catalog, every_rule(catalog)


def _page(compiled: CompiledRule, catalog: Catalog) -> Iterator[str]:
    rule = compiled.rule
    yield f"{rule.id}: {rule.title}"
    scope = "" if compiled.scope == "case" else f"{compiled.scope}, "
    yield f"{scope}part ({compiled.part}), {rule.severity}, since {rule.since}, {rule.status}, {compiled.where}"
    if rule.each is not None:
        yield f"asked for each of the {rule.each}; where nothing is found: {rule.clean}"
    if rule.unknown is not None:
        yield f"weighs as {rule.unknown} while it is unknown"
    yield ""
    if rule.applies is not None:
        yield f"applies  {rule.applies}"
    for name, expression in rule.let.items():
        yield f"let      {name} = {expression}"
    yield f"require  {rule.require}"
    yield ""
    yield f"Why: {rule.why}"
    yield f"Fix: {rule.fix}"
    for ref in rule.refs:
        yield f"See: {ref}"
    yield ""
    yield "Reads"
    names = set(compiled.require.names) | (set(compiled.applies.names) if compiled.applies is not None else set())
    names = names.union(*(item.names for item in compiled.lets.values()))
    for item in (*catalog.inputs.inputs, *(catalog.deployment_inputs.inputs if compiled.scope != "case" else ())):
        if item.name in names:
            unit = f" [{item.unit}]" if item.unit else ""
            ask = f" To know it: {item.ask}." if item.ask else ""
            yield f"  {item.name}{unit}: {item.doc}.{ask}"
