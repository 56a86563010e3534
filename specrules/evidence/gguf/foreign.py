"""What a file is that is no GGUF file."""

from __future__ import annotations

#: Enough of a file to tell what it is.
TELLING_BYTES = 64

_LFS = b"version https://git-lfs.github.com/spec/"
_MAGICS = (
    (b"\x1f\x8b", "it is compressed with gzip", "decompress it first"),
    (b"(\xb5/\xfd", "it is compressed with zstd", "decompress it first"),
    (b"\xfd7zXZ", "it is compressed with xz", "decompress it first"),
    (b"BZh", "it is compressed with bzip2", "decompress it first"),
    (b"PK\x03\x04", "it is a zip archive", "a PyTorch checkpoint has to be converted to GGUF"),
    (b"FUGG", "its magic number is reversed", ""),
    (b"tjgg", "it is a GGJT file, the format before GGUF", "convert the model to GGUF"),
    (b"lmgg", "it is a GGML file, the format before GGUF", "convert the model to GGUF"),
    (b"fmgg", "it is a GGMF file, the format before GGUF", "convert the model to GGUF"),
)


def describe(head: bytes) -> tuple[str, str]:
    """Return what a file that begins with `head` seems to be, and a hint."""
    if not head:
        return "no GGUF file: it is empty", ""
    if b"GGUF".startswith(head):
        return f"it ends after {len(head)} bytes", "is the file cut short?"
    if head.startswith(_LFS):
        return "no GGUF file: it is a Git LFS pointer", "fetch the file itself, for example with `git lfs pull`"
    for magic, what, hint in _MAGICS:
        if head.startswith(magic):
            return f"no GGUF file: {what}", hint
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        return "no GGUF file: it is an HTML or XML page", "was a page downloaded in place of the file?"
    if head[8:10] == b'{"' and head[4:8] == b"\0\0\0\0":
        return "no GGUF file: it is a safetensors file", "use the GGUF file of the model"
    if text.startswith((b"{", b"[")):
        return "no GGUF file: it is JSON", ""
    return f"no GGUF file: it begins with {head[:4]!r} in place of {b'GGUF'!r}", ""
