"""The walk over an array of strings, which has no total size: only each string says how long it is."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Generator
from itertools import repeat

from specrules.evidence.gguf.arrays import STRIDE, layout
from specrules.evidence.gguf.cursor import Cursor

#: Stands for a position that the struct module cannot take; it lies behind every buffer.
_FAR = 1 << 62


def walk_strings(cursor: Cursor, name: str, count: int) -> Generator[int, None, array[int]]:
    """Go behind `count` strings and return where, from the first on, every `STRIDE`th begins.

    The inner loop looks at nothing but lengths: it is what makes the reader fast. Where it leaves the bytes that are
    there, the chunk is looked at again with care, and walked again once enough bytes have come.
    """
    start = cursor.at
    marks = array("Q")
    length = layout(cursor.order, "Q").unpack_from
    buffer = cursor.buffer
    done = 0
    while done < count:
        chunk = min(STRIDE, count - done)
        at = cursor.at
        try:
            for _ in repeat(None, chunk):
                at += 8 + length(buffer, at)[0]
        except (struct.error, OverflowError):
            at = _FAR
        if at > len(buffer):
            wanted = _missing(cursor, name, done, chunk, count)
            cursor.likely = cursor.at + (cursor.at - start) * (count - done) // (done or 1)
            yield wanted
            continue
        marks.append(cursor.at - start)
        cursor.at = at
        done += chunk
    cursor.likely = 0
    return marks


def _missing(cursor: Cursor, name: str, done: int, chunk: int, count: int) -> int:
    """Return where the first string ends that is not there yet; raise GgufError where the file cannot hold it."""
    length = layout(cursor.order, "Q").unpack_from
    at = cursor.at
    for index in range(done, done + chunk):
        what = f"string {index} of {count} in {name!r}"
        if at + 8 > len(cursor.buffer):
            cursor.within(at + 8, what, at)
            return at + 8
        size: int = length(cursor.buffer, at)[0]
        end = at + 8 + size
        cursor.within(end, f"{what}, {size} bytes,", at)
        if end > len(cursor.buffer):
            return end
        at = end
    raise AssertionError("all strings of the chunk are there")
