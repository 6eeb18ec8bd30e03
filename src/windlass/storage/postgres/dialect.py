"""Statement style of PostgreSQL: batches are arrays for our driver, JSON for callers' drivers."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import compress
from typing import Any
from uuid import UUID

from windlass.core.jobs import outcome
from windlass.core.leases.lease import LeaseRef
from windlass.ids import JobId
from windlass.storage.leases.leases import finish_batch
from windlass.storage.sql.batches import BATCHES, Shape
from windlass.storage.sql.statements import Batch, Dialect

#: Fixed for a statement, so that an index can be used with it; real time, not the transaction's.
NOW = "statement_timestamp()"

_TYPES: Mapping[str, str] = {
    "uuid": "uuid",
    "text": "text",
    "int": "integer",
    "bigint": "bigint",
    "float": "double precision",
    "json": "json",
    "time": "timestamptz",
    "bool": "boolean",
}


MACROS: Mapping[str, str] = {
    **{name: f"cast({{}} as {type})" for name, type in _TYPES.items()},
    "epoch": "to_timestamp(0)",
    "seconds": "cast({} as double precision) * interval '1 second'",
    "days": "cast({} as double precision) * interval '1 day'",
    "since": "cast(extract(epoch from {now} - {}) as double precision)",
    "until": "cast(extract(epoch from {} - {now}) as double precision)",
    "minute": "date_trunc('minute', {})",
    "slot": "cast(floor(extract(epoch from {}) / cast(:slot_seconds as integer)) as bigint)",
    "true": "{}",
    "false": "not {}",
    "name": "{}",
    "least": "least",
    "greatest": "greatest",
    "instr": "strpos",
    "sum": "sum({})",
    "for": "for {}",
    "share": "for key share {}",
    "join": "join",
    "index": "",
    "on_conflict": "on conflict ({}) do update set",
    "or_ignore": "on conflict do nothing",
    "new": "excluded.{}",
}


#: The columns of a lease, in batches that statements look up by lease.
_LEASE = ("id", "token")
_BY_LEASE: Mapping[str, Sequence[str]] = {
    name: [column for column in BATCHES[name] if column not in _LEASE]
    for name in ("finishes", "reports")
}
_SUCCESS = outcome.success(LeaseRef(JobId(UUID(int=0)), 0), result=None, warnings=None, keep=True)
#: The values of nearly every end after its lease: a plain success.
[_PLAIN_SUCCESS] = finish_batch(None, [_SUCCESS])["finishes"].rows(*_BY_LEASE["finishes"])


_NULL = (None, "null")
#: The usual value of these columns in a batch, in Python and in SQL.
_USUAL: Mapping[str, Mapping[str, tuple[Any, str]]] = {
    "jobs": {
        "parents": (0, "0"),
        "on_parent_failure": ("cancel", "'cancel'"),
        "held": (False, "false"),
        "source": ("manual", "'manual'"),
    }
}


def driver_dialect(now: str = NOW) -> Dialect:
    """For asyncpg: a batch is one array per column."""
    return Dialect(
        folder="postgres",
        now=now,
        placeholder=lambda number, name: f"${number}",
        table=_unnest,
        carry=_arrays,
        value=_value,
        macros=MACROS,
    )


def caller_dialect(placeholder: str, now: str = NOW) -> Dialect:
    """For a caller's driver: a batch is one JSON text, which every driver can carry."""
    styles = {
        "$1": lambda number, name: f"${number}",
        "%s": lambda number, name: f"%({name})s",
        ":name": lambda number, name: f":{name}",
    }
    return Dialect(
        folder="postgres",
        now=now,
        placeholder=styles[placeholder],
        table=_recordset,
        carry=_text,
        value=_value,
        macros=MACROS,
        percent=placeholder == "%s",
    )


def _unnest(name: str, shape: Shape) -> str:
    arrays = ", ".join(
        f"cast(:{name}__{column} as {_TYPES[type]}[])" for column, type in shape.items()
    )
    usual = _USUAL.get(name, {})
    picked = ", ".join(f"coalesce({c}, {usual[c][1]}) as {c}" if c in usual else c for c in shape)
    return f"(select {picked} from unnest({arrays}) as {name}({', '.join(shape)}))"


def _arrays(name: str, shape: Shape, batch: Batch) -> Mapping[str, Any]:
    if name in _BY_LEASE:
        return _by_lease(name, batch, usual=_PLAIN_SUCCESS)
    usual = _USUAL.get(name, {})
    given = batch.columns
    return {
        # A column with only usual values is sent empty: unnest fills it with nulls.
        f"{name}__{column}": []
        if column not in given or batch.all_equal(column, usual.get(column, _NULL)[0])
        else given[column]
        for column in shape
    }


def _text(name: str, shape: Shape, batch: Batch) -> Mapping[str, Any]:
    if name in _BY_LEASE:
        return _by_lease(name, batch)
    return {name: json.dumps([_record(shape, row) for row in batch.rows(*shape)])}


def _by_lease(name: str, batch: Batch, usual: tuple[Any, ...] | None = None) -> Mapping[str, Any]:
    """One JSON object: `id token` -> the row's other columns, without nulls.

    The key has both, because a batch may contain a stale and the current lease of a job. Rows equal
    to `usual` need no JSON.
    """
    columns = _BY_LEASE[name]
    ids, tokens, rows = batch["id"], batch["token"], list(batch.rows(*columns))
    plain = [row == usual for row in rows]
    keyed = {
        f"{id} {token}": {c: v for c, v in zip(columns, row, strict=True) if v is not None}
        for id, token, row in zip(ids, tokens, rows, strict=True)
        if row != usual
    }
    return {
        f"{name}__by_lease": json.dumps(keyed),
        f"{name}__plain_ids": list(compress(ids, plain)),
        f"{name}__plain_tokens": list(compress(tokens, plain)),
    }


def _recordset(name: str, shape: Shape) -> str:
    typed = ", ".join(
        # A JSON value is text inside the batch, so that it is stored unchanged.
        f"{column} {'text' if type == 'json' else _TYPES[type]}"
        for column, type in shape.items()
    )
    picked = ", ".join(
        f"cast({column} as json) as {column}" if type == "json" else column
        for column, type in shape.items()
    )
    # Text first: a driver with a JSON encoder would encode ours a second time.
    given = f"cast(cast(:{name} as text) as json)"
    return f"(select {picked} from json_to_recordset({given}) as {name}({typed}))"


def _record(shape: Shape, row: Sequence[Any]) -> dict[str, Any]:
    return {
        column: _plain(value) for column, value in zip(shape, row, strict=True) if value is not None
    }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _value(value: Any) -> Any:
    return value.total_seconds() if isinstance(value, timedelta) else value
