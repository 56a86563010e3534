"""Secrets: masked when a file is read, so that nothing that is made of it can show them.

A value is secret by the name that it stands under (a variable, a flag, a key of JSON), by its own shape (tokens of
known services, credentials in a URL), and wherever a text repeats one that was found so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from specrules.evidence.deployments.nodes import Malformed
from specrules.model.deployment import ConfigDocument, Launch, Word

MASK = "***"
SHORTEST_REPEATED = 6
MAX_SECRETS = 1000

_NAME = re.compile(
    r"(?i)(?:password|passwd|passphrase|(?:^|[-_.])(?:token|tokens?[-_]secret|secrets?|pwd|credentials?|bearer"
    r"|authorization|pat|(?:api|access|auth|private|secret|signing|encryption|admin|master|account|license|ssh)[-_]?key"
    r"|apikeys?|api[-_]keys?|dsn|connection[-_]string|hft))(?:$|[-_.]?(?:value|base64|b64)$)"
)
_SHORT_FLAGS = frozenset({"-hft"})
_NOT_SECRET = re.compile(
    r"(?i)(?:^|[-_.])(?:eos|bos|pad|unk|sep|cls|mask|stop|image|video|audio|special|sot|eot)[-_]token$"
)
_SHAPES = re.compile(
    r"hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|xox[abpr]-[\w-]{10,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{30,}|nvapi-[\w-]{16,}|ya29\.[\w-]{16,}"
    r"|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*"
)
_IN_URL = re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")
_BEARER = re.compile(r"(?i)\b(?:bearer|basic)\s+[\w.~+/=-]{8,}")
_IN_TEXT = re.compile(
    r"""(?ix) ["']? (?<![\w.-])
    ([\w.-]*(?:token|secret|password|passwd|api_?key|apikey|api-key|access_key|private_key)) ["']?
    \s*[:=]\s* (?: "((?:[^"\\]|\\.)*)" | '([^']*)' | ([^\s"',}&;]+) )"""
)

_NO_SECRET = re.compile(r"\d{1,3}|true|false|null")
"""What keys of JSON hold that are no texts: `"num_speculative_token": 4` is a misspelt length, not a secret."""


def is_secret_name(name: str) -> bool:
    """Whether what stands under this name is secret: `HF_TOKEN`, `--api-key`, `db.password`; not `--max-tokens`."""
    if name in _SHORT_FLAGS:
        return True
    return _NAME.search(name) is not None and not _NOT_SECRET.search(name)


def masked(launches: Iterable[Launch]) -> tuple[Launch, ...]:
    """The launches with every secret replaced by stars.

    Raises Malformed where there are more different secrets than can be looked for everywhere.
    """
    launches = list(launches)
    found = {value for launch in launches for value in _secrets(launch) if value and value != MASK}
    if len(found) > MAX_SECRETS:
        msg = f"more than {MAX_SECRETS} secrets: split the file"
        raise Malformed(msg, 0)
    long = sorted((value for value in found if len(value) >= SHORTEST_REPEATED), key=len, reverse=True)
    repeated = re.compile("|".join(re.escape(value) for value in long)) if long else None
    return tuple(_masked(launch, repeated) for launch in launches)


def masked_text(text: str) -> str:
    """A text with the secrets masked that show by their shape or by a name before them."""
    spans = list(_spans(text))
    return _covered(text, spans)


def _secrets(launch: Launch) -> Iterator[str]:
    for name, word in launch.environment.items():
        if is_secret_name(name) and word.rendered:
            yield word.text
    for document in (launch.config, *launch.documents.values()):
        for name, word in document.values.items():
            if is_secret_name(name) and word.rendered:
                yield word.text
    for index, word in enumerate(launch.command):
        start = _secret_from(launch.command, index)
        if start is not None and word.rendered:
            yield word.text[start:]
        yield from (word.text[begin:end] for begin, end in _spans(word.text))


def _secret_from(command: tuple[Word, ...], index: int) -> int | None:
    """From where on a word of a command is secret: all of it behind a flag of that name, or what follows `=`."""
    text = command[index].text
    name, equals, _ = text.partition("=")
    if equals and is_secret_name(name):
        return len(name) + 1
    before = command[index - 1].text if index else ""
    if before.startswith("-") and "=" not in before and is_secret_name(before) and not text.startswith("--"):
        return 0
    return None


def _masked(launch: Launch, repeated: re.Pattern[str] | None) -> Launch:
    command = tuple(
        _hidden(word, _secret_from(launch.command, index), repeated) for index, word in enumerate(launch.command)
    )
    environment = {
        name: _hidden(word, 0 if is_secret_name(name) else None, repeated) for name, word in launch.environment.items()
    }
    return launch.model_copy(
        update={
            "image": None if launch.image is None else _hidden(launch.image, None, repeated),
            "command": command,
            "environment": environment,
            "config": _document(launch.config, repeated),
            "documents": {name: _document(item, repeated) for name, item in launch.documents.items()},
            "gaps": tuple(gap.model_copy(update={"why": _plain(gap.why, repeated)}) for gap in launch.gaps),
            "notes": tuple(_plain(note, repeated) for note in launch.notes),
            "name": _plain(launch.name, repeated),
        }
    )


def _document(document: ConfigDocument, repeated: re.Pattern[str] | None) -> ConfigDocument:
    values = {
        name: _hidden(word, 0 if is_secret_name(name) else None, repeated) for name, word in document.values.items()
    }
    return document.model_copy(update={"values": values})


def _hidden(word: Word, start: int | None, repeated: re.Pattern[str] | None) -> Word:
    """The word with what is secret in it covered: from an offset on, by shape, and where a known secret is repeated."""
    spans = list(_spans(word.text))
    if start is not None and word.text[start:] and word.holes != ((start, len(word.text)),):
        spans.append((start, len(word.text)))
    if repeated is not None:
        spans += [found.span() for found in repeated.finditer(word.text)]
    if not spans:
        return word
    first = min(begin for begin, _ in spans)
    return word.model_copy(
        update={
            "text": _covered(word.text, spans),
            "secret": True,
            "runs": tuple(run for run in word.runs if run[0] < first) if first else (),
            "holes": tuple(hole for hole in word.holes if hole[1] <= first),
        }
    )


def _plain(text: str, repeated: re.Pattern[str] | None) -> str:
    text = masked_text(text)
    return text if repeated is None else repeated.sub(MASK, text)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_SHAPES, _IN_URL, _BEARER):
        for found in pattern.finditer(text):
            yield found.span()
    for found in _IN_TEXT.finditer(text):
        group = next(index for index in (2, 3, 4) if found.group(index) is not None)
        if found.group().startswith('"') and group == 4 and _NO_SECRET.fullmatch(found[4]):
            continue
        if is_secret_name(found.group(1)) and found.start(group) < found.end(group):
            yield found.span(group)


def _covered(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            pieces += [text[done:start], MASK]
        done = max(done, end)
    return "".join((*pieces, text[done:]))
