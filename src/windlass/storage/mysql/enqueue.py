"""Fast path of `enqueue`: jobs without key, parents or hold."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pymysql
from pymysql.constants import ER

from windlass.storage.jobs.enqueue import EnqueueStatus
from windlass.storage.mysql import dialect
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.faults import error_code
from windlass.storage.mysql.sql_literals import RawSql, interpolate, literal
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Batch, Rows, Scripts, Statement

#: The columns that many jobs of a batch have in common: all but place, id and payload.
_SHARED = [column for column in BATCHES["jobs"] if column not in ("place", "id", "payload")]
#: The values of these columns, shared by one or more jobs of a batch.
Kind = Mapping[str, Any]

#: Reserves the space that a claim will add to a row.
_ROOM = "-" * 48


def fast_enqueue(
    connection: MysqlConnection, scripts: Scripts, params: Mapping[str, Any]
) -> Rows | None:
    """Run `fast_enqueue` in the open transaction, if every job is plain; returns the results of the
    jobs that it did not create."""
    jobs: Batch = params["jobs"]
    shared = list(jobs.rows(*_SHARED))
    kinds = {values: dict(zip(_SHARED, values, strict=True)) for values in set(shared)}
    ids = [str(id) for id in jobs["id"]]
    if not kinds or not all(map(_plain, kinds.values())) or len(set(ids)) < len(ids):
        return None
    look, stored, insert_live, insert_later, count = scripts["fast_enqueue"]
    found = _read_snapshot(connection, look, stored, ids, list(kinds.values()))
    if found is None:
        return None
    now = found.now
    statuses = {values: found.status(kind) for values, kind in kinds.items()}
    created = {
        values: kind for values, kind in kinds.items() if statuses[values] is EnqueueStatus.CREATED
    }
    if created:
        live = {_is_due(kind, now) for kind in created.values()}
        if len(live) > 1:  # if one of two inserts were refused, the other would have to be undone
            return None
        try:
            tails = {
                values: _row_tail(kind, found.gate(kind), now) for values, kind in created.items()
            }
        except OverflowError:  # later than the last possible date
            return None
        rows = [
            f"('{id}',{literal(payload)},{tails[values]})"
            for id, payload, values in zip(ids, jobs["payload"], shared, strict=True)
            if values in tails
        ]
        insert = insert_live if live == {True} else insert_later
        counts = Counter(_count_group(kinds[values]) for values in shared if values in tails)
        texts = [
            interpolate(insert, {"rows": RawSql(",".join(rows))}),
            interpolate(count, {"counted": RawSql(_counts_sql(counts, now))}),
        ]
        if not _store(connection, texts):
            return None
    return [
        {"id": id, "status": statuses[values], "existing_id": None}
        for id, values in zip(jobs["id"], shared, strict=True)
        if values not in created
    ]


def _plain(kind: Kind) -> bool:
    return (
        kind["dedupe_key"] is None
        and kind["idempotency_key"] is None
        and not kind["parents"]
        and not kind["held"]
    )


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The definitions and tenants of a batch when its enqueue begins."""

    now: datetime
    #: By key of a definition: enabled, and its gate.
    definitions: Mapping[str, tuple[bool, str]]
    #: The state of each tenant.
    tenants: Mapping[str, str]

    def status(self, kind: Kind) -> EnqueueStatus:
        """The outcome of enqueuing a job now."""
        enabled, _ = self.definitions.get(kind["definition"], (None, ""))
        if enabled is None:
            return EnqueueStatus.UNKNOWN_DEFINITION
        if not enabled:
            return EnqueueStatus.DISABLED_DEFINITION
        match self.tenants.get(kind["tenant_id"], "deleted"):
            case "deleted":
                return EnqueueStatus.UNKNOWN_TENANT
            case "active":
                return EnqueueStatus.CREATED
            case _:
                return EnqueueStatus.SUSPENDED_TENANT

    def gate(self, kind: Kind) -> str:
        gate: str = kind["own_gate"] or self.definitions[kind["definition"]][1]
        return gate


def _read_snapshot(
    connection: MysqlConnection,
    look: Statement,
    stored: Statement,
    ids: Sequence[str],
    kinds: Sequence[Kind],
) -> _Snapshot | None:
    """None if a job is stored already."""
    [found] = connection.ask(
        look,
        first=min(ids),
        last=max(ids),
        definitions=tuple({kind["definition"] for kind in kinds}),
        tenants=tuple({kind["tenant_id"] for kind in kinds}),
    )
    if found["perhaps_stored"] and connection.ask(stored, ids=tuple(ids)):
        return None
    definitions = json.loads(found["definitions"] or "[]")
    return _Snapshot(
        found["now_at"],
        {key: (bool(enabled), gate) for key, enabled, gate in definitions},
        dict(json.loads(found["tenants"] or "[]")),
    )


def _is_due(kind: Kind, now: datetime) -> bool:
    return _due_at(kind, now) <= now if kind["due_at"] else (kind["delay"] or 0) <= 0


def _due_at(kind: Kind, now: datetime) -> datetime:
    due_at: datetime | None = kind["due_at"]
    if due_at is None:
        return now + timedelta(seconds=kind["delay"] or 0)
    return due_at.astimezone(UTC).replace(tzinfo=None) if due_at.tzinfo else due_at


def _row_tail(kind: Kind, gate: str, now: datetime) -> str:
    """A row's values after its id and payload, in the order of the statement."""
    expires = kind["expires"]
    values = (
        _ROOM,
        kind["tenant_id"],
        kind["definition"],
        kind["queue"],
        gate,
        "queued",
        kind["priority"],
        _due_at(kind, now),
        kind["metadata"],
        kind["source"],
        kind["source_ref"],
        kind["correlation_id"],
        kind["created_by"],
        kind["trigger_id"],
        kind["trigger_due_at"],
        kind["on_parent_failure"],
        None if expires is None else now + timedelta(seconds=expires),
        kind["max_attempts"],
        kind["timeout_seconds"],
        now,
        now,
        now,
    )
    return ",".join([literal(dialect.value(value)) for value in values])


def _count_group(kind: Kind) -> tuple[str, str, str]:
    return kind["tenant_id"], kind["queue"], kind["definition"]


def _counts_sql(counts: Mapping[tuple[str, str, str], int], now: datetime) -> str:
    at = dialect.value(now)
    return ",".join([literal((at, *who, count, count)) for who, count in counts.items()])


def _store(connection: MysqlConnection, texts: Sequence[str]) -> bool:
    """Store the jobs; False if another enqueue has just stored one of them."""
    if sum(map(len, texts)) > connection.packet // 4:
        return False
    try:
        connection.queries(texts, last=True)
    except UnicodeEncodeError:  # a lone surrogate: the slow path reports the error
        return False
    except pymysql.IntegrityError as error:
        if error_code(error) != ER.DUP_ENTRY:
            raise
        return False
    return True
