"""The catalogue: engines, bench tools, drafter classes, inputs, formulas, rules and verdict table, from all layers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from specrules.catalog.collection import Collection, collect
from specrules.catalog.digest import digest, short
from specrules.catalog.document import LONGEST_EXCERPT, Document, Source
from specrules.catalog.engine_checks import Names, engine_problems, program_problems
from specrules.catalog.layers import BUILTIN, Layer, discover
from specrules.catalog.loaded import Loaded
from specrules.catalog.located import read_document
from specrules.catalog.memory_checks import memory_problems
from specrules.catalog.policies import DEFAULT, policy_id, policy_layer, policy_problems
from specrules.catalog.schema_version import schema_problems
from specrules.catalog.symbols import is_of_item, symbols
from specrules.catalog.validate import check
from specrules.errors import CatalogError, LoadError, Location, Problem, did_you_mean
from specrules.expressions import Type
from specrules.model.drafter import DrafterClass, DrafterClassFile
from specrules.model.engine import Engine
from specrules.model.memory import MemoryFile
from specrules.model.policy import PolicyCaseFile, PolicyFile
from specrules.model.prior import GroupFile, PriorFile
from specrules.model.program import Bench
from specrules.model.rule import FormulaFile, InputFile, RuleCaseFile, RuleFile, VerdictTable

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

M = TypeVar("M", bound=BaseModel)

RULE_KINDS: Mapping[str, type[BaseModel]] = {
    "formulas": FormulaFile,
    "drafter_classes": DrafterClassFile,
    "inputs": InputFile,
    "thresholds": PolicyFile,
    "rows": VerdictTable,
    "architectures": MemoryFile,
    "priors": PriorFile,
    "hardware": GroupFile,
    "rules": RuleFile,
}
"""The documents of `rules/`, told apart by the first of these keys that they hold."""


@dataclass(frozen=True, eq=False)
class Catalog:
    """Everything that YAML says. An engine is read when it is first asked for, all else when the catalogue loads."""

    layers: tuple[Layer, ...]
    engine_documents: Collection
    rule_documents: Collection
    policy_id: str = DEFAULT
    _engines: dict[str, Loaded[Engine]] = field(default_factory=dict)

    @classmethod
    def load(
        cls,
        *,
        engines: Sequence[str | os.PathLike[str]] = (),
        rules: Sequence[str | os.PathLike[str]] = (),
        templates: Sequence[str | os.PathLike[str]] = (),
        policy: str | os.PathLike[str] | None = None,
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Catalog:
        """Read the built-in documents and the user's layers. LoadError or CatalogError with every problem.

        `policy` is the id of the policy that counts, or its file, which is then the highest layer.
        """
        layers = discover(engines=engines, rules=rules, templates=templates, cwd=cwd, environ=environ)
        own = policy_layer(policy)
        found = collect((*layers, *own), "rules", _id_of)
        named = policy_id(policy, found.documents)
        return cls(layers, collect(layers, "engines", _id_of, named=True), found, named)

    @property
    def engine_ids(self) -> tuple[str, ...]:
        """The ids of all engines."""
        return tuple(sorted(self.engine_documents.documents))

    def engine(self, name: str) -> Loaded[Engine]:
        """The engine with this id or alias. CatalogError where there is none, LoadError where its file is wrong."""
        document = self.engine_documents.documents.get(name) or _by_alias(name, self.engine_documents.documents)
        if document is None:
            hint = did_you_mean(name, self.engine_ids)
            raise CatalogError(Problem(f"no engine {name!r}; known are {', '.join(self.engine_ids)}", hint=hint))
        key = str(document.data["id"])
        if key not in self._engines:
            engine, problems = check(document, Engine)
            if engine is None:
                raise LoadError(problems)
            loaded = Loaded(engine, document)
            if document.layer != BUILTIN or self.overridden:
                self.check_engine(loaded)
            self._engines[key] = loaded
        return self._engines[key]

    def check_engine(self, loaded: Loaded[Engine]) -> None:
        """Check references, versions and expressions of an engine file. LoadError with every problem.

        An engine is checked when it loads, unless nothing built-in is overridden and it is built-in itself: then the
        tests have done it.
        """
        names = Names(self.symbols, tuple(self.drafter_classes), self.condition_symbols)
        problems = engine_problems(loaded.model, loaded.locate, names)
        if problems:
            raise LoadError(self.quoted(problems))

    @cached_property
    def bench_documents(self) -> Collection:
        """The files of bench tools. LoadError or CatalogError with every problem."""
        return collect(self.layers, "benches", _id_of, named=True)

    @property
    def bench_ids(self) -> tuple[str, ...]:
        """The ids of all bench tools."""
        return tuple(sorted(self.bench_documents.documents))

    def bench(self, name: str) -> Loaded[Bench]:
        """The bench tool with this id or alias. CatalogError where there is none, LoadError where its file is wrong."""
        documents = self.bench_documents.documents
        document = documents.get(name) or _by_alias(name, documents)
        if document is None:
            hint = did_you_mean(name, self.bench_ids)
            raise CatalogError(Problem(f"no bench tool {name!r}; known are {', '.join(self.bench_ids)}", hint=hint))
        bench, problems = check(document, Bench)
        if bench is None:
            raise LoadError(problems)
        loaded = Loaded(bench, document)
        if document.layer != BUILTIN or self.overridden:
            self.check_bench(loaded)
        return loaded

    @cached_property
    def benches(self) -> tuple[Bench, ...]:
        """All bench tools."""
        return tuple(self.bench(name).model for name in self.bench_ids)

    def check_bench(self, loaded: Loaded[Bench]) -> None:
        """Check references, versions and expressions of the file of a bench tool. LoadError with every problem."""
        problems = program_problems(loaded.model, loaded.locate)
        if problems:
            raise LoadError(self.quoted(problems))

    def program(self, name: str) -> Loaded[Engine] | Loaded[Bench]:
        """The engine or the bench tool with this id or alias. CatalogError where there is neither."""
        documents = self.bench_documents.documents
        is_bench = name not in self.engine_ids and (name in documents or _by_alias(name, documents) is not None)
        return self.bench(name) if is_bench else self.engine(name)

    def check_program(self, loaded: Loaded[Engine] | Loaded[Bench]) -> None:
        """Check the file of an engine or a bench tool. LoadError with every problem."""
        if isinstance(loaded.model, Engine):
            self.check_engine(Loaded(loaded.model, loaded.document))
        else:
            self.check_bench(Loaded(loaded.model, loaded.document))

    @cached_property
    def rule_models(self) -> tuple[Loaded[BaseModel], ...]:
        """Every document of `rules/` as its model. LoadError with the problems of all of them."""
        loaded: list[Loaded[BaseModel]] = []
        problems: list[Problem] = []
        for document in self.rule_documents.documents.values():
            kind = next((model for key, model in RULE_KINDS.items() if key in document.data), None)
            if kind is None:
                keys = ", ".join(RULE_KINDS)
                problems.append(document.problem(f"not a document of rules: it holds none of the keys {keys}"))
                continue
            model, found = check(document, kind)
            problems += found
            if model is not None:
                loaded.append(Loaded(model, document))
        if problems:
            raise LoadError(problems)
        return tuple(loaded)

    def of_kind(self, kind: type[M]) -> tuple[Loaded[M], ...]:
        """The rule documents of one kind."""
        return tuple(Loaded(item.model, item.document) for item in self.rule_models if isinstance(item.model, kind))

    def only(self, kind: type[M], what: str, name: str | None = None) -> Loaded[M]:
        """The document of a kind of which one counts. CatalogError where it is missing."""
        found = {str(item.document.data["id"]): item for item in self.of_kind(kind)}
        if name is None and len(found) == 1:
            return next(iter(found.values()))
        if name is not None and name in found:
            return found[name]
        hint = did_you_mean(name or "", found)
        raise CatalogError(Problem(f"{what} {name or ''} not found among {', '.join(found) or 'none'}", hint=hint))

    @cached_property
    def rule_cases(self) -> tuple[Loaded[RuleCaseFile], ...]:
        """The files with cases beside rules. LoadError with the problems of all of them."""
        return self._cases(RuleCaseFile)

    @cached_property
    def policy_cases(self) -> tuple[Loaded[PolicyCaseFile], ...]:
        """The files with cases beside policies. LoadError with the problems of all of them."""
        return self._cases(PolicyCaseFile)

    def _cases(self, kind: type[M]) -> tuple[Loaded[M], ...]:
        loaded: list[Loaded[M]] = []
        problems: list[Problem] = []
        for file in self.rule_documents.cases:
            document = read_document(file.read(), file.path, file.layer.name)
            if ("policy_cases" in document.data) is not (kind is PolicyCaseFile):
                continue
            found: list[Problem] = list(document.problems or schema_problems(document))
            model, more = (None, found) if found else check(document, kind)
            problems += more
            if model is not None:
                loaded.append(Loaded(model, document))
        if problems:
            raise LoadError(problems)
        return tuple(loaded)

    @property
    def inputs(self) -> InputFile:
        """The declared inputs."""
        return self.only(InputFile, "inputs", "inputs").model

    @cached_property
    def policies(self) -> Mapping[str, PolicyFile]:
        """Every policy by id. LoadError for one that names rules, thresholds or facts that do not exist."""
        loaded = self.of_kind(PolicyFile)
        facts = [item.name for item in self.inputs.inputs]
        rules = {rule.id: rule for file in self.of_kind(RuleFile) for rule in file.model.rules}
        problems = [problem for item in loaded for problem in policy_problems(item, rules, facts)]
        if problems:
            raise LoadError(problems)
        return {item.model.id: item.model for item in loaded}

    @property
    def policy(self) -> PolicyFile:
        """The policy that counts. CatalogError where there is none of that id."""
        if self.policy_id not in self.policies:
            known = ", ".join(self.policies)
            hint = did_you_mean(self.policy_id, self.policies)
            raise CatalogError(Problem(f"no policy {self.policy_id!r}; known are {known}", hint=hint))
        return self.policies[self.policy_id]

    @cached_property
    def memory(self) -> MemoryFile:
        """What models keep in memory. LoadError for references and expressions that do not hold."""
        loaded = self.only(MemoryFile, "memory", "memory")
        problems = memory_problems(loaded.model, loaded.locate)
        if problems:
            raise LoadError(self.quoted(problems))
        return loaded.model

    @cached_property
    def symbols(self) -> dict[str, Type]:
        """Every name that rules and engine files may read, with its type."""
        return symbols(self.inputs.inputs, self.policy)

    @cached_property
    def deployment_inputs(self) -> InputFile:
        """The inputs of rules of the scope `deployment`, beside those that every rule may read."""
        return self.only(InputFile, "inputs", "deployment-inputs").model

    @cached_property
    def deployment_symbols(self) -> dict[str, Type]:
        """Every name that rules of the scope `deployment` may read, with its type."""
        return self.symbols | {item.name: Type(item.type) for item in self.deployment_inputs.inputs}

    @cached_property
    def condition_symbols(self) -> dict[str, Type]:
        """Every name that conditions over a deployment may read beside its settings: no item of a rule with `each`."""
        return {name: kind for name, kind in self.deployment_symbols.items() if not is_of_item(name)}

    @cached_property
    def drafter_classes(self) -> dict[str, DrafterClass]:
        """The drafter classes of all files by id."""
        return {item.id: item for file in self.of_kind(DrafterClassFile) for item in file.model.drafter_classes}

    def drafter_class(self, name: str, where: Location | None = None) -> DrafterClass:
        """The drafter class with this id. CatalogError at `where` when there is none."""
        classes = self.drafter_classes
        if name not in classes:
            problem = Problem(
                f"no drafter class {name!r}; known are {', '.join(classes)}", where, did_you_mean(name, classes)
            )
            raise CatalogError(problem)
        return classes[name]

    def quoted(self, problems: Iterable[Problem]) -> list[Problem]:
        """Problems with the line that they point to, where it stands in a file of the catalogue."""
        documents = (self.engine_documents, self.bench_documents, self.rule_documents)
        files = {file.path: file for collection in documents for file in collection.files}
        quoted = []
        for problem in problems:
            where, excerpt = problem.where, problem.excerpt
            if where is not None and where.path in files and not excerpt:
                text = files[where.path].read().decode(errors="replace").removeprefix("\ufeff")
                line = Source(where.path, text).line(where.line)
                excerpt = line if len(line) <= LONGEST_EXCERPT else ""
            quoted.append(replace(problem, excerpt=excerpt))
        return quoted

    @property
    def rules_digest(self) -> str:
        """Digest over every file of rules, engines and bench tools that was read."""
        documents = (self.engine_documents, self.bench_documents, self.rule_documents)
        return short(digest([item for collection in documents for item in collection.digests]))

    @property
    def overridden(self) -> tuple[str, ...]:
        """Built-in documents that a user's layer replaces, as `id (file)`."""
        documents = (self.engine_documents, self.bench_documents, self.rule_documents)
        found = (item for collection in documents for item in collection.overridden_builtins)
        return tuple(f"{item.id} ({item.path})" for item in found)

    @property
    def template_folders(self) -> tuple[Traversable, ...]:
        """Folders of templates, the one that wins first."""
        folders = (layer.folder("templates") for layer in reversed(self.layers))
        return tuple(folder for folder in folders if folder is not None)

    @cached_property
    def rules_are_shipped(self) -> bool:
        """Whether all rules and the inputs that they read are built-in, whose messages the tests have checked."""
        return all(item.document.layer == BUILTIN for kind in (RuleFile, InputFile) for item in self.of_kind(kind))

    @property
    def table_is_shipped(self) -> bool:
        """Whether the verdict table is the built-in one, whose proof is part of the tests."""
        return not any(item.id == "verdict" for item in self.rule_documents.overridden_builtins)


def _by_alias(name: str, documents: Mapping[str, Document]) -> Document | None:
    for document in documents.values():
        aliases = document.data.get("aliases")
        if isinstance(aliases, list) and name in aliases:
            return document
    return None


def _id_of(data: Mapping[str, Any]) -> Any:
    return data.get("id")
