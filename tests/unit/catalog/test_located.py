from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from specrules.catalog.located import MAX_BYTES, MAX_DEPTH, MAX_PROBLEMS, load_document, load_file, read_document
from specrules.catalog.scalars import plain_value
from specrules.errors import LoadError


def heads(text: str | bytes) -> list[str]:
    """Every problem as `file:line:col: message`, without hints and excerpts."""
    return [f"{problem.where}: {problem.message}" for problem in read_document(text, "f.yaml").problems]


@pytest.fixture(params=["libyaml", "pure"])
def either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "pure":
        monkeypatch.delattr(yaml, "CSafeLoader")
    return str(request.param)


def test_the_c_parser_is_there() -> None:
    assert yaml.__with_libyaml__


TRAPS = [
    ("no", "no"),
    ("off", "off"),
    ("NO", "NO"),
    ("yes", "yes"),
    ("on", "on"),
    ("012", "012"),
    ("1_000", "1_000"),
    ("1e3", "1e3"),
    ("1.0e3", 1000.0),
    ("1:30", "1:30"),
    ("12:30:45", "12:30:45"),
    ("8619e68", "8619e68"),
    ("2026-08-01", "2026-08-01"),
    (".nan", ".nan"),
    (".inf", ".inf"),
    ("-.inf", "-.inf"),
    ("1.10", 1.1),
    ("0x1F", "0x1F"),
    ("0o17", "0o17"),
    ("True", "True"),
    ("FALSE", "FALSE"),
    ("Null", "Null"),
    ("true", True),
    ("false", False),
    ("null", None),
    ("~", None),
    ("", None),
    ("12", 12),
    ("-7", -7),
    ("+7", 7),
    ("-0.5", -0.5),
    (".5", 0.5),
    ("2.", 2.0),
    ("00.5", "00.5"),
    ("1.2.3", "1.2.3"),
    ("b11434", "b11434"),
    ("'12'", "12"),
    ('"true"', "true"),
    ("|-\n  12", "12"),
    ("=", "="),
    ("<<", "<<"),
]


@pytest.mark.parametrize(("written", "meant"), TRAPS)
def test_scalars_mean_what_the_1_2_core_schema_says(written: str, meant: object, either_parser: str) -> None:
    found = load_document(f"a: {written}\n", "f.yaml").data["a"]
    assert found == meant
    assert type(found) is type(meant)


@pytest.mark.parametrize("key", ["on", "yes", "012", "1e3", "2026-08-01", "'1'", '"<<"', "--draft-max", "True"])
def test_keys_that_yaml_1_1_would_retype_stay_text(key: str) -> None:
    assert list(load_document(f"{key}: x\n", "f.yaml").data) == [key.strip("'\"")]


@pytest.mark.parametrize("number", ["1.0e999", "-1.0e999", "9" * 400, "9" * 5000])
def test_numbers_beyond_a_float_are_refused(number: str) -> None:
    assert heads(f"a: {number}") == [f"f.yaml:1:4: number {number[:20]} is out of range"]


