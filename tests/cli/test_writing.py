"""Where output goes: to stdout, or to a file as a whole."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
from pathlib import Path

import pytest

from specrules.cli.writing import append, write, write_files
from specrules.errors import UsageError

from .running import put


def refusal(path: str) -> str:
    with pytest.raises(UsageError) as raised:
        write("text", Path(path))
    return str(raised.value)


def test_stdout_ends_with_one_line_end(capsys):
    write("one")
    write("two\n")
    assert capsys.readouterr() == ("one\ntwo\n", "")


def test_a_file_gets_the_text_and_nothing_is_left_beside_it():
    write("naïve", Path("report.md"))
    assert Path("report.md").read_bytes() == "naïve\n".encode()
    assert os.listdir() == ["report.md"]


def test_an_existing_file_is_replaced_as_a_whole_and_keeps_its_mode():
    put("report.md", "before " * 1000).chmod(0o640)
    with open("report.md", encoding="utf-8") as before:
        write("after", Path("report.md"))
        assert before.read() == "before " * 1000
    assert Path("report.md").read_text() == "after\n"
    assert stat.S_IMODE(os.stat("report.md").st_mode) == 0o640


def test_a_new_file_respects_the_umask():
    umask = os.umask(0o027)
    try:
        write("text", Path("report.md"))
    finally:
        os.umask(umask)
    assert stat.S_IMODE(os.stat("report.md").st_mode) == 0o640


def test_a_link_stays_a_link():
    put("real/report.md", "before")
    os.symlink("real/report.md", "link.md")
    write("after", Path("link.md"))
    assert os.readlink("link.md") == "real/report.md"
    assert Path("real/report.md").read_text() == "after\n"
    assert os.listdir("real") == ["report.md"]


def test_a_pipe_is_written_to_and_not_replaced():
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        write("text", Path("pipe"))
        assert reader.communicate(timeout=30)[0] == "text\n"
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


def test_a_device_is_written_to_and_not_replaced():
    before = os.stat("/dev/null").st_ino
    write("text", Path("/dev/null"))
    assert os.stat("/dev/null").st_ino == before


def test_names_with_bytes_that_are_no_text_are_written_as_codes():
    write("caf\udce9", Path("report.md"))
    assert Path("report.md").read_bytes() == b"caf\\udce9\n"


def test_folders_that_are_missing_or_no_folders():
    put("file", "")
    assert refusal("gone/report.md") == "gone/report.md: cannot be written: No such file or directory"
    assert refusal("file/report.md") == "file/report.md: cannot be written: Not a directory"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_device_that_is_full():
    assert refusal("/dev/full") == "/dev/full: cannot be written: No space left on device"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into every folder")
def test_a_folder_that_is_read_only():
    os.mkdir("locked", mode=0o500)
    assert refusal("locked/report.md") == "locked/report.md: cannot be written: Permission denied"


def test_a_disk_that_fills_up_leaves_the_file_and_nothing_beside_it():
    put("report.md", "before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(UsageError, match=r"report\.md: cannot be written: File too large"):
            write("x" * 100_000, Path("report.md"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (Path("report.md").read_text(), os.listdir()) == ("before", ["report.md"])


def test_several_files_are_replaced_together_or_not_at_all():
    put("one", "before")
    with pytest.raises(UsageError, match=r"gone/two: cannot be written: No such file or directory"):
        write_files({Path("one"): "after", Path("gone/two"): "after"})
    assert (Path("one").read_text(), os.listdir()) == ("before", ["one"])
    write_files({Path("one"): "after", Path("two"): "after"})
    assert (Path("one").read_text(), Path("two").read_text()) == ("after\n", "after\n")
    assert sorted(os.listdir()) == ["one", "two"]


def test_files_beside_a_device():
    write_files({Path("one"): "text", Path("/dev/null"): "text"})
    assert Path("one").read_text() == "text\n"


def test_what_is_added_goes_to_the_end():
    append("one", Path("log"))
    append("two\n", Path("log"))
    assert Path("log").read_text() == "one\ntwo\n"
    with pytest.raises(UsageError, match=r"gone/log: cannot be written: No such file or directory"):
        append("text", Path("gone/log"))
