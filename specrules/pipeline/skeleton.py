"""A commented engine file to start from."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from specrules.catalog.datadir import builtin
from specrules.errors import Problem, UsageError
from specrules.model.flag import HelpText

TEMPLATE = "scaffold/engine.yaml.j2"
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
_ABOUT_DRAFTING = ("spec", "draft", "ngram", "lookup", "eagle", "mtp", "assist")
_GENERIC = HelpText(
    known="unverified",
    entry=r"^\s{0,8}((?:-\S+,\s+)*-\S+(?: \S+)*)",
    default=r"\(default: ([^),]*)",
)


def engine_skeleton(name: str, title: str, day: date, *, schema: str, help_text: str | None = None) -> str:
    """Return the text of an engine file that loads as it is.

    With a help text the flags about drafting are taken from it. UsageError for an id that no engine can have,
    EvidenceError where the help text cannot be had or holds no options.
    """
    from specrules.templating import environment

    if not _ID.fullmatch(name):
        raise UsageError(Problem(f"{name!r} is no id: lower case letters, digits, dots and hyphens"))
    text = builtin("templates").joinpath(*TEMPLATE.split("/")).read_text(encoding="utf-8")
    flags = [] if help_text is None else _flags(help_text)
    quoted = f'"{title}"' if title != name else title
    made = environment().from_string(text)
    return made.render(id=name, title=quoted, day=day.isoformat(), schema=schema, flags=flags)


def _flags(source: str) -> list[dict[str, Any]]:
    from specrules.evidence.help.help_source import help_source
    from specrules.evidence.help.help_text import read_options

    options = read_options(help_source(source, ("--help",)), _GENERIC)
    return [
        {
            "name": option.name,
            "aliases": [name for name in option.names if name != option.name],
            "default": None if option.default is None else option.default.replace('"', "'"),
        }
        for option in options
        if any(word in option.name for word in _ABOUT_DRAFTING)
    ]
