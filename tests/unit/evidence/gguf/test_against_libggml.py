"""The same files, given to libggml: what it refuses is refused here, and what it reads is read, but for a few.

Needs the path of a `libggml-base.so` in SPECRULES_LIBGGML. What llama.cpp b11434 did is written down in `bad.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from specrules.evidence.gguf import read_header
from tests.unit.evidence.gguf.bad import BAD, ODD

LIBRARY = os.environ.get("SPECRULES_LIBGGML", "")
pytestmark = pytest.mark.skipif(not LIBRARY, reason="SPECRULES_LIBGGML does not name a libggml-base.so")

PROGRAM = """
import ctypes, sys
class Params(ctypes.Structure):
    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))
library = ctypes.CDLL(sys.argv[1])
library.gguf_init_from_file.restype = ctypes.c_void_p
library.gguf_init_from_file.argtypes = (ctypes.c_char_p, Params)
library.gguf_get_data_offset.restype = ctypes.c_size_t
library.gguf_get_data_offset.argtypes = (ctypes.c_void_p,)
context = library.gguf_init_from_file(sys.argv[2].encode(), Params(True, None))
print("reads %d" % library.gguf_get_data_offset(context) if context else "refuses")
"""


def asked(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    command = [sys.executable, "-c", PROGRAM, LIBRARY, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_it_refuses_the_bad_files_but_for_those_that_are_refused_here_alone(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    other = {bad.name: verdict for bad in BAD if (verdict := asked(path, bad.data).split()[0]) != bad.libggml}
    assert other == {}


def test_it_reads_the_odd_files_and_finds_the_data_at_the_same_place(tmp_path: Path) -> None:
    path = tmp_path / "odd.gguf"
    theirs = {name: asked(path, data) for name, data in ODD.items()}
    ours = {}
    for name, data in ODD.items():
        path.write_bytes(data)
        ours[name] = f"reads {read_header(path).data_offset}"
    assert theirs == ours
