"""The names of an engine's settings: from how a file writes them to how the engine's file calls them."""

from __future__ import annotations

from collections.abc import Iterable

from specrules.model.engine import Engine
from specrules.model.flag import Flag, RemovedFlag
from specrules.model.launching import Launching


class Names:
    """Flags, variables and keys of one engine by every spelling that it takes."""

    def __init__(self, engine: Engine) -> None:
        self.launching = engine.launch or Launching(known="unknown")
        self._flags: dict[str, Flag | RemovedFlag] = {}
        self._by_spelling: dict[str, str] = {}
        self._by_variable: dict[str, str] = {}
        described: tuple[Flag | RemovedFlag, ...] = (*engine.removed_flags, *engine.flags)
        for flag in described:
            self._flags[flag.name] = flag
            for spelling in (flag.name, *flag.aliases):
                self._by_spelling[self._normal(spelling)] = flag.name
            if flag.env is not None:
                self._by_variable[flag.env] = flag.name
        self._parents = {name.partition(".")[0] for name in self._flags if "." in name}
        self._joined = engine.joined_flag_values

    @property
    def joined_values(self) -> bool:
        """Whether the engine takes `--flag=value`."""
        return self._joined

    def flag(self, written: str) -> str | None:
        """The engine's name of a flag."""
        normal = self._normal(written)
        known = self._by_spelling.get(normal) or self._inner(normal)
        if known is not None or not any(normal.startswith(prefix) for prefix in self.launching.abbreviations):
            return known
        longer = {name for spelling, name in self._by_spelling.items() if spelling.startswith(normal)}
        return longer.pop() if len(longer) == 1 else None

    def variable(self, name: str) -> str | None:
        """The engine's name of what a variable sets."""
        return self._by_variable.get(name)

    def key(self, written: str) -> str | None:
        """The engine's name of a key of a configuration file, with or without what stands around it there."""
        config = self.launching.config
        last = [config.prefix + written.rpartition(".")[2]] if config.headings else []
        for candidate in (written, config.prefix + written, *last):
            known = self._by_spelling.get(self._normal(candidate)) or self._inner(self._normal(candidate))
            if known is not None:
                return known
        return None

    def preset_key(self, written: str) -> str | None:
        """The engine's name of a key of a preset: a flag without dashes, long or short, or a variable."""
        candidates = (f"--{written}", f"-{written}")
        return next(
            (known for item in candidates if (known := self.flag(item)) is not None), self._by_variable.get(written)
        )

    def takes_value(self, name: str) -> bool | None:
        """Whether a flag takes a value; None where the engine's file does not say."""
        flag = self._flags.get(name)
        return flag.takes_value if isinstance(flag, Flag) else None

    def is_parent(self, name: str) -> bool:
        """Whether the value of a flag is an object whose keys are settings of their own."""
        return name in self._parents

    def has_inline_keys(self, name: str) -> bool:
        """Whether the value of a flag is a word with keys behind it, `WORD:key=value,..`."""
        flag = self._flags.get(name)
        return isinstance(flag, Flag) and flag.inline_keys

    def names_config(self, name: str | None, written: str) -> bool:
        """Whether a flag names a configuration file."""
        return bool({name, written} & set(self.launching.config.flags))

    def ordered(self) -> Iterable[Flag]:
        """Every current flag in the order of the engine's file."""
        return (flag for flag in self._flags.values() if isinstance(flag, Flag))

    def _inner(self, normal: str) -> str | None:
        """`-sc.method` is a key of what `-sc` stands for."""
        head, dot, rest = normal.partition(".")
        parent = self._by_spelling.get(head) if dot else None
        return self._by_spelling.get(self._normal(f"{parent}.{rest}")) if parent is not None else None

    def _normal(self, spelling: str) -> str:
        """One spelling for all where dashes and underscores mean the same: dashes in flags, underscores in keys."""
        if not self.launching.underscores or not spelling.startswith("--"):
            return spelling
        head, dot, rest = spelling.partition(".")
        return head.replace("_", "-") + dot + rest.replace("-", "_")
