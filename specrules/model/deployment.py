"""A deployment: one engine process as a file starts it, with the place of everything that was written."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from specrules.model.base import Many, Model

SettingKind = Literal["flag", "env", "config"]


class Place(Model):
    """A span in a user's file, 1-based. Line 0: the file as a whole."""

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


class Launch(Model):
    """What a file says about one process, before any engine is recognised."""

    name: str = Field(description="where it stands in the file, such as Deployment/llm, container vllm")
    format: str = Field(
        description="shell, systemd, dockerfile, compose, kubernetes, preset, llama-swap, trtllm, config"
    )
    place: Place
    image: Word | None = None
    command: Many[Word] = ()
    environment: dict[str, Word] = Field(default_factory=dict)
    config: dict[str, Word] = Field(default_factory=dict, description="dotted keys of a configuration file or JSON")
    notes: Many[str] = Field(default=(), description="what could not be followed, such as an entrypoint in a script")


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


class Deployment(Model):
    """A launch whose engine is recognised. Everything that is not stated is unknown."""

    launch: Launch
    engine: str
    recognised_by: str = Field(description="what gave the engine away: the image, the command, a flag, a key")
    version: str | None = None
    settings: Many[Setting] = ()
