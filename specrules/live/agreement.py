"""How often a drafter's greedy guess is the target's greedy token, asked of two servers without moving a weight.

The target writes; the drafter is asked what it would have written from points on the way. Where the drafter's engine
scores whole prompts, one request tells every position and the rounds are played through; else the drafter continues
from points that are sampled evenly, which counts easy stretches a little more often than rounds begin in them.

For greedy full-length drafts at temperature 0 this is what an engine accepts on the same prompts, within sampling
error: on llama.cpp 3.81 by agreement against 3.80 measured (SmolLM2-135M and a copy without one layer, K = 4, ten
prompts). It is no bound. Other prompts accept more or less; sampling, drafts that are cut short and drafters that run
otherwise than alone accept less, so that the low end is shaded.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specrules.catalog.prompts import Ask
from specrules.economics.interval import Interval
from specrules.economics.requests import quotient_interval
from specrules.errors import Problem, UsageError
from specrules.evidence.readers.json_document import values
from specrules.live.failures import LiveError
from specrules.live.http import Server
from specrules.model.engine import Engine
from specrules.model.serving import Call, Serving, filled_body

BIAS_GREEDY = 0.15
BIAS_SAMPLED = 0.30
"""By how much greedy agreement may overstate tokens per round, at temperature 0 and when sampling."""

ODD_TEXTS = (
    "In 1984, 3.14159 x 2 = 6.28318; see https://example.org/a?b=c&d=%20#e",
    "def f(x: int) -> str:\n\treturn f\"{x:>8}\"  # a comment\n\n\nif __name__ == '__main__':\n    print(f(7))\n",
    "Übergrößenträger, naïve café, 日本語の文章, Привет мир, עברית, emoji: \U0001f600\U0001f44d\U0001f3fd",
    '{"key": [1, 2.5, null, true], "nested": {"a b": "\\u00e9\\n"}}',
    "<|im_start|>user\n<s>[INST] </s> <pad> <unk> ### Instruction:",
)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two servers."""

    server: Server
    engine: Engine
    model: str | None

    @property
    def serving(self) -> Serving:
        """How it is asked. UsageError where its engine's file does not say."""
        if self.engine.serving is None:
            raise UsageError(f"{self.server.place}: the file of {self.engine.title} does not say how it is asked")
        return self.engine.serving

    def call(self, call: Call, **more: object) -> list[object]:
        """Send a request and return everything that stands at the path of its result."""
        body = filled_body(call.body, {"model": self.model or "", **more})
        return [found for _, found in values(self.server.posted_json(call.path, body), call.result)]

    def ids(self, call: Call, **more: object) -> list[int]:
        """Send a request whose result is a list of token ids. LiveError where it is none."""
        found = self.call(call, **more)
        if not found or not isinstance(found[0], list) or not all(_is_id(item) for item in found[0]):
            raise LiveError(f"the answer of {call.path} holds no token ids at {call.result}", self.server.place)
        return [int(item) for item in found[0]]

    def prompt_ids(self, ask: Ask) -> list[int]:
        """Return the ids of a whole prompt, as a chat where the engine's file says how. UsageError where it cannot."""
        serving = self.serving
        if serving.chat_ids is not None:
            return self.ids(serving.chat_ids, messages=ask.messages)
        if serving.tokenize is None:
            raise UsageError(_cannot(self, "turn a prompt into token ids"))
        text = ask.text
        if serving.template is not None:
            text = str((self.call(serving.template, messages=ask.messages) or [text])[0])
        return self.ids(serving.tokenize, text=text)


