"""What the answer of a file server means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from specrules.evidence.gguf.errors import GgufError

REDIRECTS = (301, 302, 303, 307, 308)
#: Answers that may be better a little later.
TRANSIENT = (429, 500, 502, 503, 504)
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)", re.ASCII)
_CODE = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_IDENTITY = {"", "identity"}
_NO_ACCESS = {
    401: (
        "401: the server wants credentials",
        "for Hugging Face set HF_TOKEN; the name of the model may be wrong as well",
    ),
    403: ("403: access is refused", "a gated model has to be asked for on its page, by the owner of the token"),
}
_REFUSED = {
    401: ("401: the server does not accept the credentials", "is the token right, and not expired?"),
    403: ("403: the credentials give no access", _NO_ACCESS[403][1]),
}
_OTHERS = {
    404: ("404: there is no such file", ""),
    410: ("410: the file is gone", ""),
    429: ("429: too many requests", "try again later"),
    503: ("503: the server is busy", "try again later"),
}


@dataclass(frozen=True)
class Piece:
    """The part of the file that an answer brings: its first byte, the byte behind it, the size of the file.

    `end` and `size` are None where the server does not say.
    """

    start: int
    end: int | None
    size: int | None


def piece(status: int, headers: Mapping[str, str], wanted: int, name: str) -> Piece:
    """Return which bytes an answer of status 200 or 206 brings. `wanted` is the first byte that was asked for.

    Raises GgufError for an encoded body, whose bytes are not those of the file, and for another range than wanted.
    """
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in _IDENTITY:
        raise GgufError(f"the server sends the file in the encoding {encoding!r}, though it was asked not to", name)
    if status == 200:
        length = headers.get("content-length", "")
        size = int(length) if length.isdecimal() and length.isascii() else None
        return Piece(0, size, size)
    said = headers.get("content-range", "")
    match = _RANGE.fullmatch(said.strip())
    if not match:
        raise GgufError(f"the server answers 206 with the range {said!r}, which says nothing", name)
    start, last = int(match[1]), int(match[2])
    size = None if match[3] == "*" else int(match[3])
    if start != wanted or last < start or (size is not None and last >= size):
        raise GgufError(f"the server answers with {said!r}, and the bytes from {wanted} on were asked for", name)
    return Piece(start, last + 1, size)


def refused(status: int, headers: Mapping[str, str], sent: bool, name: str) -> GgufError:
    """Return the error for a status that brings nothing. `sent` says whether credentials were sent."""
    message, hint = (
        (_REFUSED if sent else _NO_ACCESS).get(status) or _OTHERS.get(status) or (f"HTTP status {status}", "")
    )
    code = headers.get("x-error-code", "")
    if _CODE.fullmatch(code):
        message += f" ({code})"
    return GgufError(message, name, None, hint)


def pause(headers: Mapping[str, str], attempt: int, most: float) -> float:
    """Return the seconds to wait before the next attempt: as long as the server says, at most `most`."""
    said = headers.get("retry-after", "")
    seconds = float(said) if said.isdecimal() and said.isascii() and len(said) < 6 else 0.5 * 2.0**attempt
    return min(seconds, most)