def test_all_problems_of_a_file_come_at_once_in_order_of_place(either_parser: str) -> None:
    text = (
        "schema: 1\n"
        "é😀: &one x\n"
        "list: [*one, !!str y]\n"
        "schema: 2\n"
        "deep:\n"
        "  <<: {a: 1}\n"
        "  1: one\n"
        "  true: two\n"
        "  ? [&z x]\n"
        "  : three\n"
        "  obj: !!python/object/apply:os.system [echo]\n"
        "  big: 1.0e999\n"
        "  nil: !mine\n"
        "    {k: 1, k: 2}\n"
    )
    assert heads(text) == [
        "f.yaml:2:5: anchor '&one' is not allowed",
        "f.yaml:3:8: alias '*one' is not allowed",
        "f.yaml:3:14: tag '!!str' is not allowed",
        "f.yaml:4:1: duplicate key 'schema'",
        "f.yaml:6:3: merge key '<<' is not allowed",
        "f.yaml:7:3: a key must be text, not 1",
        "f.yaml:8:3: a key must be text, not true",
        "f.yaml:9:5: a key must be text, not a list",
        "f.yaml:9:6: anchor '&z' is not allowed",
        "f.yaml:11:8: tag '!!python/object/apply:os.system' is not allowed",
        "f.yaml:12:8: number 1.0e999 is out of range",
        "f.yaml:13:8: tag '!mine' is not allowed",
        "f.yaml:14:12: duplicate key 'k'",
    ]
    with pytest.raises(LoadError) as raised:
        load_document(text, "f.yaml")
    assert len(raised.value.problems) == 13
    shown = str(raised.value).splitlines()
    assert shown[shown.index("    schema: 2") - 1] == "f.yaml:4:1: duplicate key 'schema' (first at line 1)"
    assert shown[shown.index("    schema: 2") + 1] == "    ^"
    assert "    list: [*one, !!str y]\n                 ^" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("a: &x 1", "f.yaml:1:4: anchor '&x' is not allowed"),
        ("a:\n  - &x\n    b: 1", "f.yaml:2:5: anchor '&x' is not allowed"),
        ("&x a: 1", "f.yaml:1:1: anchor '&x' is not allowed"),
        ("a: *undefined", "f.yaml:1:4: alias '*undefined' is not allowed"),
        ("*x : 1", "f.yaml:1:1: alias '*x' is not allowed"),
        ("a: ! x", "f.yaml:1:4: tag '!' is not allowed"),
        ("a: !!int '1'", "f.yaml:1:4: tag '!!int' is not allowed"),
        ("a: !!map {b: 1}", "f.yaml:1:4: tag '!!map' is not allowed"),
        ("a: !!set {b}", "f.yaml:1:4: tag '!!set' is not allowed"),
        ("!!python/object/new:x {a: 1}", "f.yaml:1:1: tag '!!python/object/new:x' is not allowed"),
        ("a: {x: 1, x: 2}", "f.yaml:1:11: duplicate key 'x'"),
        ('a: 1\n"a": 2', "f.yaml:2:1: duplicate key 'a'"),
        ("a:\n  <<: *x", "f.yaml:2:3: merge key '<<' is not allowed"),
        ("?\n: 2", "f.yaml:1:2: a key must be text, not empty"),
        ("? {a: 1}\n: 2", "f.yaml:1:3: a key must be text, not a mapping"),
        ("1.5: x", "f.yaml:1:1: a key must be text, not 1.5"),
        ("", "f.yaml:1:1: the file is empty"),
        ("\n# only a remark\n", "f.yaml:1:1: the file is empty"),
        ("---\n...\n", "f.yaml:1:1: the file is empty"),
        ("- a\n- b", "f.yaml:1:1: the document must be a mapping of keys to values, not a list"),
        ("# x\njust text", "f.yaml:2:1: the document must be a mapping of keys to values, not a single value"),
        ("a: 1\n---\nb: 2", "f.yaml:2:1: a second document begins here: a file holds one"),
        ("a: 1\n...\n---\n", "f.yaml:3:1: a second document begins here: a file holds one"),
        ('a: "x\\0y"', "f.yaml:1:4: text with a NUL character or half a surrogate pair is not allowed"),
        ("a: b: c", "f.yaml:1:5: not valid YAML: a ':' does not fit here"),
        ("a: 1\n  b: 2", "f.yaml:2:4: not valid YAML: a ':' does not fit here"),
        ("a: @x", "f.yaml:1:4: not valid YAML: '@' cannot start a value"),
        ("a:\n\tb: 1", "f.yaml:2:1: not valid YAML: a tab cannot indent"),
        ("a:\n  b: 1\n c: 2", "f.yaml:3:2: not valid YAML: did not find expected key"),
    ],
)
def test_refused(text: str, head: str) -> None:
    assert heads(text)[0] == head
    assert len(heads(text)) == 1 or "<<" in text