@dataclass(frozen=True, slots=True)
class Guesses:
    """The drafts for one prompt: of each, how many tokens from its start on were the target's."""

    prompt: str
    matches: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What all drafts of a length say. `positions` is the share of drafts that are right up to position 1, 2, ..

    The intervals are over prompts, and None for fewer than eight of them.
    """

    draft_length: int
    guesses: tuple[Guesses, ...]

    @property
    def drafts(self) -> int:
        """How many drafts were compared."""
        return sum(len(item.matches) for item in self.guesses)

    @property
    def positions(self) -> tuple[float, ...]:
        """Unconditional shares, non-increasing."""
        every = [match for item in self.guesses for match in item.matches]
        return tuple(sum(match >= depth for match in every) / len(every) for depth in range(1, self.draft_length + 1))

    @property
    def tokens(self) -> float:
        """Tokens per round if all of it held: 1 + the mean number of right tokens."""
        return 1 + sum(self.positions)

    @property
    def conditional(self) -> float:
        """P = S / (S + F): right tokens, and drafts that went wrong somewhere."""
        right, wrong = self._outcomes()
        return sum(right) / (sum(right) + sum(wrong)) if sum(right) + sum(wrong) else 0.0

    def tokens_interval(self) -> Interval[float] | None:
        """The t-interval of `tokens`."""
        used = [item for item in self.guesses if item.matches]
        if not used:
            return None
        found = quotient_interval([sum(item.matches) for item in used], [len(item.matches) for item in used])
        most = self.draft_length + 1.0
        return None if found is None else Interval(1 + found.low, 1 + found.mid, min(most, 1 + found.high))

    def conditional_interval(self) -> Interval[float] | None:
        """The t-interval of `conditional`."""
        right, wrong = self._outcomes()
        trials = [one + other for one, other in zip(right, wrong, strict=True)]
        if not trials or min(trials) == 0:
            return None
        found = quotient_interval(right, trials)
        return None if found is None else Interval(found.low, found.mid, min(1.0, found.high))

    def _outcomes(self) -> tuple[list[int], list[int]]:
        used = [item for item in self.guesses if item.matches]
        right = [sum(item.matches) for item in used]
        return right, [sum(match < self.draft_length for match in item.matches) for item in used]


def compare_ids(target: Side, drafter: Side, texts: Sequence[str]) -> tuple[int, str | None]:
    """Tokenise texts on both servers; return how many tokens that were, and the first text whose ids differ.

    UsageError where a server cannot tokenise: nobody can then say whether ids mean the same.
    """
    calls = []
    for side in (target, drafter):
        if side.serving.tokenize is None:
            raise UsageError(_cannot(side, "tokenise"))
        calls.append(side.serving.tokenize)
    count = 0
    for text in texts:
        one, other = (side.ids(call, text=text) for side, call in zip((target, drafter), calls, strict=True))
        if one != other:
            return count, text
        count += len(one)
    return count, None


def guesses_for(
    target: Side, drafter: Side, ask: Ask, *, draft_length: int, max_tokens: int, cuts: int, seed: int
) -> Guesses:
    """Let the target answer a prompt and the drafter guess along. LiveError where a server does not do its part."""
    extend = target.serving.extend
    if extend is None:
        raise UsageError(_cannot(target, "continue token ids"))
    prompt = target.prompt_ids(ask)
    written = target.ids(extend, ids=prompt, max_tokens=max_tokens)
    if len(written) <= draft_length:
        return Guesses(ask.id, ())
    if drafter.serving.score is not None:
        right = _scored(drafter, prompt, written)
        return Guesses(ask.id, tuple(played(right, draft_length)))
    if drafter.serving.extend is None:
        raise UsageError(_cannot(drafter, "continue or score token ids"))
    points = range(len(written) - draft_length + 1)
    chosen = sorted(random.Random(f"{seed}:{ask.id}").sample(points, min(cuts, len(points))))  # noqa: S311 - no secret
    matches = []
    for cut in chosen:
        guess = drafter.ids(drafter.serving.extend, ids=prompt + written[:cut], max_tokens=draft_length)
        matches.append(run_of(guess, written[cut : cut + draft_length]))
    return Guesses(ask.id, tuple(matches))


def run_of(guess: Sequence[int], wanted: Sequence[int]) -> int:
    """Return how many tokens are right before the first wrong one."""
    for index, (one, other) in enumerate(zip(guess, wanted, strict=False)):
        if one != other:
            return index
    return min(len(guess), len(wanted))


def played(right: Sequence[bool], draft_length: int) -> Iterator[int]:
    """Play drafting through: from each round's start so many right guesses, then the token that the target adds.

    `right` says of every position whether the first choice of the drafter, given the target's tokens before it, is the
    target's. A last round that the text cuts off is left out.
    """
    at = 0
    while at + draft_length <= len(right):
        match = 0
        while match < draft_length and right[at + match]:
            match += 1
        yield match
        at += match + 1


def _scored(side: Side, prompt: Sequence[int], written: Sequence[int]) -> list[bool]:
    """Return for every written token whether it is the first choice of a server that scores prompts."""
    score = side.serving.score
    if score is None:
        raise UsageError(_cannot(side, "score prompts"))
    ids = [*prompt, *written]
    found = side.call(score, ids=ids)
    entries = found[0] if found else None
    if not isinstance(entries, list) or len(entries) < len(ids):
        message = f"the answer of {score.path} holds no scores of {len(ids)} tokens at {score.result}"
        raise LiveError(message, side.server.place)
    return [_is_first(entry, token, score.shape) for entry, token in zip(entries[len(prompt) :], written, strict=False)]


def _is_first(entry: object, token: int, shape: str) -> bool:
    if shape == "rank-by-id" and isinstance(entry, dict):
        own = entry.get(str(token))
        return isinstance(own, dict) and own.get("rank") == 1
    if shape == "top-lists" and isinstance(entry, list) and entry:
        best = entry[0]
        return isinstance(best, list) and len(best) > 1 and best[1] == token
    return False


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _cannot(side: Side, what: str) -> Problem:
    message = f"{side.server.place}: the file of {side.engine.title} knows no request to {what}"
    return Problem(message, hint="describe it under serving")
