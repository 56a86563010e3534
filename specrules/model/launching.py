"""How an engine is started: what gives it away in a deployment, and how its arguments, variables and files are read."""

from __future__ import annotations

from pydantic import Field

from specrules.model.base import DottedName, Many, Model
from specrules.model.claim import Claim


class Image(Model):
    """An image that starts the engine. `name` is its repository as a shell pattern; a registry may stand before it.

    `positional` are the facts that the first argument states where the deployment gives arguments only.
    """

    name: str
    versioned: bool = Field(default=True, description="the tag holds the engine's version")
    positional: Many[DottedName] = ()


class Program(Model):
    """A program that is the engine: its first words. A path before the first word does not count.

    `positional` are the facts that the first argument states where it is no flag. `with_flags`: another engine starts
    by the same words, and one of these flags says that it is this one; `in_path`: or this text in the path or image.
    """

    words: Many[str] = Field(min_length=1)
    positional: Many[DottedName] = ()
    with_flags: Many[str] = ()
    in_path: str | None = None


class InnerDocument(Model):
    """A document that is the value of one flag, told by keys that all stand in it."""

    flag: str
    keys: Many[str]


class ConfigFiles(Model):
    """Configuration files of the engine. A key `a.b` of a file is the flag `prefix` + `a.b`.

    With `headings` it is the flag `b`: keys stand below headings that say nothing to the engine.
    """

    flags: Many[str] = Field(default=(), description="flags that name such a file")
    headings: bool = False
    prefix: str = Field(default="", description="what stands before a key to make it a flag's name, such as --")
    keys: Many[str] = Field(default=(), description="dotted keys of which one gives the engine away")
    inner: Many[InnerDocument] = ()
    presets: bool = Field(default=False, description="takes INI files with one section per model")


class Launching(Claim):
    """How the engine is started. Of what is read, a program counts above an image, and both above flags and keys."""

    images: Many[Image] = ()
    programs: Many[Program] = ()
    packages: Many[str] = Field(default=(), description="packages whose pinned version is the engine's")
    flags: Many[str] = Field(default=(), description="shell patterns of flags that only this engine has")
    variables: Many[str] = Field(default=(), description="shell patterns of variables that only this engine reads")
    underscores: bool = Field(default=False, description="--max_num_seqs is taken for --max-num-seqs")
    abbreviations: Many[str] = Field(
        default=(), description="prefixes of flags that may be cut short as long as nothing else begins like that"
    )
    config: ConfigFiles = ConfigFiles()
    elsewhere: str | None = Field(
        default=None, description="why what starts the server does not say what drafts: such as that a model file does"
    )
