from __future__ import annotations

import io

from specrules.evidence.gguf import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_grows_on_one_line_and_is_wiped() -> None:
    stream = Terminal()
    bar = ProgressBar(stream, "x.gguf")
    bar(1_000_000, 4_000_000)
    bar(1_000_001, 4_000_000)
    bar(4_000_000, 3_000_000)
    first = "x.gguf [######..................] 1.0 of about 4.0 MB"
    last = "x.gguf [########################] 4.0 of about 4.0 MB"
    assert stream.getvalue() == f"\r{first}\r{last}"
    with bar:
        pass
    bar.close()
    assert stream.getvalue() == f"\r{first}\r{last}\r{' ' * len(last)}\r"


def test_nothing_is_written_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    bar = ProgressBar(stream, "x.gguf")
    bar(0, 0)
    bar.close()
    assert stream.getvalue() == ""


def test_a_terminal_that_goes_away_is_no_error() -> None:
    class Gone(Terminal):
        def flush(self) -> None:
            raise BrokenPipeError

    bar = ProgressBar(Gone(), "x.gguf")
    bar(1, 2)
    bar(2, 2)
    bar.close()
