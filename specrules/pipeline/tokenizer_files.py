"""The files that a case names for target and drafter, read for their tokenizers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specrules.catalog.case import LoadedCase
from specrules.catalog.digest import FileDigest, file_digest
from specrules.errors import EvidenceError, Problem, UserError
from specrules.model.fact import Disagreement, Fact
from specrules.pipeline.evidence import Gathered, Progress
from specrules.pipeline.sources import Sources, shown

if TYPE_CHECKING:
    from specrules.evidence.tokenizers import Tokenizer

SIDES = ("target", "drafter")


def with_files(
    gathered: Gathered, loaded: LoadedCase, progress: Progress | None = None, sources: Sources | None = None
) -> Gathered:
    """Add what the tokenizers of `target.file` and `drafter.file` say to the facts of a case.

    What the case states stays in use; a file that says otherwise is a disagreement. Ids and sizes have to be equal: two
    ids that are close are two tokens. Without `sources` only what is on disk is read. EvidenceError with the problems
    of both files, and for an address that may not be fetched.
    """
    found = _tokenizers(loaded, progress, sources or Sources(loaded.folder))
    if not found:
        return gathered
    facts = _facts(found)
    used = gathered.facts
    disagreements = tuple(
        Disagreement(name=name, used=used[name], other=fact)
        for name, fact in facts.items()
        if name in used and used[name].value != fact.value
    )
    state = replace(gathered.state, disagreements=gathered.state.disagreements + disagreements)
    digests = tuple(_digest(side, tokenizer) for side, tokenizer in found.items())
    notes = tuple(f"{tokenizer.source}: {note}" for tokenizer in found.values() for note in tokenizer.notes)
    return replace(
        gathered,
        facts=used.extended(facts),
        state=state,
        warnings=gathered.warnings + notes,
        digests=gathered.digests + digests,
    )


def _tokenizers(loaded: LoadedCase, progress: Progress | None, sources: Sources) -> dict[str, Tokenizer]:
    files = {"target": loaded.case.target.file, "drafter": loaded.case.drafter.file}
    found: dict[str, Tokenizer] = {}
    problems: list[Problem] = []
    for side, file in files.items():
        if file is None:
            continue
        if progress is not None:
            progress(f"reading {shown(file)}")
        try:
            _check_address(file)
            found[side] = sources.tokenizer(file)
        except UserError as error:
            here = loaded.location((side, "file"))
            problems += [replace(problem, where=problem.where or here) for problem in error.problems]
    if problems:
        raise EvidenceError(problems)
    return found


def _check_address(file: str) -> None:
    """What a case states stands in its report: nothing secret may."""
    rest = file.partition("://")[2]
    if "?" in rest or "#" in rest or "@" in rest.partition("/")[0]:
        message = "user, password and query of an address do not belong into a case"
        raise EvidenceError(Problem(message, hint="put a token of Hugging Face into HF_TOKEN"))


def _facts(found: dict[str, Tokenizer]) -> dict[str, Fact]:
    from specrules.evidence.tokenizers import compare
    from specrules.evidence.tokenizers.facts import pair_facts, tokenizer_facts

    facts: dict[str, Fact] = {}
    for side, tokenizer in found.items():
        facts |= tokenizer_facts(side, tokenizer)
    if len(found) == len(SIDES):
        facts |= pair_facts(compare(found["target"], found["drafter"]))
    return facts


def _digest(side: str, tokenizer: Tokenizer) -> FileDigest:
    """The digest stands for what was read, which is the vocabulary and not the weights."""
    said = (
        tokenizer.texts.sha256,
        tokenizer.rows,
        tokenizer.model,
        tokenizer.pre,
        sorted(tokenizer.special_ids.items()),
    )
    return file_digest(
        f"{side}:{Path(tokenizer.source).name}", repr((*said, tokenizer.add_bos, tokenizer.add_eos)).encode()
    )
