"""A deployment: one engine process as a file starts it, with the place of everything that was written."""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

from pydantic import Field

from specrules.model.base import DottedName, Many, Model

SettingKind = Literal["flag", "env", "config"]
Part = Literal["command", "environment", "config"]


class Place(Model):
    """A span in a user's file, 1-based; the end is the column after the last one. Line 0: the file as a whole."""

    path: str
    line: int = Field(default=0, ge=0)
    column: int = Field(default=0, ge=0)
    end_line: int | None = None
    end_column: int | None = None


class Word(Model):
    """One argument of a command line or one text of a file, and where it stands."""

    text: str
    place: Place
    rendered: bool = Field(default=True, description="false: holds a template or variable that nobody filled in")
    secret: bool = Field(default=False, description="the text was masked when it was read")
    runs: Many[tuple[int, int, int]] = Field(
        default=(),
        exclude=True,
        repr=False,
        description="offset in the text, line and column: from there to the next run the text stands on one line",
    )

    holes: Many[tuple[int, int]] = Field(
        default=(), exclude=True, repr=False, description="stretches of the text that nobody rendered"
    )

    def at(self, offset: int, length: int = 0) -> Place:
        """The place of a stretch of the text, such as a key inside JSON. Without runs it is the whole word's."""
        index = bisect_right(self.runs, offset, key=lambda run: run[0]) - 1
        if index < 0:
            return self.place
        start, line, column = self.runs[index]
        column += offset - start
        end = column + length if length else None
        return Place(path=self.place.path, line=line, column=column, end_line=line if length else None, end_column=end)


class Gap(Model):
    """Something that could not be followed, so that more may be set than the file shows."""

    of: Part = Field(description="what may hold more than was read")
    why: str
    place: Place


class ConfigDocument(Model):
    """The values of a configuration file under their dotted keys, and where the keys stand."""

    values: dict[str, Word] = Field(default_factory=dict)
    places: dict[str, Place] = Field(default_factory=dict)


class Launch(Model):
    """What a file says about one process, before any engine is recognised."""

    name: str = Field(description="where it stands in the file, such as Deployment/llm, container vllm")
    format: str = Field(
        description="shell, systemd, dockerfile, compose, kubernetes, preset, llama-swap, trtllm, config"
    )
    place: Place
    image: Word | None = None
    command: Many[Word] = ()
    entrypoint: bool = Field(
        default=True, description="false: the command holds arguments only, the program is the image's own"
    )
    environment: dict[str, Word] = Field(default_factory=dict)
    environment_places: dict[str, Place] = Field(default_factory=dict, description="where the names stand")
    config: ConfigDocument = Field(default=ConfigDocument(), description="what a configuration file itself says")
    documents: dict[str, ConfigDocument] = Field(
        default_factory=dict, description="configuration files that the command names and the file holds, by path"
    )
    packages: dict[str, Word] = Field(default_factory=dict, description="packages installed at a pinned version")
    gaps: Many[Gap] = ()
    doubtful: Many[Place] = Field(default=(), description="stretches inside a branch that nobody rendered")
    notes: Many[str] = Field(default=(), description="what a reader should know, such as who replaced what")


class Setting(Model):
    """One flag, variable or configuration key as it was written, and what the engine's file says about it."""

    kind: SettingKind
    written: str = Field(description="the name as it stands in the file")
    name: str | None = Field(
        default=None, description="the engine's own name; None: the engine's file does not know it"
    )
    value: str | None = Field(default=None, description="None: a switch, or a value that nobody rendered")
    rendered: bool = True
    secret: bool = False
    place: Place
    value_place: Place | None = None
    effective: bool = Field(default=True, description="false: the same setting is given again and that one counts")
    inside: bool = Field(default=False, description="it stands in the value of another setting, such as a key of JSON")
    fault: str = Field(default="", description="why the value cannot be read, such as JSON that ends too early")


class DeployedFact(Model):
    """What a setting says about a case, under the fact's name, such as `engine.draft_length`."""

    name: DottedName
    value: bool | float | str | Many[str] | None = Field(description="None: stated, but nobody rendered it")
    written: str = Field(description="the setting that says it")
    place: Place


class Deployment(Model):
    """A launch whose engine is recognised. Everything that is not stated is unknown."""

    launch: Launch
    engine: str
    recognised_by: str = Field(description="what gave the engine away: the image, the command, a flag, a key")
    version: str | None = None
    version_place: Place | None = None
    settings: Many[Setting] = ()
    facts: Many[DeployedFact] = Field(default=(), description="one per name; of several settings the one that counts")

    def is_complete(self, *parts: Part) -> bool:
        """Whether everything that these parts set was read; without parts, everything at all."""
        return not any(gap.of in parts or not parts for gap in self.launch.gaps)

    def setting(self, name: str) -> Setting | None:
        """The setting that counts under the engine's own name. None: not stated, or unknown where there are gaps."""
        return next((item for item in self.settings if item.name == name and item.effective), None)
