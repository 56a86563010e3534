"""The script of the measurement that would settle a case: servers, requests, the engine's own steps, the read-back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shlex import quote

from specrules.catalog.case import LoadedCase
from specrules.catalog.catalogue import Catalog
from specrules.catalog.datadir import builtin
from specrules.errors import Problem, UsageError, did_you_mean
from specrules.model.case import Arm, Case
from specrules.model.engine import Engine, Recipe, Step
from specrules.model.verdict import Measurement, Verdict
from specrules.pipeline.launches import Launches
from specrules.pipeline.shell import comment, filled_shell
from specrules.pipeline.triage import triage
from specrules.templating import num

TEMPLATE = "scaffold/measurement.sh.j2"
PATIENCE_S = 900
USUAL_TOKENS, MAX_TOKENS = 128, 256
FIRST_PORT = 18080

_ARM_URL = re.compile(r"\{(url|off_url|candidate_url|drafter_url|target_url)\}")
_BASELINES: tuple[Arm, ...] = ("incumbent", "off")


@dataclass(frozen=True, slots=True)
class Script:
    """A script and the recipe that it carries out. `instead_of` names a better recipe that no script can carry out."""

    recipe: Recipe
    text: str
    instead_of: str | None = None


def plan_script(
    loaded: LoadedCase,
    *,
    catalog: Catalog | None = None,
    recipe: str | None = None,
    now: datetime,
    folder: str = "measurement",
    port: int = FIRST_PORT,
    sequential: bool = False,
    verdict: Verdict | None = None,
) -> Script:
    """Return the runnable script of the settling measurement, or of the recipe that is named.

    `verdict` is that of the case, where it is known already.
    Raises UsageError for a recipe that the engine does not offer or that only people can carry out, and what `triage`
    raises for the case.
    """
    catalog = catalog or Catalog.load()
    verdict = verdict or triage(loaded, catalog=catalog, now=now)
    engine = catalog.engine(loaded.case.engine.id).model
    chosen, measurement, instead_of = _chosen(verdict, engine, loaded.case, recipe)
    writer = _Writer(loaded, engine, chosen, _draft_length(verdict, loaded.case), port)
    text = writer.render(measurement, now=now, folder=folder, sequential=sequential, instead_of=instead_of)
    return Script(chosen, text, instead_of)


def _chosen(
    verdict: Verdict, engine: Engine, case: Case, wanted: str | None
) -> tuple[Recipe, Measurement | None, str | None]:
    """Return the recipe to carry out: the named one, else the best that a script can."""
    by_id = {item.id: item for item in engine.recipes}
    ranked = [item for item in (verdict.measurement, *verdict.runners_up) if item is not None]
    if wanted is not None:
        if wanted not in by_id:
            message = f"{engine.title} offers no measurement {wanted!r}; known are {', '.join(by_id)}"
            raise UsageError(Problem(message, hint=did_you_mean(wanted, by_id)))
        if not can_be_scripted(by_id[wanted], engine, case):
            raise UsageError(Problem(f"no script can carry out {wanted!r}: {by_id[wanted].command}"))
        return by_id[wanted], next((item for item in ranked if item.recipe == wanted), None), None
    for item in ranked:
        found = by_id.get(item.recipe)
        if found is not None and can_be_scripted(found, engine, case):
            return found, item, None if item is ranked[0] else ranked[0].title
    offered = f"; by hand: {ranked[0].command}" if ranked else ""
    raise UsageError(f"{engine.title} offers no measurement that a script can carry out{offered}")


def can_be_scripted(recipe: Recipe, engine: Engine, case: Case) -> bool:
    """Tell whether a script can do it: by measuring servers, by steps of the engine's file, by a specrules command."""
    if recipe.steps or recipe.command.startswith("specrules ") or _arms(recipe, case):
        return True
    return (
        _is_hour(recipe)
        and case.incumbent.url is not None
        and engine.serving is not None
        and bool(engine.serving.metrics)
    )


def _arms(recipe: Recipe, case: Case) -> tuple[Arm, ...]:
    """Return the arms to measure: what is compared stands in one run, so that both get the same prompts in turns."""
    yields = set(recipe.yields)
    if "candidate.synthetic_zero" in yields or _is_hour(recipe) or recipe.steps:
        return ()
    baseline = _baseline(case)
    if any(name.startswith("candidate.") for name in yields):
        return (baseline, "candidate")
    if "off.rate_tok_s" in yields:
        return ("incumbent", "off") if baseline == "incumbent" and case.incumbent.drafting is not False else (baseline,)
    return ("drafter",) if "drafter.step_ms" in yields else ()


def _baseline(case: Case) -> Arm:
    """Return what the candidate is compared with: the incumbent where it can be had, else the target alone."""
    return "incumbent" if case.incumbent.url is not None or case.incumbent.drafting is False else "off"


def _is_hour(recipe: Recipe) -> bool:
    return bool(recipe.yields) and all(name.startswith("incumbent.") for name in recipe.yields)


def _draft_length(verdict: Verdict, case: Case) -> int:
    candidate = next((item for item in verdict.alternatives if item.name == "candidate"), None)
    return case.engine.draft_length or (candidate.draft_length if candidate is not None else None) or 3


