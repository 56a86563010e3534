"""Several log readers over one pass of a log: which of them knows most of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from specrules.evidence.readers.compiled import CompiledReader
from specrules.evidence.readers.log import LogCollector, matcher_of
from specrules.evidence.readers.patterns import Screen
from specrules.evidence.readers.stream import HEAD, Block

HEAD_LINES = 20_000
_ENOUGH = 20


class Race:
    """The readers that are tried on a log.

    All of them see the head of it, and everything after until one has taken twenty lines. From then on only those run
    that took at least half as many lines as the best one. `shared` counts the lines by the set of readers that took
    them, as bits, while all were running; `compared_lines` is how many lines that was, None for the whole log.
    """

    def __init__(self, readers: Sequence[CompiledReader], name: str) -> None:
        self.runners = [LogCollector(reader, name) for reader in readers]
        self.shared: Counter[int] = Counter()
        self.compared_lines: int | None = None
        self._running = list(enumerate(self.runners))
        self._screen = self._new_screen()

    def read(self, blocks: Iterable[Block]) -> None:
        """Read the log."""
        size = 0
        for block in blocks:
            self._take(block)
            size += len(block.data)
            if len(self._running) > 1 and (size >= HEAD or block.after > HEAD_LINES):
                self._drop_losers(block.after - 1)

    def finish(self) -> LogCollector | None:
        """Return the reader that took most lines, the first of equals, None where none took any."""
        best = max(self.runners, key=lambda runner: runner.observed.matched, default=None)
        if best is None or not best.observed.matched:
            return None
        best.finish()
        return best

    def _take(self, block: Block) -> None:
        for number, line in self._screen.lines(block.data, block.first):
            taken = 0
            for index, runner in self._running:
                if runner.take(line, number):
                    taken |= 1 << index
            if taken and self.compared_lines is None:
                self.shared[taken] += 1

    def _drop_losers(self, line: int) -> None:
        best = max(runner.observed.matched for _, runner in self._running)
        if best < _ENOUGH:
            return
        kept = [(index, runner) for index, runner in self._running if 2 * runner.observed.matched >= best]
        if len(kept) == len(self._running):
            return
        if self.compared_lines is None:
            self.compared_lines = line
        for index in {index for index, _ in self._running} - {index for index, _ in kept}:
            self.runners[index].forget()
        self._running = kept
        self._screen = self._new_screen()

    def _new_screen(self) -> Screen:
        texts = (text for _, runner in self._running for text in matcher_of(runner.reader).screen)
        return Screen(dict.fromkeys(texts))
