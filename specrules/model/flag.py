"""Command line options of an engine, and how its own help text is read to hold them against it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specrules.model.base import DottedName, Many
from specrules.model.claim import Claim


class Flag(Claim):
    """A command line option that matters for speculation."""

    name: str
    aliases: Many[str] = ()
    env: str | None = None
    default: str | None = None
    values: Many[str] = ()
    takes_value: bool = True
    list_valued: bool = False
    type: Literal["number", "flag", "text", "numbers", "texts"] | None = Field(
        default=None,
        description="type of `flag.NAME` in conditions; told from the other keys where it is absent: a switch is a "
        "flag, a list texts, a default that is a number a number, values of true and false a flag, all else text",
    )
    adds_up: bool = Field(default=False, description="a list that is given again adds to what was given before")
    inline_keys: bool = Field(
        default=False, description="its value is WORD[:key=value,..], and the keys are the flags NAME.key"
    )
    states: Many[DottedName] = Field(default=(), description="facts of a case or a deployment that its value is")
    none_words: Many[str] = Field(default=(), description="values that state nothing, such as none for methods")
    closed: bool = Field(
        default=False, description="of keys in its value the engine takes those that this file names, and no others"
    )
    doc: str


class RemovedFlag(Claim):
    """An option that existed once. `until` is the last version that had it, where it is known."""

    name: str
    aliases: Many[str] = ()
    env: str | None = None
    replaced_by: Many[str] = ()
    effect: str


class HelpText(Claim):
    """How the engine prints its options, and which of them this file claims to know all of.

    `entry` takes the names of an option from the line that begins it; `default` its default from the lines of the
    entry, joined by blanks. Flags of `sections` that the file does not name are new ones; every flag that the file
    names has to be there. Regular expressions run in linear time.
    """

    arguments: Many[str] = Field(default=("--help",), description="what makes the program print the text")
    section: str | None = Field(default=None, description="takes the title of a section; first group")
    sections: Many[str] = Field(default=(), description="sections whose every flag is named in this file")
    prefixes: Many[str] = Field(
        default=(), description="without sections: prefixes of the flags that belong to the scope"
    )
    entry: str
    default: str = r"\(default: ([^)]*)\)"
    default_words: dict[str, str] = Field(
        default_factory=dict, description="words of the help text and how this file spells them; empty: no default"
    )
