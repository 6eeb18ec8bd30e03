"""Statement style of SQLite: batches are tables for our connections, JSON for those of callers.

Ids are text, instants microseconds since 1970, flags 0 or 1.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from windlass.storage.sql.batches import Shape
from windlass.storage.sql.statements import Batch, Dialect

#: Milliseconds are all that SQLite's own functions tell, and callers' connections have no others.
NOW = "(cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer) * 1000)"

MACROS: Mapping[str, str] = {
    **dict.fromkeys(("text", "uuid", "int", "bigint", "float", "bool", "time", "json"), "{}"),
    "epoch": "0",
    "seconds": "cast(round({} * 1000000) as integer)",
    "days": "cast(round({} * 86400000000) as integer)",
    "since": "(({now} - {}) / 1000000.0)",
    "until": "(({} - {now}) / 1000000.0)",
    "minute": "{} - {} % 60000000",
    "slot": "{} / 1000000 / :slot_seconds",
    "true": "{} = 1",
    "false": "{} = 0",
    "name": "{}",
    "least": "min",
    "greatest": "max",
    "instr": "instr",
    "sum": "sum({})",
    "for": "",
    "share": "",
    "join": "cross join",
    "index": "",
    "on_conflict": "on conflict ({}) do update set",
    "or_ignore": "on conflict do nothing",
    "new": "excluded.{}",
}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class BatchTable:
    """The content of the temporary table of a batch: the columns that are not empty, by rows."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def driver_dialect() -> Dialect:
    """For our own connections: a batch is a temporary table, the time is read once per verb."""
    return Dialect(
        folder="sqlite",
        now=":now_at",
        placeholder=lambda number, name: f":{name}",
        table=lambda name, shape: table_name(name),
        carry=lambda name, shape, batch: {name: _filling(shape, batch)},
        value=_value,
        macros=MACROS,
    )


def caller_dialect(placeholder: str, now: str = NOW) -> Dialect:
    """For a caller's driver: a batch is one JSON text of arrays, which every driver can carry."""
    styles: Mapping[str, Callable[[int, str], str]] = {
        "?": lambda number, name: "?",
        "%s": lambda number, name: f"%({name})s",
        ":name": lambda number, name: f":{name}",
    }
    return Dialect(
        folder="sqlite",
        now=now,
        placeholder=styles[placeholder],
        table=_json_table,
        carry=lambda name, shape, batch: {name: _json_rows(shape, batch)},
        value=_value,
        macros=MACROS,
        positional=placeholder == "?",
        percent=placeholder == "%s",
    )


def table_name(name: str) -> str:
    """The temporary table that carries a batch on our own connections."""
    return f"temp.batch_{name}"


def table_columns(shape: Shape) -> str:
    """The columns of that table."""
    return ", ".join(f"{column} {_TYPES[type]}" for column, type in shape.items())


def _filling(shape: Shape, batch: Batch) -> BatchTable:
    # Empty columns are left out: a None costs the driver more than any other value.
    present = {
        name: _converted(shape[name], column)
        for name, column in batch.columns.items()
        if column.count(None) < len(column)
    }
    return BatchTable(list(present), list(zip(*present.values(), strict=True)))


def _json_rows(shape: Shape, batch: Batch) -> str:
    converted = [_converted(type, batch[column]) for column, type in shape.items()]
    return json.dumps(list(zip(*converted, strict=True)))


def _json_table(name: str, shape: Shape) -> str:
    picked = ", ".join(
        f"json_extract(value, '$[{place}]') as {column}" for place, column in enumerate(shape)
    )
    return f"(select {picked} from json_each(:{name}))"


def _converted(type: str, column: Sequence[Any]) -> Sequence[Any]:
    change = _CHANGES.get(type)
    # The driver takes exact types many times faster than subclasses such as enums.
    if change is None or (change is str and set(map(_type, column)) <= _PLAIN):
        return column
    return [None if value is None else change(value) for value in column]


def _value(value: Any) -> Any:
    match value:
        case bool():
            return int(value)
        case str() | UUID():
            return str(value)
        case datetime():
            return _micros(value)
        case timedelta():
            return value.total_seconds()
        case list() | tuple():
            return json.dumps(value)
        case _:
            return value


def _micros(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND


_type = type
_PLAIN = {str, type(None)}
_TYPES: Mapping[str, str] = {
    "uuid": "text",
    "text": "text",
    "int": "integer",
    "bigint": "integer",
    "float": "real",
    "json": "text",
    "time": "integer",
    "bool": "integer",
}
_CHANGES: Mapping[str, Callable[[Any], Any]] = {
    "uuid": str,
    "text": str,
    "json": str,
    "time": _micros,
    "bool": int,
}
