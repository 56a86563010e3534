"""The probes of an engine file, asked of a running server: which of its known answers came, and what that means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from specrules.live.failures import LiveError
from specrules.live.http import Answer, Server
from specrules.model.engine import Engine, Probe, ProbeAnswer
from specrules.model.serving import PLACEHOLDER, filled_body
from specrules.model.version import in_range


@dataclass(frozen=True, slots=True)
class Probed:
    """One probe and what came of it. `known` is the answer that the engine file describes, None for any other."""

    probe: Probe
    answer: Answer | None
    known: ProbeAnswer | None
    error: str = ""

    @property
    def means(self) -> str:
        """What the answer means, in one sentence."""
        if self.known is not None:
            return self.known.means
        if self.answer is None:
            return self.error
        return f"HTTP status {self.answer.status}, an answer that the engine file does not describe."


def known_answer(probe: Probe, status: int, text: str) -> ProbeAnswer | None:
    """Return the first described answer with this status and text, None where none fits.

    White space does not count: servers write the same JSON with and without it.
    """
    squeezed = "".join(text.split())
    for answer in probe.answers:
        wanted = answer.contains
        if answer.status is not None and answer.status != status:
            continue
        if wanted is None or wanted in text or "".join(wanted.split()) in squeezed:
            return answer
    return None


def placeholders(probe: Probe) -> set[str]:
    """Return the names that have to be filled in before a probe can be sent."""
    return set(PLACEHOLDER.findall(probe.body or "")) | set(PLACEHOLDER.findall(probe.path))


def can_be_asked(probe: Probe, words: Mapping[str, str], version: str | None, engine: Engine) -> bool:
    """Tell whether everything is there that a probe needs. A version that is not known rules nothing out."""
    if not placeholders(probe) <= words.keys():
        return False
    try:
        return in_range(version, probe.since, probe.until, engine.version.scheme) is not False
    except ValueError:
        return True


def ask(server: Server, probe: Probe, words: Mapping[str, str], earlier: Mapping[str, Answer] | None = None) -> Probed:
    """Send a probe, or take the answer to the same GET from `earlier`. A server that is gone raises LiveError."""
    answer = (earlier or {}).get(probe.path) if probe.method == "GET" else None
    if answer is None:
        try:
            answer = _sent(server, probe, words)
        except LiveError as error:
            if error.status is None:
                raise
            return Probed(probe, None, None, error.problems[0].message)
    return Probed(probe, answer, known_answer(probe, answer.status, answer.text))


def _sent(server: Server, probe: Probe, words: Mapping[str, str]) -> Answer:
    path = _with(probe.path, words)
    if probe.method == "GET":
        return server.get(path)
    return server.post(path, filled_body(_with(probe.body or "{}", words), {}))


def _with(text: str, words: Mapping[str, str]) -> str:
    """Fill in names. They stand inside JSON strings in probes, so what would end a string is left out."""
    clean = {name: word.replace("\\", "").replace('"', "") for name, word in words.items()}
    return PLACEHOLDER.sub(lambda match: clean[match[1]], text)