def test_a_structural_error_does_not_hide_what_came_before_it() -> None:
    assert heads("a: &x 1\na: 2\nb: [1, 2\n") == [
        "f.yaml:1:4: anchor '&x' is not allowed",
        "f.yaml:2:1: duplicate key 'a'",
        "f.yaml:3:4: not valid YAML: the file ends while parsing a flow sequence that begins here",
    ]


@pytest.mark.parametrize(
    ("content", "head"),
    [
        (b"a: \xc3\xa9\nb: \xc3(", "f.yaml:2:4: not UTF-8: byte 0xc3"),
        ("a: x".encode("utf-16"), "f.yaml:1:1: not UTF-8: byte 0xff"),
        (b"\xef\xbb\xbfa: \xff", "f.yaml:1:4: not UTF-8: byte 0xff"),
        (b"a: b\x00c", "f.yaml:1:5: character U+0000 is not allowed"),
        ("a: x\u2028b: y", "f.yaml:1:5: character U+2028 is not allowed"),
        ("a: x\u0085b: y", "f.yaml:1:5: character U+0085 is not allowed"),
        ("a: x\ufeff", "f.yaml:1:5: character U+FEFF is not allowed"),
        ("a: \ud800", "f.yaml:1:4: character U+D800 is not allowed"),
        ("a: \x1b[31m", "f.yaml:1:4: character U+001B is not allowed"),
    ],
)
def test_refused_characters(content: str | bytes, head: str) -> None:
    assert heads(content) == [head]


def test_all_refused_characters_are_named_and_never_printed() -> None:
    with pytest.raises(LoadError) as raised:
        load_document("a: \x1b[31m\nb: \x07\n", "f.yaml")
    assert [str(problem.where) for problem in raised.value.problems] == ["f.yaml:1:4", "f.yaml:2:4"]
    assert "\x1b" not in str(raised.value)
    assert "    a: \ufffd[31m\n       ^" in str(raised.value)


def test_escaped_control_characters_are_text_as_written() -> None:
    assert load_document(r'a: "\e[0m\t\u00e9"', "f.yaml").data == {"a": "\x1b[0m\té"}


def test_utf_16_is_recognised() -> None:
    hints = [read_document(text, "f").problems[0].hint for text in ("a: x".encode("utf-16"), b"\xff: x")]
    assert hints == ["it looks like UTF-16: save as UTF-8", "save as UTF-8"]


def nested(depth: int) -> str:
    return "a: " + "[" * (depth - 1) + "]" * (depth - 1)


def test_depth_limit(either_parser: str) -> None:
    assert heads(nested(MAX_DEPTH)) == []
    assert heads(nested(MAX_DEPTH + 1)) == ["f.yaml:1:67: nested deeper than 64 levels"]
    assert heads("a: " + "[" * 900)[0].endswith("nested deeper than 64 levels")
    assert heads("- " * 5000) == ["f.yaml:1:129: nested deeper than 64 levels"]


def test_a_bomb_of_brackets_is_one_problem() -> None:
    assert [head.split(": ", 1)[1] for head in heads("[" * 5000)] == ["nested deeper than 64 levels"]