class _Writer:
    """The script of one recipe."""

    def __init__(self, loaded: LoadedCase, engine: Engine, recipe: Recipe, draft_length: int, port: int) -> None:
        self._loaded, self._case, self._engine, self._recipe = loaded, loaded.case, engine, recipe
        self._launches = Launches(loaded, engine, draft_length, port)

    def render(
        self,
        measurement: Measurement | None,
        *,
        now: datetime,
        folder: str,
        sequential: bool,
        instead_of: str | None,
    ) -> str:
        from specrules.templating import environment

        measured, options = self._measured()
        steps = [self._filled(step) for step in self._steps()]
        asked = {arm for step in self._steps() for arm in self._asked(step.run)}
        served = [arm for arm in ("incumbent", "off", "candidate", "drafter") if arm in {*measured, *asked}]
        launches = [self._launches.launch(arm) for arm in served]
        text = builtin("templates").joinpath(*TEMPLATE.split("/")).read_text(encoding="utf-8")
        return (
            environment()
            .from_string(text)
            .render(
                title=comment(self._recipe.title),
                case_name=comment(self._case.title or Path(self._loaded.path).name),
                day=now.date().isoformat(),
                remarks=[
                    comment(line) for line in self._remarks(measurement, instead_of, served, sequential=sequential)
                ],
                case_file=quote(str(Path(self._loaded.path).resolve())),
                folder=quote(folder),
                patience=PATIENCE_S,
                servers=launches,
                served=served,
                measured=measured,
                logged=[launch.arm for launch in launches if launch.command is not None],
                options=options,
                run_first=[] if asked else steps,
                run_then=steps if asked else [],
                sequential=sequential and bool(measured) and not asked,
            )
        )

    def _measured(self) -> tuple[tuple[Arm, ...], str]:
        """Return the arms to measure and the options of the command; requests choose the drafter where they can."""
        workload = self._case.workload
        stated = workload.output_tokens
        tokens = USUAL_TOKENS if stated is None else min(MAX_TOKENS, round(stated.value))
        options = [
            f"--engine {self._engine.id}",
            f"--concurrency {workload.concurrency or 1}",
            f"--temperature {num(workload.temperature or 0.0)}",
            f"--max-tokens {max(2, tokens)}",
            '--case "$case_file"',
        ]
        arms = _arms(self._recipe, self._case)
        choices = [item for item in self._engine.request_drafters if item.body is not None]
        if choices and ("candidate" in arms or "off" in arms):
            # One server is enough: a request names its drafter.
            if "off" in arms or "candidate" in arms:
                options.append("--on-off")
            method = self._launches.method
            named = next((item.name for item in choices if method is not None and item.method == method.id), None)
            if "candidate" in arms and named is not None:
                options.append(f"--drafter {quote(named)}")
            arms = ("incumbent",)
        return arms, " ".join(options)

    def _steps(self) -> Sequence[Step]:
        recipe, serving = self._recipe, self._engine.serving
        if recipe.steps:
            return recipe.steps
        if _is_hour(recipe) and serving is not None and serving.metrics is not None:
            get = f"curl -fsS {{url}}{serving.metrics} -o"
            run = f'{get} "$out/before.txt" && sleep "${{PAUSE_S:-3600}}" && {get} "$out/after.txt"'
            return (Step(run=run, writes="after.txt", before="before.txt", arm="incumbent"),)
        if recipe.command.startswith("specrules ") and not _arms(recipe, self._case):
            return (Step(run=f'{recipe.command} > "$out/{recipe.id}.txt"'),)
        return ()

    def _asked(self, run: str) -> Iterator[Arm]:
        """Yield the arms whose servers a step asks."""
        for name in _ARM_URL.findall(run):
            if name in {"url", "target_url"}:
                yield "incumbent" if self._case.incumbent.url is not None else "off"
            else:
                yield name.removesuffix("_url")

    def _filled(self, step: Step) -> Step:
        baseline = "incumbent" if self._case.incumbent.url is not None else "off"
        words = {
            **self._launches.words,
            **{f"{arm}_url": f'"${arm}_url"' for arm in ("off", "candidate", "drafter")},
            "url": f'"${baseline}_url"',
            "target_url": f'"${baseline}_url"',
        }
        run = filled_shell(step.run, words)
        return step.model_copy(update={"run": re.sub(r"^specrules ", "$specrules ", run)})

    def _remarks(
        self, measurement: Measurement | None, instead_of: str | None, served: Sequence[str], *, sequential: bool
    ) -> Iterator[str]:
        yield f"It settles: {self._recipe.settles}"
        if measurement is not None:
            expected, flips = measurement.expected, measurement.threshold
            if expected.low is not None or expected.high is not None:
                yield f"Expected: {num(expected.low)} to {num(expected.high)} {measurement.quantity}"
            if flips is not None:
                yield f"The verdict flips at {num(flips)} {measurement.quantity}"
        if instead_of is not None:
            yield f"More would be learned by what no script can do: {instead_of}"
        if self._recipe.needs:
            yield f"It needs: {self._recipe.needs}"
        if len(served) > 1 and not sequential:
            yield "The servers run side by side and take turns; --sequential starts one after the other."
        if self._case.incumbent.drafting is True and self._case.incumbent.url is None:
            yield "What runs today drafts and is not started here: name it in incumbent.url to have it measured."
