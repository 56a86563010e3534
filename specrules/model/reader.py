"""Readers: how an engine's logs, metrics and responses become facts. All of it is data of the engine's YAML.

A reader takes **fields** from a file (regex groups, metrics, JSON paths, columns of a table). What belongs together -
the lines of one request, one item of a JSON list, a row of a table, the series of a metrics dump - is a record. The
occurrences of each field are combined into one value, and expressions over the combined fields give the **facts**.
Evaluated on the record of one request, the same expressions give that request's sample. A file with several runs in it
is split into them by fields, and each run has facts of its own.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from specrules.model.base import ExpressionText, Identifier, Many, Model

FieldType = Literal["number", "text", "numbers", "flag"]
Combine = Literal["sum", "last", "first", "max", "min", "any", "mean", "join", "list"]
FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=48)]
Constant = float | bool | str


class ReaderField(Model):
    """One value that occurs in a file, and how several occurrences become one.

    `mean` is weighted by `weight`, evaluated on the same record. `join` puts the different values of a text one after
    the other, with commas; `list` makes a vector of single numbers. Vectors are summed and averaged position by
    position, the shorter ones filled up with zeros. A field that never occurs is unknown, except that a `flag` with
    combine `any` is then false and that `default` says what absence means, in the file and in each record.
    """

    type: FieldType = "number"
    combine: Combine = "sum"
    weight: ExpressionText | None = Field(default=None, description="for `mean`: over the other fields of the record")
    value: ExpressionText | None = Field(
        default=None, description="computed in each record that has one of its inputs, from fields declared before it"
    )
    when: ExpressionText | None = Field(default=None, description="with `value`: only in records where this holds")
    default: Constant | None = Field(default=None, description="value where a recognised file lacks the field")
    match: str | None = Field(default=None, description="the part of a text that counts: first group of this pattern")
    metric: str | None = Field(default=None, description="Prometheus readers: the metric's full name")
    label: str | None = Field(default=None, description="Prometheus readers: a number per value of this label")
    kind: Literal["counter", "gauge", "lifetime"] | None = Field(
        default=None,
        description="Prometheus readers: a counter is subtracted between two dumps, a gauge taken from the later one, "
        "an average over the server's lifetime is unknown between them. Without it the dump's TYPE line says it, "
        "and without that a field whose series are added up is a counter",
    )
    path: str | None = Field(default=None, description="JSON readers: dotted path inside a record")
    column: str | None = Field(default=None, description="table readers: heading of the column")
    values: dict[str, str] = Field(default_factory=dict, description="spellings of a text and what they are read as")
    doc: str = ""


class LogExample(Model):
    """A line as an engine printed it, and the fields that it must give."""

    line: str
    fields: dict[str, float | bool | str | Annotated[tuple[float, ...], Field(strict=False)]]
    source: str


class LogPattern(Model):
    """A line shape. Named groups are fields; those listed in `key` say to which record a line belongs.

    A group of the key is a field only where `fields` declares it. The first pattern that matches a line takes it. The
    regular expression runs in linear time: no look-around, no back-references.
    """

    id: Identifier
    pattern: str
    key: Many[str] = ()
    per_request: bool = Field(default=False, description="the fields belong to one request")
    opens_request: bool = Field(
        default=False, description="a new request begins here; lines without a key that follow belong to it"
    )
    cumulative: bool = Field(default=False, description="a line replaces what an earlier one with the same key gave")
    sets: dict[str, Constant] = Field(default_factory=dict, description="fields that the line's presence sets")
    since: str | None = None
    until: str | None = None
    era: str = ""
    examples: Many[LogExample]

    @model_validator(mode="after")
    def _has_examples(self) -> LogPattern:
        if not self.examples:
            raise ValueError(f"the pattern {self.id!r} has no example: a pattern without one does not load")
        return self


class DocumentExample(Model):
    """A metrics dump, a JSON document or a table as it was printed, and the facts that it must give.

    `where` chooses one of several runs in it.
    """

    text: str
    facts: dict[str, float | bool | str | Annotated[tuple[float, ...], Field(strict=False)]]
    source: str
    where: dict[FieldName, Constant] = Field(default_factory=dict)


class FactRule(Model):
    """A fact, as an expression over the reader's fields. The first settled rule for a fact wins."""

    fact: str
    value: ExpressionText
    when: ExpressionText | None = None
    absolute: bool = Field(default=False, description="a fact of the case, not of the arm that the file is of")
    unit: str = ""
    low: ExpressionText | None = Field(default=None, description="low end of the value's 90 % interval, with `high`")
    high: ExpressionText | None = None
    sampled: bool = Field(default=False, description="also evaluated on each request, as the fact's samples")
    samples: ExpressionText | None = Field(default=None, description="the fact's samples, where a file lists them")


class ConsistencyCheck(Model):
    """What must hold between the fields of one file; otherwise its numbers contradict each other."""

    id: Identifier
    require: ExpressionText
    message: str
    is_notice: bool = Field(
        default=False, description="says what the file leaves open; its numbers do not contradict each other"
    )


class Reader(Model):
    """One kind of file that an engine prints."""

    id: Identifier
    kind: Literal["log", "prometheus", "json", "table"]
    title: str
    known: Identifier
    since: str | None = None
    until: str | None = None
    strip: Many[str] = Field(
        default=(),
        description="log: prefixes and colours removed before matching, those that begin with ^ last and in order; "
        "a named group tells processes apart",
    )
    suspects: Many[str] = Field(default=(), description="log: a line with one of these that matches nothing is shown")
    records: str = Field(default="", description="json: path of the records; empty: the document or each of its items")
    requires: Many[str] = Field(
        default=(), description="metrics, paths or columns without which the file is of another kind"
    )
    only: ExpressionText | None = Field(
        default=None, description="JSON and tables: only records count in which this holds; over the fields of a record"
    )
    split: Many[FieldName] = Field(
        default=(), description="JSON and tables: records that differ in one of these fields are of different runs"
    )
    load: FieldName | None = Field(
        default=None, description="Prometheus readers: the field that counts the sequences served at this moment"
    )
    fields: dict[FieldName, ReaderField]
    patterns: Many[LogPattern] = ()
    facts: Many[FactRule]
    checks: Many[ConsistencyCheck] = ()
    examples: Many[DocumentExample] = ()

    @model_validator(mode="after")
    def _kind_has_what_it_needs(self) -> Reader:
        if self.kind == "log" and not self.patterns:
            raise ValueError(f"the log reader {self.id!r} has no patterns")
        if self.kind != "log" and not self.examples:
            raise ValueError(f"the reader {self.id!r} has no example: a reader without one does not load")
        if self.kind != "log" and not self.requires:
            raise ValueError(f"the reader {self.id!r} needs 'requires': what tells its files from others")
        if self.kind not in {"json", "table"} and (self.only is not None or self.split):
            raise ValueError(
                f"the reader {self.id!r} reads neither JSON nor tables, so it has no 'only' and no 'split'"
            )
        return self
