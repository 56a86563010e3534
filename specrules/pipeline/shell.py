"""Text for shell scripts: values quoted where they stand, and comments that stay comments."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote, split

from specrules.model.serving import PLACEHOLDER


def filled_shell(text: str, words: Mapping[str, str]) -> str:
    """Return a command with its placeholders filled in, each value quoted for the place where it stands.

    Inside single quotes of the command a value goes on being quoted. A name without a word keeps its braces.
    """
    pieces: list[str] = []
    at = 0
    for match in PLACEHOLDER.finditer(text):
        pieces.append(text[at : match.start()])
        at = match.end()
        word = words.get(match[1])
        if word is None:
            pieces.append(match[0])
        elif "".join(pieces).count("'") % 2:
            pieces.append(word.replace("'", "'\\''"))
        elif word.startswith('"$'):
            # A variable of the script, quoted already.
            pieces.append(word)
        else:
            pieces.append(quote(word))
    return "".join((*pieces, text[at:]))


def requoted(entry: str) -> str:
    """Return a flag with its value, as a user wrote it for a shell, quoted anew."""
    try:
        return " ".join(quote(word) for word in split(entry))
    except ValueError:
        return quote(entry)


def comment(text: str) -> str:
    """Return a text for a comment: on one line, without characters that do not print."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
