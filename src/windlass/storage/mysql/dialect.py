"""Statement style of MariaDB and MySQL: a batch is JSON text, read by `json_table`.

Ids are text, instants UTC without a zone, flags 0 or 1.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from windlass.storage.sql.batches import BATCHES, Shape
from windlass.storage.sql.statements import Batch, Dialect, uncommented

NOW = "utc_timestamp(6)"

#: A collation that distinguishes case, accents and trailing spaces, by server.
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
    "slot": "timestampdiff(second, '1970-01-01', {}) div :slot_seconds",
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

#: The columns in which the rows of a large batch differ. Reading a column of JSON costs the server
#: as much as storing it, so what rows have in common is written, and read, only once.
_OWN: Mapping[str, tuple[str, ...]] = {
    "jobs": ("place", "id", "payload"),
    "finishes": ("id", "token", "result"),
}

#: Batches whose rows have a key: of duplicates the last counts, and rows are locked in the order of
#: their ids, so that two transactions seldom wait for each other.
_KEYS: Mapping[str, Sequence[str]] = {
    "ids": ("id",),
    "names": ("name",),
    "held": ("id", "token"),
    "finishes": ("id", "token"),
    "reports": ("id", "token"),
}


def driver_dialect(now: str = NOW) -> Dialect:
    """For our own connections, which speak UTF-8."""
    return replace(caller_dialect("%s", now), table=_table)


def caller_dialect(placeholder: str, now: str = NOW) -> Dialect:
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
            return _timestamp_text(given)
        case timedelta():
            return given.total_seconds()
        case list() | tuple():
            return json.dumps(given)
        case str():
            return str(given)
        case _:
            return given


def _returning(statement: str) -> Sequence[str]:
    """Split a statement with `returning` into one that reads and locks, and one that changes."""
    found = _RETURNING.search(uncommented(statement))
    if found is None:
        return [statement]
    read = f"select {found['columns']} from {found['table']} where {found['which']} for update"
    return [f"-- answer\n{read}", found["change"]]


def carry(name: str, batch: Batch) -> Mapping[str, str]:
    """The parameters of one batch, for a statement that is not run by its file's name."""
    batch.check(name)
    return _carry(name, BATCHES[name], batch)


def _converted_table(name: str, shape: Shape) -> str:
    # `json_table` uses the character set of its text, which is that of the caller's connection: a
    # string with a character unknown there silently comes out empty.
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


def _carry(name: str, shape: Shape, batch: Batch) -> Mapping[str, str]:
    order: Iterable[int] = range(len(batch))
    if keys := _KEYS.get(name):
        # As text, because comparing UUID objects is many times slower.
        last = {(str(key), *more): n for n, (key, *more) in enumerate(batch.rows(*keys))}
        order = [last[key] for key in sorted(last)]
    own = _OWN.get(name)
    if own is None:
        rows = list(batch.rows(*shape))
        return {name: _dump([rows[n] for n in order])}
    shared = list(batch.rows(*[column for column in shape if column not in own]))
    members = list(batch.rows(*own))
    groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for n in order:
        groups.setdefault(shared[n], []).append(members[n])
    return {name: _dump([(*row, group) for row, group in groups.items()])}


def _dump(rows: Sequence[Sequence[Any]]) -> str:
    # ASCII only: it arrives whatever character set a caller's connection has.
    return json.dumps(rows, default=_plain, separators=(",", ":"))


def _plain(given: Any) -> str:
    return _timestamp_text(given) if isinstance(given, datetime) else str(given)


def _timestamp_text(instant: datetime) -> str:
    utc = instant.astimezone(UTC).replace(tzinfo=None) if instant.tzinfo else instant
    return utc.isoformat(" ", "microseconds")
