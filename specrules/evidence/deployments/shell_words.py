"""Shell text to words and operators, with the place of everything. Nothing is run and nothing is looked up."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from specrules.evidence.deployments.shell_parts import (
    Heredoc,
    Kind,
    Operator,
    Part,
    RawWord,
    Token,
    braced,
    substitution_end,
)
from specrules.evidence.deployments.text import Text

_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_PLAIN = re.compile(r"[^\s'\"\\$`;&|<>()#]+")
_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_OPERATOR = re.compile(r"&&|\|\||;;&?|;&|&>>?|<<<|<<-?|>>|<&|>&|>\||<>|\|&|[;&|<>()]")
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "e": "\x1b"}


def shell_tokens(text: Text) -> Iterator[Token]:
    """The tokens of a script. What does not end (a quote, a substitution) reaches to the end of the text."""
    return _Lexer(text).tokens()


def heredoc_word(text: Text, heredoc: Heredoc) -> RawWord:
    """The body of a here-document as one word in double quotes."""
    lexer = _Lexer(text, heredoc.start)
    parts: list[Part] = []
    if heredoc.quoted:
        parts.append(Part("text", heredoc.start, heredoc.end, quoted=True))
    else:
        lexer.expanding(parts, heredoc.end)
    return RawWord(heredoc.start, heredoc.end, tuple(parts))


class _Lexer:
    """Walks through a text once."""

    def __init__(self, text: Text, at: int = 0) -> None:
        self.text = text
        self.at = at
        self._holes = dict(text.holes)
        self._waiting: list[Heredoc] = []
        self._wants: Operator | None = None

    def tokens(self) -> Iterator[Token]:
        value = self.text.value
        while self.at < len(value):
            blank = _BLANK.match(value, self.at)
            if blank is not None:
                self.at = blank.end()
                continue
            here = value[self.at]
            if here == "#":
                self.at = _COMMENT.match(value, self.at).end()  # type: ignore[union-attr]
            elif here == "\n":
                yield Operator(self.at, "\n")
                self.at += 1
                yield from self._bodies()
            elif here.isspace():
                self.at += 1
            elif here in ";&|<>()" and self.at not in self._holes:
                yield from self._operator()
            else:
                word = self._word()
                if self._wants is not None:
                    yield self._heredoc(word)
                else:
                    yield word
        yield from self._bodies()

    def _operator(self) -> Iterator[Token]:
        value = self.text.value
        if value[self.at] in "<>" and value[self.at + 1 : self.at + 2] == "(":
            end = substitution_end(value, self.at + 1, "(", ")")
            yield RawWord(self.at, end, (Part("unknown", self.at, end, quoted=True),))
            self.at = end
            return
        found = _OPERATOR.match(value, self.at)
        operator = Operator(self.at, found.group() if found else value[self.at])
        self.at += len(operator.value)
        if operator.value in ("<<", "<<-"):
            self._wants = operator
        else:
            yield operator

    def _heredoc(self, word: RawWord) -> Heredoc:
        delimiter = "".join(
            part.value if part.kind == "escape" else self.text.value[part.start : part.end] for part in word.parts
        )
        quoted = any(part.quoted or part.kind == "escape" for part in word.parts)
        heredoc = Heredoc(delimiter, self._wants is not None and self._wants.value == "<<-", quoted)
        self._wants = None
        self._waiting.append(heredoc)
        return heredoc

    def _bodies(self) -> Iterator[Token]:
        """Read the bodies of the here-documents of the line that just ended."""
        value = self.text.value
        for heredoc in self._waiting:
            heredoc.start = self.at
            while self.at < len(value):
                end = value.find("\n", self.at)
                end = len(value) if end < 0 else end
                line = value[self.at : end].removesuffix("\r")
                if (line.lstrip("\t") if heredoc.strip_tabs else line).strip(" ") == heredoc.delimiter:
                    heredoc.end = self.at
                    self.at = min(end + 1, len(value))
                    break
                self.at = min(end + 1, len(value))
            else:
                heredoc.end = len(value)
        self._waiting = []
        yield from ()

    def _word(self) -> RawWord:
        value = self.text.value
        start = self.at
        parts: list[Part] = []
        while self.at < len(value):
            here = value[self.at]
            if self.at in self._holes:
                self._plain(self._holes[self.at], parts, quoted=True)
            elif here == "'":
                self._single(parts)
            elif here == '"':
                self._double(parts)
            elif here == "\\":
                self._escape(parts)
            elif here in "$`":
                self._dollar(parts, quoted=False)
            elif here == "#":
                self._plain(self.at + 1, parts, quoted=False)
            elif here.isspace() or here in ";&|<>()":
                break
            else:
                self._plain(_PLAIN.match(value, self.at).end(), parts, quoted=False)  # type: ignore[union-attr]
        return RawWord(start, self.at, tuple(parts))

    def _single(self, parts: list[Part]) -> None:
        end = self.text.value.find("'", self.at + 1)
        end = len(self.text.value) if end < 0 else end
        parts.append(Part("text", self.at + 1, end, quoted=True))
        self.at = min(end + 1, len(self.text.value))

    def _plain(self, end: int, parts: list[Part], *, quoted: bool) -> None:
        """Take characters as they are, up to an end or to the next hole."""
        holes = self.text.holes
        index = bisect_right(holes, (self.at, len(self.text.value)))
        if index < len(holes):
            end = min(end, holes[index][0])
        parts.append(Part("text", self.at, end, quoted))
        self.at = end

    def _escape(self, parts: list[Part]) -> None:
        value = self.text.value
        if value.startswith(("\\\n", "\\\r\n"), self.at):
            self.at += 2 if value[self.at + 1] == "\n" else 3
            return
        meant = value[self.at + 1 : self.at + 2] or "\\"
        parts.append(Part("escape", self.at, self.at + 2, quoted=True, value=meant))
        self.at = min(self.at + 2, len(value))

    def _double(self, parts: list[Part]) -> None:
        self.at += 1
        parts.append(Part("text", self.at, self.at, quoted=True))
        self.expanding(parts, len(self.text.value), until='"')
        self.at = min(self.at + 1, len(self.text.value))

    def expanding(self, parts: list[Part], end: int, until: str = "") -> None:
        """Take text in which only `$`, backquotes and backslashes mean something."""
        value = self.text.value
        while self.at < end and value[self.at] != until:
            here = value[self.at]
            if self.at in self._holes:
                self._plain(self._holes[self.at], parts, quoted=True)
            elif here == "\\":
                following = value[self.at + 1 : self.at + 2]
                if following in ("\n", "\r"):
                    self.at += 3 if value.startswith("\r\n", self.at + 1) else 2
                elif following and following in f"$`{until}\\":
                    parts.append(Part("escape", self.at, self.at + 2, quoted=True, value=following))
                    self.at += 2
                else:
                    self._plain(self.at + 1, parts, quoted=True)
            elif here in "$`":
                self._dollar(parts, quoted=True)
            elif here == '"':
                self._plain(self.at + 1, parts, quoted=True)
            else:
                stop = _IN_DOUBLE.match(value, self.at, end).end()  # type: ignore[union-attr]
                self._plain(stop, parts, quoted=True)

    def _dollar(self, parts: list[Part], *, quoted: bool) -> None:
        value = self.text.value
        start, following = self.at, value[self.at + 1 : self.at + 2]
        if value[start] == "`":
            end = value.find("`", start + 1)
            end = len(value) if end < 0 else end + 1
            parts.append(Part("unknown", start, end, quoted))
        elif following == "(":
            end = substitution_end(value, start + 1, "(", ")")
            parts.append(Part("unknown", start, end, quoted))
        elif following == "{":
            end = substitution_end(value, start + 1, "{", "}")
            parts.append(braced(value, start, end, quoted=quoted))
        elif following == "'" and not quoted:
            self.at += 1
            self._ansi(parts)
            return
        elif following == '"' and not quoted:
            self.at += 1
            return
        else:
            name = _NAME.match(value, start + 1)
            end = name.end() if name else start + 1
            kind: Kind = "variable" if name else "text"
            parts.append(Part(kind, start, end, quoted, value=name.group() if name else ""))
        self.at = end

    def _ansi(self, parts: list[Part]) -> None:
        value = self.text.value
        self.at += 1
        parts.append(Part("text", self.at, self.at, quoted=True))
        while self.at < len(value) and value[self.at] != "'":
            width = 2 if value[self.at] == "\\" else 1
            meant = _ANSI.get(value[self.at + 1 : self.at + 2], value[self.at + 1 : self.at + 2]) if width > 1 else ""
            kind: Kind = "escape" if width > 1 else "text"
            parts.append(Part(kind, self.at, self.at + width, quoted=True, value=meant))
            self.at += width
        self.at = min(self.at + 1, len(value))
