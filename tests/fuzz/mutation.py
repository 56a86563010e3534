"""Mutation of GGUF files by their parts: counts stay right, so that mutants are read beyond their first key."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.unit.evidence.gguf.build import ARRAY, CODES, LITTLE, STRING

NUMBERS = [0, 1, 2, 3, 7, 13, 31, 64, 255, 2**16, 2**31, 2**32 - 1, 2**40, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
_MOST = 2000


@dataclass
class Parts:
    """Keys and descriptions of tensors, as bytes, and what follows them."""

    keys: list[bytes]
    tensors: list[bytes]
    rest: bytes

    def joined(self) -> bytes:
        """The file."""
        return LITTLE.header(self.keys, self.tensors) + self.rest


def split(data: bytes) -> Parts | None:
    """Return the parts of a little-endian file; None where it is broken."""
    try:
        tensor_count, key_count = struct.unpack_from("<QQ", data, 8)
        at, ends = 24, []
        for number in range(key_count + tensor_count):
            at = _key_end(data, at) if number < key_count else _tensor_end(data, at)
            if at > len(data) or number > _MOST:
                return None
            ends.append(at)
    except (struct.error, KeyError, OverflowError):
        return None
    pieces = [data[start:end] for start, end in zip([24, *ends], ends, strict=False)]
    return Parts(pieces[:key_count], pieces[key_count:], data[at:])


class Mutator:
    """Changes whole parts about as often as bytes. `pool` gives the parts that are put in."""

    def __init__(self, files: Iterable[bytes], bytewise: Callable[[bytes, int], bytes]) -> None:
        found = [parts for parts in map(split, files) if parts is not None]
        self._keys = sorted({key for parts in found for key in parts.keys if len(key) < 4096})
        self._tensors = sorted({tensor for parts in found for tensor in parts.tensors})
        self._bytewise = bytewise

    def __call__(self, data: bytes, max_size: int, seed: int) -> bytes:
        """Return a mutant, the same one for the same seed where parts are changed."""
        chance = random.Random(seed)  # noqa: S311
        parts = split(data) if chance.random() < 0.6 else None
        if parts is None:
            return self._bytewise(data, max_size)
        for _ in range(chance.choice([1, 1, 2, 4])):
            self._change(parts, chance)
        return parts.joined()[:max_size]

    def _change(self, parts: Parts, chance: random.Random) -> None:
        of_keys = not parts.tensors or chance.random() < 0.7
        pieces, pool = (parts.keys, self._keys) if of_keys else (parts.tensors, self._tensors)
        at = chance.randrange(len(pieces) + 1)
        action = chance.choice(["insert", "insert", "number", "number", "number", "remove", "move", "bytes"])
        if action == "insert" or at == len(pieces):
            pieces.insert(at, chance.choice(pool))
        elif action == "remove":
            del pieces[at]
        elif action == "move":
            pieces.insert(chance.randrange(len(pieces)), pieces.pop(at))
        elif action == "bytes":
            pieces[at] = self._bytewise(pieces[at], len(pieces[at]) + 8)
        else:
            pieces[at] = _with_number(pieces[at], chance)


def _with_number(piece: bytes, chance: random.Random) -> bytes:
    """Put a number that matters at one of the places where numbers are: behind the name, or at the end."""
    if len(piece) < 8:
        return piece
    name_end = 8 + struct.unpack_from("<Q", piece)[0]
    code = chance.choice("IQ")
    size = struct.calcsize(f"<{code}")
    at = chance.choice([name_end, name_end + 4, name_end + 8, name_end + 12, len(piece) - size])
    number = chance.choice([*NUMBERS, chance.randrange(1 << 12)]) % (1 << 8 * size)
    return piece[:at] + struct.pack(f"<{code}", number) + piece[at + size :]


def _key_end(data: bytes, at: int) -> int:
    at = _text_end(data, at)
    (kind,) = struct.unpack_from("<I", data, at)
    if kind != ARRAY:
        return _text_end(data, at + 4) if kind == STRING else at + 4 + struct.calcsize("<" + CODES[kind])
    kind, count = struct.unpack_from("<IQ", data, at + 4)
    at += 16
    if kind != STRING:
        return at + count * struct.calcsize("<" + CODES[kind])
    for _ in range(count):
        at = _text_end(data, at)
    return at


def _tensor_end(data: bytes, at: int) -> int:
    at = _text_end(data, at)
    return at + 4 + 8 * struct.unpack_from("<I", data, at)[0] + 12


def _text_end(data: bytes, at: int) -> int:
    return at + 8 + struct.unpack_from("<Q", data, at)[0]
