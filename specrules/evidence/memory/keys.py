"""Numbers of a header by their key without the architecture in front, with what is missing said in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specrules.evidence.gguf import Array, Header

MAX_LAYERS = 512
"""llama.cpp loads no model with more (LLAMA_MAX_LAYERS)."""
MAX_NUMBER = 1 << 40
"""No width, count or context is larger. A number beyond it is a fault of the file."""


class CannotSizeError(Exception):
    """Why the memory of a model cannot be told. Caught inside this package, where it becomes an unknown."""


class Keys:
    """The keys of one architecture. A number that is no whole one from 0 up is refused."""

    def __init__(self, header: Header, defaults: Mapping[str, int] | None = None) -> None:
        architecture = header.values.get("general.architecture")
        if not isinstance(architecture, str) or not architecture:
            raise CannotSizeError("the header does not name its architecture")
        self.architecture = architecture
        self._values = header.values
        self._defaults = defaults or {}

    @property
    def names(self) -> Iterable[str]:
        """Every key of the architecture that the header holds, without the architecture in front."""
        prefix = f"{self.architecture}."
        return [name.removeprefix(prefix) for name in self._values if name.startswith(prefix)]

    def number(self, key: str) -> int | None:
        """Return a number, the first of a list, or the declared default; None where there is neither."""
        value = self._get(key)
        if value is None:
            return self._defaults.get(key)
        if isinstance(value, Array):
            if not len(value):
                raise CannotSizeError(f"the list {key} is empty")
            value = value[0]
        return self._checked(key, value)

    def needed(self, key: str) -> int:
        """Return a number. Raises CannotSizeError where there is none."""
        found = self.number(key)
        if found is None:
            raise CannotSizeError(f"the header lacks {self.architecture}.{key}")
        return found

    def per_layer(self, key: str, layers: int) -> tuple[int, ...] | None:
        """Return a number for every layer, from a list of that length or from one number for all."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, Array):
            return (self._checked(key, value),) * layers
        if len(value) != layers:
            raise CannotSizeError(f"{key} has {len(value)} entries for {layers} layers")
        return tuple(self._checked(key, item) for item in value)

    def flags(self, key: str, layers: int) -> tuple[bool, ...] | None:
        """Return a list of flags for the first layers, false for those beyond it; None where there is no list."""
        value = self._get(key)
        if not isinstance(value, Array):
            return None
        if len(value) > MAX_LAYERS:
            raise CannotSizeError(f"{key} has {len(value)} entries for {layers} layers")
        found = [bool(self._checked(key, item)) for item in value]
        return tuple((found + [False] * layers)[:layers])

    def has(self, key: str) -> bool:
        """Tell whether the header holds a number above zero under this key."""
        return bool(self.number(key))

    def _get(self, key: str) -> object:
        return self._values.get(f"{self.architecture}.{key}")

    def _checked(self, key: str, value: object) -> int:
        if isinstance(value, bool):
            return int(value)
        if not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
            raise CannotSizeError(f"{key} is no count: {value!r}")
        return value
