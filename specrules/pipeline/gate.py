"""Cases and deployments against a policy: `gate` judges files and says what a CI run needs to know."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.case import LoadedCase, load_case
from specrules.catalog.catalogue import Catalog
from specrules.catalog.policies import all_rule_ids
from specrules.catalog.waivers import Waivers, load_waivers
from specrules.decide.waive import Desk
from specrules.decide.weigh import worst
from specrules.errors import Location, Problem, UserError
from specrules.model.deployment import Place
from specrules.model.finding import GateError, GateReport, Subject
from specrules.model.rule import RuleFile
from specrules.pipeline.gate_kind import is_case
from specrules.pipeline.gate_subject import Found, Means, Prints, subject
from specrules.version import __version__

if TYPE_CHECKING:
    from specrules.pipeline.evidence import Progress
    from specrules.pipeline.sources import Sources

BESIDE = ".specrules.yaml"
"""NAME.specrules.yaml beside a deployment file is the case that gives it its numbers."""


def gate(
    paths: Sequence[str | os.PathLike[str]],
    *,
    catalog: Catalog | None = None,
    waivers: str | os.PathLike[str] | None = None,
    case: str | os.PathLike[str] | None = None,
    now: datetime | None = None,
    progress: Progress | None = None,
    sources: Sources | None = None,
    every_waiver: bool = False,
) -> GateReport:
    """Judge every file by the policy of the catalogue, and lay the waivers over what was found.

    `case` gives the numbers to deployments that have no file NAME.specrules.yaml beside them. Such a file itself stands
    for the deployments that it is beside, where there are any. A file that cannot be judged is an error of the report;
    UserError is raised for a catalogue, policy, waiver file or `case` that does not load. With `every_waiver` waivers
    are reported too for which nothing was judged. Without `sources` nothing is read from the web.
    """
    catalog = catalog or Catalog.load()
    moment = datetime.now(UTC) if now is None else now.replace(tzinfo=now.tzinfo or UTC)
    policy = catalog.policy
    laid = waivers_of(catalog, waivers)
    desk = Desk.open(((item.waiver, item.where) for item in laid.placed), policy.waivers, moment)
    prints: Prints = Counter()
    run = _Run(Means(catalog, moment, progress, sources), None if case is None else load_case(case))
    subjects: list[Subject] = []
    errors: list[GateError] = []
    for path in dict.fromkeys(name for item in paths for name in judged_for(os.fspath(item))):
        found, failed = run.judge(path)
        subjects += [subject(item, policy, desk, laid.root, prints) for item in found]
        errors += failed
    outcome = "error" if errors else worst(item.outcome for item in subjects)
    return GateReport(
        tool_version=__version__,
        now=moment.isoformat(timespec="seconds"),
        policy=policy.id,
        policy_title=policy.title,
        rules_digest=catalog.rules_digest,
        overridden=catalog.overridden,
        outcome=outcome,
        subjects=tuple(subjects),
        errors=tuple(dict.fromkeys(errors)),
        waivers=desk.notices(everything=every_waiver),
    )


def waivers_of(catalog: Catalog, path: str | os.PathLike[str] | None) -> Waivers:
    """The waivers of a file, or of the repository. LoadError for rules and engines that the catalogue lacks."""
    rules = (rule.id for file in catalog.of_kind(RuleFile) for rule in file.model.rules)
    return load_waivers(path, all_rule_ids(rules, catalog.policies.values()), catalog.engine_ids)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run over several files."""

    means: Means
    case: LoadedCase | None

    def judge(self, path: str) -> tuple[list[Found], list[GateError]]:
        """Judge one file. What is wrong with it is a value, so that the others go on."""
        found: list[Found] = []
        errors: list[GateError] = []
        if self.means.progress is not None:
            self.means.progress(f"judging {path}")
        try:
            for item in self._case(path) if is_case(path) else self._deployments(path):
                (errors if isinstance(item, GateError) else found).append(item)  # type: ignore[arg-type]
        except UserError as error:
            errors += map(_error, _placed(error.problems, path))
        except Exception as error:  # a bug met on one file must not lose what was found in the others
            if os.environ.get("SPECRULES_DEBUG"):
                raise
            errors.append(_error(_bug(error, path)))
        return found, errors

    def _case(self, path: str) -> Iterator[Found | GateError]:
        from specrules.pipeline.gate_case import case_found

        yield case_found(load_case(path), self.means)

    def _deployments(self, path: str) -> Iterator[Found | GateError]:
        from specrules.pipeline.gate_deployment import file_found

        case = self.case
        beside = case_beside(path)
        if beside is not None:
            try:
                case = load_case(beside)
            except UserError as error:
                yield from map(_error, error.problems)
        for item in file_found(path, case, self.means):
            yield _error(item) if isinstance(item, Problem) else item


def judged_for(path: str) -> list[str]:
    """The files to judge where one is named: the deployments of a case that stands beside some, else the file."""
    if not path.endswith(BESIDE):
        return [path]
    name = os.path.basename(path).removesuffix(BESIDE)
    folder = Path(path).parent
    try:
        near = sorted(item.name for item in folder.iterdir() if item.name.startswith(name) and item.is_file())
    except OSError:
        return [path]
    deployments = [item for item in near if name in {item, os.path.splitext(item)[0]} and not item.endswith(BESIDE)]
    return [os.path.join(os.path.dirname(path), item) for item in deployments] or [path]


def case_beside(path: str) -> str | None:
    """The case beside a deployment file: its name, or its name without the last suffix, with `.specrules.yaml`."""
    base = os.path.splitext(path)[0]
    return next((name for name in (path + BESIDE, base + BESIDE) if Path(name).is_file()), None)


def _placed(problems: Iterable[Problem], path: str) -> Iterator[Problem]:
    for problem in problems:
        where = problem.where or Location(path)
        yield Problem(problem.message, where, problem.hint)


def _bug(error: Exception, path: str) -> Problem:
    hint = "this is a bug in specrules; run again with SPECRULES_DEBUG=1 for a traceback to report"
    return Problem(f"internal error: {type(error).__name__}: {error}", Location(path), hint)


def _error(problem: Problem) -> GateError:
    where = problem.where
    place = None if where is None else Place(path=where.path, line=where.line, column=where.column)
    return GateError(message=problem.message, hint=problem.hint, place=place)