def test_size_limit_counts_bytes() -> None:
    fitting = "a: x" + "é" * ((MAX_BYTES - 4) // 2)
    assert len(fitting.encode()) == MAX_BYTES
    assert heads(fitting) == []
    assert heads(fitting + "y") == ["f.yaml: larger than 4 MiB"]
    assert heads((fitting + "y").encode()) == ["f.yaml: larger than 4 MiB"]


def test_the_number_of_problems_is_bounded() -> None:
    found = heads("".join(f"k{number}: &x 1\n" for number in range(MAX_PROBLEMS * 3)))
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "f.yaml:100:6: more than 100 problems: reading stops here"
    assert len(heads("a: " + "\x01" * 1000)) == MAX_PROBLEMS


def test_bom_and_crlf_are_fine_and_do_not_shift_places(either_parser: str) -> None:
    document = load_document("\ufeffa: 1\r\nb:\r\n  - é😀: x\r\n".encode(), "f.yaml")
    assert document.data == {"a": 1, "b": [{"é😀": "x"}]}
    assert str(document.key_position(("a",))) == "f.yaml:1:1"
    assert str(document.key_position(("b", 0, "é😀"))) == "f.yaml:3:5"
    assert str(document.position(("b", 0, "é😀"))) == "f.yaml:3:9"
    assert document.source_line(3) == "  - é😀: x"


def test_load_file(tmp_path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\n")
    assert load_file(path).data == {"a": 1}
    assert load_file(str(path)).path == str(path)
    with path.open("wb") as file:
        file.truncate(MAX_BYTES * 1000)
    with pytest.raises(LoadError, match="larger than 4 MiB"):
        load_file(path)


@pytest.mark.parametrize("name", ["missing.yaml", "", "bad\0name"])
def test_load_file_that_cannot_be_read(tmp_path, name: str) -> None:
    with pytest.raises(LoadError, match="cannot be read"):
        load_file(f"{tmp_path}/{name}")


def test_an_unclosed_quote_is_shown_where_it_opens() -> None:
    assert heads("a: 1\nb: 'x\nc: 2\n") == [
        "f.yaml:2:4: not valid YAML: the file ends while scanning a quoted scalar that begins here"
    ]


TOKENS = [
    *"a1é[]{},|>'\"\\\n\t\r#~@`%\0\u2028\ufeff",
    *("b: ", ": ", "  ", "- ", "? ", "&x ", "*x", "!t ", "!!str ", ">-", "<<: ", "null", "1.5", "9" * 400),
    *("\\x", "\\U0010ffff", "\\ud800", "---\n", "...", "%YAML 1.1\n"),
]
YAMLISH = st.lists(st.sampled_from(TOKENS), max_size=25).map("".join)


@given(st.one_of(st.text(max_size=60), YAMLISH, st.binary(max_size=40)))
@settings(max_examples=400, deadline=None)
def test_anything_loads_or_is_a_load_error(text: str | bytes) -> None:
    document = read_document(text, "f.yaml")
    lines = len(document.source.text.splitlines()) + 1
    for problem in document.problems:
        assert problem.where is not None
        assert problem.where.line <= lines
    if not document.problems:
        assert isinstance(document.data, dict)
        for loc, provenance in document.leaves():
            assert provenance.where == document.position(loc)
            assert provenance.where.line <= lines


@given(YAMLISH)
@settings(max_examples=150, deadline=None)
def test_anything_loads_or_is_a_load_error_without_libyaml(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CSafeLoader")
        read_document(text, "f.yaml")


class NoAliases(yaml.SafeDumper):
    def ignore_aliases(self, _data: object) -> bool:
        return True


def _same_in_both_schemas(text: str) -> bool:
    """Text that YAML 1.1 would print without quotes though 1.2 reads a number in it (`1.0e3`) is not comparable."""
    try:
        return plain_value(text) == text or yaml.safe_load(text) != text
    except (OverflowError, yaml.YAMLError):
        return False


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12).filter(
    _same_in_both_schemas
)
SCALARS = st.one_of(
    TEXT,
    st.booleans(),
    st.none(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
DATA = st.dictionaries(
    TEXT,
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)),
    min_size=1,
    max_size=4,
)


@given(DATA, st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_round_trip_of_what_yaml_prints(data: dict[str, object], flow: bool, crlf: bool) -> None:
    text = yaml.dump(data, Dumper=NoAliases, default_flow_style=flow)
    document = load_document(text.replace("\n", "\r\n") if crlf else text, "f.yaml")
    assert document.data == data


@given(DATA)
@settings(max_examples=100, deadline=None)
def test_every_key_stands_where_its_position_says(data: dict[str, object]) -> None:
    text = yaml.dump(data, Dumper=NoAliases)
    document = load_document(text, "f.yaml")
    for loc, _ in document.leaves():
        for depth, step in enumerate(loc, 1):
            if isinstance(step, str) and step.isascii() and step.isalnum():
                where = document.key_position(loc[:depth])
                written = document.source_line(where.line)[where.column - 1 :]
                assert written.lstrip("'\"").startswith(step)
