"""How statements are written for MariaDB and MySQL: a batch is JSON text, read by `json_table`.

Ids are text, instants UTC without a zone, flags 0 or 1.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from windlass.storage.sql.batches import BATCHES, Shape
from windlass.storage.sql.statements import Dialect, uncommented

NOW = "utc_timestamp(6)"

#: The collation to which case, accents and trailing spaces count, by the server that has it.
_EXACT = "character set utf8mb4 collate /*M! utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */"
_TYPES: Mapping[str, str] = {
    "uuid": "char(36) character set ascii collate ascii_bin",
    "text": f"longtext {_EXACT}",
    "int": "integer",
    "bigint": "bigint",
    "float": "double",
    "json": f"longtext {_EXACT}",
    "time": "datetime(6)",
    "bool": "tinyint",
    "members": "json",
}

MACROS: Mapping[str, str] = {
    **dict.fromkeys(("text", "uuid", "int", "bigint", "float", "bool", "time", "json"), "{}"),
    "epoch": "cast('1970-01-01' as datetime(6))",
    "seconds": "interval round({} * 1000000) microsecond",
    "days": "interval round({} * 86400000000) microsecond",
    "since": "(timestampdiff(microsecond, {}, {now}) / 1000000)",
    "until": "(timestampdiff(microsecond, {now}, {}) / 1000000)",
    "minute": "{} - interval second({}) * 1000000 + microsecond({}) microsecond",
    "true": "{} = 1",
    "false": "{} = 0",
    "name": "`{}`",
    "least": "least",
    "greatest": "greatest",
    "instr": "instr",
    "sum": "cast(sum({}) as signed)",
    "for": "for {}",
    "share": "lock in share mode",
    "join": "straight_join",
    "index": "force index ({})",
    "on_conflict": "on duplicate key update",
    "or_ignore": "on duplicate key update {} = {}",
    "new": "values({})",
}
_RETURNING = re.compile(
    r"\A(?P<change>(?:update|delete from) (?P<table>windlass_\w+)\b.*?\bwhere (?P<which>.*))"
    r"\breturning (?P<columns>[^()]*)\Z",
    re.DOTALL,
)

#: The columns in which the rows of a large batch differ. To the server a column of JSON costs as
#: much as storing it, so what rows have in common is written, and read, only once.
_OWN: Mapping[str, tuple[str, ...]] = {
    "jobs": ("place", "id", "payload"),
    "finishes": ("id", "token", "result"),
}

#: Batches whose rows are named by their first columns: what is named twice counts once, and rows
#: are locked in the order of their ids, so that two transactions seldom wait for each other.
_NAMED_BY: Mapping[str, int] = {"ids": 1, "names": 1, "held": 2, "finishes": 2, "reports": 2}


def own(now: str = NOW) -> Dialect:
    """For our own connections, which speak UTF-8."""
    return replace(callers("%s", now), table=_table)


def callers(placeholder: str, now: str = NOW) -> Dialect:
    """For a caller's driver: parameters by name, in one of two styles."""
    styles: Mapping[str, Callable[[int, str], str]] = {
        "%s": lambda number, name: f"%({name})s",
        ":name": lambda number, name: f":{name}",
    }
    return Dialect(
        folder="mysql",
        now=now,
        placeholder=styles[placeholder],
        table=_converted_table,
        carry=_carry,
        value=value,
        macros=MACROS,
        returning=_returning,
        percent=placeholder == "%s",
    )


def value(given: Any) -> Any:
    """A single value as every driver takes it; a list becomes JSON text."""
    match given:
        case UUID():
            return str(given)
        case datetime():
            return _written(given)
        case timedelta():
            return given.total_seconds()
        case list() | tuple():
            return json.dumps(given)
        case str():
            return str(given)
        case _:
            return given


def _returning(statement: str) -> Sequence[str]:
    """What returns rows that it changes reads and locks them first."""
    found = _RETURNING.search(uncommented(statement))
    if found is None:
        return [statement]
    read = f"select {found['columns']} from {found['table']} where {found['which']} for update"
    return [f"-- answer\n{read}", found["change"]]


def carried(name: str, rows: Sequence[Sequence[Any]]) -> Mapping[str, str]:
    """The parameters of one batch, where a statement is not run by its file's name."""
    return _carry(name, BATCHES[name], rows)


def _converted_table(name: str, shape: Shape) -> str:
    # `json_table` writes in its text's character set, which is that of the caller's connection:
    # a string with a character not known there comes out empty, and nothing is said.
    return _table(name, shape, "convert(:{} using utf8mb4)")


def _table(name: str, shape: Shape, given: str = ":{}") -> str:
    own = _OWN.get(name)
    if own is None:
        return _json_table(given.format(name), shape)
    shared = {column: type for column, type in shape.items() if column not in own}
    groups = _json_table(given.format(name), {**shared, "members": "members"})
    rows = _json_table("g.members", {column: shape[column] for column in own})
    picked = ", ".join(f"{'r' if column in own else 'g'}.`{column}`" for column in shape)
    return f"(select {picked} from {groups} g straight_join {rows} r)"


def _json_table(source: str, shape: Mapping[str, str]) -> str:
    columns = ", ".join(
        f"`{column}` {_TYPES[type]} path '$[{place}]'"
        for place, (column, type) in enumerate(shape.items())
    )
    return f"json_table({source}, '$[*]' columns ({columns}))"


def _carry(name: str, shape: Shape, rows: Sequence[Sequence[Any]]) -> Mapping[str, str]:
    if width := _NAMED_BY.get(name):
        # As text, because ids are compared many times faster so.
        named = {(str(row[0]), *row[1:width]): row for row in rows}
        rows = [(*name, *row[width:]) for name, row in sorted(named.items())]
    own = _OWN.get(name)
    if own is None:
        return {name: _dump(rows)}
    columns = list(shape)
    own_places = [columns.index(column) for column in own]
    shared_places = [place for place in range(len(columns)) if place not in own_places]
    groups: dict[tuple[Any, ...], list[list[Any]]] = {}
    for row in rows:
        shared = tuple([row[place] for place in shared_places])
        groups.setdefault(shared, []).append([row[place] for place in own_places])
    return {name: _dump([[*shared, members] for shared, members in groups.items()])}


def _dump(rows: Sequence[Sequence[Any]]) -> str:
    # ASCII only: whatever character set a caller's connection has, it arrives.
    return json.dumps(rows, default=_plain, separators=(",", ":"))


def _plain(given: Any) -> str:
    return _written(given) if isinstance(given, datetime) else str(given)


def _written(instant: datetime) -> str:
    utc = instant.astimezone(UTC).replace(tzinfo=None) if instant.tzinfo else instant
    return utc.isoformat(" ", "microseconds")
