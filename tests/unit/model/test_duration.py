from __future__ import annotations

import pytest

from specrules.model.duration import seconds


@pytest.mark.parametrize(
    ("text", "wanted"), [("90s", 90), ("30m", 1800), ("6h", 21600), ("1d12h", 129600), ("2w", 1209600), (" 1m30s ", 90)]
)
def test_lengths(text: str, wanted: int) -> None:
    assert seconds(text) == wanted


@pytest.mark.parametrize("text", ["", "6", "6 h", "h", "-6h", "6h1d", "1.5h", "0s", "6x", "9999999h"])
def test_what_is_no_length(text: str) -> None:
    with pytest.raises(ValueError, match="is no length of time such as 30m"):
        seconds(text)
