"""Markdown as a parser with tables sees it."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLAIN = {"text", "code_inline"}


def blocks(text: str) -> list[str]:
    """The block structure: one entry per opened or closed block, without what is written in it."""
    return [token.type for token in PARSER.parse(text)]


def inlines(text: str) -> Iterator[Token]:
    for token in PARSER.parse(text):
        yield from token.children or []


def formats(text: str) -> set[str]:
    """The kinds of inline markup that the text has, beside plain text and code."""
    return {token.type for token in inlines(text)} - PLAIN


def shown(text: str) -> list[str]:
    """What a reader sees of each block with inline content, without its markup."""
    return ["".join(part.content for part in token.children or []) for token in PARSER.parse(text) if token.children]
