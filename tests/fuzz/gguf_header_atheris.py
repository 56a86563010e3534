"""Coverage-guided fuzzing of the GGUF header walk and of what is read out of a header. Run by hand, not by pytest.

    python tests/fuzz/gguf_header_atheris.py [--minutes 15] [--corpus DIR] [--libggml FILE] [-LIBFUZZER=OPTION ...]
    python tests/fuzz/gguf_header_atheris.py FILE       what happens with one file, such as a finding

Needs the package `atheris`; without it the script says so and ends. An input is a GGUF file, so that every finding is
one too. Seeds are the good, odd and bad files of the unit tests, tokenizers, and headers of all recorded architectures.

Of every input is asked: the outcome is a header or a GgufError whose offset lies in the file; it is the same in one
piece and in many; values decode; its tokenizer and its memory are a result or an EvidenceError; nothing takes ten
seconds or 2 GiB. With `--libggml`, the libggml-base.so of a build of llama.cpp has to refuse and to accept the same
files, but for what is refused here alone.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specrules.evidence.gguf import Header

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

SECONDS, MEMORY_MB, LONGEST = 10, 2048, 1 << 16
#: What is refused here and not by libggml: names that engines would cut, and counts and lengths that no model has.
STRICTER = (
    "holds a NUL byte",
    "65535 are possible",
    "at most 65536 are read",
    "at most 131072 are read",
    "headers of at most",
    "the rest of the header",
)


def seeds() -> Iterator[bytes]:
    """Yield files of every kind that the unit tests make."""
    from tests.unit.evidence.gguf.bad import BAD, ODD
    from tests.unit.evidence.gguf.build import BIG, LITTLE, toy
    from tests.unit.evidence.memory import shapes
    from tests.unit.evidence.memory.gguf_file import header_bytes
    from tests.unit.evidence.memory.support import RECORDED
    from tests.unit.evidence.tokenizers.build import SPM, gguf_file
    from tests.unit.evidence.tokenizers.truth import TRUTH

    yield from (toy(LITTLE), toy(BIG))
    yield from ODD.values()
    yield from (bad.data for bad in BAD if len(bad.data) <= LONGEST)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.gguf"
        for changes in ({}, SPM, {"d2t": 8}, {"big": True}, *(variant.drafter for variant in TRUTH.values())):
            gguf_file(path, **changes)
            yield path.read_bytes()
    for shape in (shapes.llama(1, 256, 512, 4), shapes.gemma4(), shapes.eagle3(), shapes.qwen35(heads_layers=1)):
        yield header_bytes(shape.values, shape.tensors[:40])
    for model in RECORDED["models"].values():
        name = model["architecture"]
        keys = {"general.architecture": name} | {f"{name}.{key}": value for key, value in model["keys"].items()}
        yield header_bytes(keys, [("token_embd.weight", (32, 8), 0), ("blk.0.attn_q.weight", (32, 2), 1)])


class Libggml:
    """`gguf_init_from_file` of a build of ggml, asked about a file in memory."""

    def __init__(self, library: str) -> None:
        class Params(ctypes.Structure):
            _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))

        self._params = Params(True, None)
        self._ggml = ggml = ctypes.CDLL(library)
        ggml.gguf_init_from_file.restype = ctypes.c_void_p
        ggml.gguf_init_from_file.argtypes = (ctypes.c_char_p, Params)
        ggml.gguf_get_data_offset.restype = ctypes.c_size_t
        ggml.gguf_get_data_offset.argtypes = (ctypes.c_void_p,)
        ggml.gguf_free.argtypes = (ctypes.c_void_p,)
        self._silent = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: None)
        ggml.ggml_log_set(self._silent, None)
        self._file = os.memfd_create("fuzz")

    def data_offset(self, data: bytes) -> int | None:
        """Return where the data of the tensors begin, None for a file that is refused."""
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, data, 0)
        context = self._ggml.gguf_init_from_file(f"/proc/self/fd/{self._file}".encode(), self._params)
        if not context:
            return None
        offset: int = self._ggml.gguf_get_data_offset(context)
        self._ggml.gguf_free(context)
        return offset


class Checks:
    """What is asked of every input. Raises AssertionError, or whatever the code raises, for a finding."""

    def __init__(self, library: str | None) -> None:
        from specrules.catalog.catalogue import Catalog
        from specrules.evidence.devices import declared
        from specrules.evidence.memory.request import Request
        from specrules.evidence.tokenizers.from_gguf import tokenizer_of
        from tests.unit.evidence.gguf.build import toy
        from tests.unit.evidence.memory import shapes
        from tests.unit.evidence.memory.gguf_file import header_bytes

        self._rules = Catalog.load().memory
        self._devices = declared(["CUDA0=8", "CPU=16"])
        self._request = Request(context=4096, slots=2, draft_length=3)
        shape = shapes.llama(2, 256, 512, 4)
        self._model = whole(header_bytes(shape.values, shape.tensors))
        self._tokenizer = tokenizer_of(whole(toy()))
        self._ggml = Libggml(library) if library else None

    def __call__(self, data: bytes) -> None:
        seed = zlib.crc32(data)
        cuts = sorted((seed >> shift) % (len(data) + 1) for shift in (0, 7, 15))
        for identity_only in (True, False):
            found = outcome(data, [], identity_only=identity_only)
            pieces = outcome(data, cuts, identity_only=identity_only)
            assert plain(pieces) == plain(found), "it depends on the pieces"
            if not isinstance(found, str):
                check_values(found)
                self._check_tokenizer(found) if identity_only else self._check_memory(found, seed)
        if self._ggml:
            self._against_libggml(self._ggml, data, found)

    def _check_tokenizer(self, header: Header) -> None:
        from specrules.errors import UserError
        from specrules.evidence.tokenizers import compare
        from specrules.evidence.tokenizers.from_gguf import tokenizer_of

        try:
            tokenizer = tokenizer_of(header)
        except UserError:
            return
        assert tokenizer.exists is (tokenizer.seed_hash is not None)
        assert compare(tokenizer, tokenizer).kind in {"identical", "no_tokenizer", "mapped_d2t"}
        compare(self._tokenizer, tokenizer)
        compare(tokenizer, self._tokenizer)

    def _check_memory(self, header: Header, seed: int) -> None:
        from specrules.errors import UserError
        from specrules.evidence.gguf import refusals
        from specrules.evidence.memory import fit

        refusals(header)
        pairs = ((header, None), (self._model, header), (header, self._model))
        with suppress(UserError):
            fit(*pairs[seed % 3], rules=self._rules, request=self._request, devices=self._devices)

    @staticmethod
    def _against_libggml(ggml: Libggml, data: bytes, ours: Header | str) -> None:
        if isinstance(ours, str):
            if not any(words in ours for words in STRICTER):
                assert ggml.data_offset(data) is None, f"libggml reads what is refused here: {ours}"
        elif ours.byte_order == sys.byteorder:
            theirs = ggml.data_offset(data)
            assert theirs == ours.data_offset, f"data at {ours.data_offset} here, at {theirs} for libggml"


def outcome(data: bytes, cuts: list[int], *, identity_only: bool) -> Header | str:
    """Return the header, or the text of a GgufError that points into the file."""
    from specrules.evidence.gguf import GgufError, HeaderParser

    parser = HeaderParser("file", size=len(data), identity_only=identity_only)
    try:
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            parser.feed(data[start:end])
        return parser.finish()
    except GgufError as error:
        offset, text = error.offset, str(error)
    assert offset is not None, text
    assert 0 <= offset <= len(data), text
    return text


def whole(data: bytes) -> Header:
    """Return the header of a file that is known to be good."""
    found = outcome(data, [], identity_only=False)
    assert not isinstance(found, str), found
    return found


def plain(header: Header | str) -> object:
    """Return what two outcomes have to have in common."""
    if isinstance(header, str):
        return header
    values = [(key, repr(value), bytes(getattr(value, "raw", b""))) for key, value in header.values.items()]
    return header.version, header.alignment, values, header.tensors, header.header_bytes, header.data_offset


def check_values(header: Header) -> None:
    """Decode everything, in order and from the end."""
    for value in header.values.values():
        if hasattr(value, "raw"):
            items = list(value)
            assert len(items) == len(value)
            assert not items or repr(value[-1]) == repr(items[-1])


def main() -> None:
    """Fuzz until the time is over. libFuzzer ends with another code than 0 where it found something."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--corpus", type=Path, help="what was found to be new is kept here and taken up again")
    parser.add_argument("--libggml", metavar="FILE", default=os.environ.get("SPECRULES_LIBGGML"))
    options, others = parser.parse_known_args()
    try:
        import atheris
    except ImportError:
        sys.stdout.write("skipped: the package atheris is not installed (pip install atheris)\n")
        return
    with atheris.instrument_imports(include=["specrules.evidence"]):
        import specrules.evidence.gguf
        import specrules.evidence.memory
        import specrules.evidence.tokenizers  # noqa: F401
    from tests.fuzz.mutation import Mutator

    corpus = options.corpus or Path(tempfile.mkdtemp(prefix="gguf-corpus-"))
    first = Path(tempfile.mkdtemp(prefix="gguf-seeds-"))
    corpus.mkdir(parents=True, exist_ok=True)
    files = list(seeds())
    for number, data in enumerate(files):
        (first / f"seed-{number:03d}.gguf").write_bytes(data)
    limits = (f"-max_len={LONGEST}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEMORY_MB}")
    once = [name for name in others if not name.startswith("-")]
    folders = [] if once else [str(corpus), str(first)]
    arguments = [sys.argv[0], f"-max_total_time={round(options.minutes * 60)}", *limits, *others, *folders]

    def bytewise(data: bytes, size: int) -> bytes:
        mutant: bytes = atheris.Mutate(data, size)
        return mutant

    atheris.Setup(arguments, Checks(options.libggml), custom_mutator=Mutator(files, bytewise))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
