"""Samples as lines: written, read back, cut."""

from __future__ import annotations

import json

import pytest

from specrules.errors import EvidenceError
from specrules.evidence.samples.lines import is_samples_file, read_lines, written
from specrules.evidence.source import Source

from .build import sample


def test_a_sample_survives_being_written(tmp_path):
    one = sample(3, text='Ünï "quoted"\n\u2028', metrics_before="a 1\n", error="boom")
    line = written(one)
    assert "\n" not in line
    assert line.startswith('{"what":"sample"')
    (back,), warnings = read_lines(Source("s", line + "\n"))
    assert back == one
    assert warnings == ()


def test_a_file_is_told_by_its_head(tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_text(written(sample()) + "\n")
    assert is_samples_file(str(file))
    file.write_text(json.dumps({"choices": [], "what": "else"}))
    assert not is_samples_file(str(file))
    assert not is_samples_file("-")
    assert not is_samples_file(str(tmp_path))
    assert not is_samples_file(str(tmp_path / "none"))


def test_a_last_line_that_was_cut_is_left_out():
    lines = [written(sample(index)) for index in range(3)]
    found, (warning,) = read_lines(Source("s", "\n".join(lines)[:-20]))
    assert [item.order for item in found] == [0, 1]
    assert warning.render() == "s:3: the last line was cut while it was written, and was left out"


def test_every_wrong_line_is_reported():
    text = "\n".join([written(sample()), "{}", written(sample()).replace('"arm":"candidate"', '"arm":"nobody"'), ""])
    with pytest.raises(EvidenceError) as raised:
        read_lines(Source("s", text))
    first, second = (problem.render() for problem in raised.value.problems)
    assert first.startswith("s:2: no sample: ")
    assert second.startswith("s:3: no sample: arm: Input should be 'incumbent', 'off', 'candidate' or 'drafter'")


def test_numbers_that_are_none_are_refused():
    line = written(sample()).replace("1110.0", "NaN")
    with pytest.raises(EvidenceError, match="no sample"):
        read_lines(Source("s", line + "\n" + line + "\n"))
