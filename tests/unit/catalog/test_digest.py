from __future__ import annotations

import hashlib
import itertools

from specrules.catalog.digest import FileDigest, digest, file_digest, short

FILES = [file_digest("b", b"two"), file_digest("a", b"one"), file_digest("c", b"")]


def test_the_order_of_files_does_not_count() -> None:
    assert len({digest(order) for order in itertools.permutations(FILES)}) == 1


def test_value_is_stable_across_releases() -> None:
    inner = hashlib.sha256(b"one").hexdigest()
    assert digest([file_digest("a", b"one")]) == hashlib.sha256(b"1:a" + inner.encode()).hexdigest()
    assert short(digest(FILES)) == digest(FILES)[:12]
    assert short("0123456789abcdef") == "0123456789ab"


def test_names_contents_and_their_pairing_count() -> None:
    same = digest(FILES)
    assert digest(FILES[:2]) != same
    assert digest([file_digest("b", b"one"), file_digest("a", b"two"), FILES[2]]) != same
    assert digest([*FILES, FILES[0]]) != same
    assert digest([FileDigest("a", "b"), FileDigest("c", "d")]) != digest([FileDigest("ab1:c", "d")])
