"""A parsed GGUF header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from specrules.evidence.gguf.arrays import Array, ByteOrder
from specrules.evidence.gguf.tensors import TensorInfo

Value = int | float | bool | str | Array


class Values(Mapping[str, Value]):
    """Keys and values in the order of the file. A string is decoded, as UTF-8 with surrogateescape, when asked for.

    Decoding late keeps a header of many long texts from taking several times its size.
    """

    def __init__(self, items: Mapping[str, int | float | bool | memoryview | Array]) -> None:
        self._items = items

    def __getitem__(self, key: str) -> Value:
        value = self._items[key]
        return str(value, "utf-8", "surrogateescape") if isinstance(value, memoryview) else value

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


@dataclass(frozen=True, eq=False)
class Header:
    """What a GGUF file says before its tensor data.

    `header_bytes` is where the descriptions end, and `data_offset` where the tensor data begin, after padding. Both
    count from the start of the file. `file_bytes` is the size of the file, None where the source did not say it.

    A split model as a whole has the values of its first file and the tensors of all. `shards` then holds the headers of
    its files, and places and size are those of the first.
    """

    version: int
    byte_order: ByteOrder
    alignment: int
    values: Mapping[str, Value]
    tensors: tuple[TensorInfo, ...]
    header_bytes: int
    data_offset: int
    name: str
    file_bytes: int | None = None
    shards: tuple[Header, ...] = ()
