"""What writers are told beside the report."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from urllib.parse import quote


@dataclass(frozen=True)
class Options:
    """`colour` is for terminals. `base` is the current folder as seen from the root of the repository: services that
    show findings beside code want paths from there. `templates` are folders, the one that wins first.
    """

    colour: bool = False
    base: str = ""
    templates: Sequence[Traversable] = ()

    def repository_path(self, path: str) -> str:
        """The path of a file as seen from the root of the repository; one outside stays as it is."""
        shown = path.replace("\\", "/")
        if posixpath.isabs(shown):
            return shown
        return posixpath.normpath(posixpath.join(self.base, shown))

    def uri(self, path: str) -> str:
        """The same as a URI: relative inside the repository, `file:` outside."""
        found = self.repository_path(path)
        try:
            named = found.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            named = found.encode("utf-8", "replace")
        escaped = quote(named, safe="/~!$&'()*+,;=@")
        return f"file://{escaped}" if found.startswith("/") else escaped
