"""The usual enqueue in few steps: jobs that have no key, wait for no other and are not on hold."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pymysql
from pymysql.constants import ER

from windlass.storage.mysql import dialect
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.faults import code_of
from windlass.storage.mysql.sql_literals import RawSql, filled, literal
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Rows, Statement

Job = tuple[Any, ...]
#: What a job may have in common with others of its batch: all but its place, id and payload.
Kind = Mapping[str, Any]

_COLUMNS = list(BATCHES["jobs"])
_ID, _PAYLOAD = _COLUMNS.index("id"), _COLUMNS.index("payload")
_COMMON = [column for column in _COLUMNS if column not in ("place", "id", "payload")]
#: As much as a claim will add to a row.
_ROOM = "-" * 48


def fast_enqueue(
    link: MysqlConnection, script: Sequence[Statement], params: Mapping[str, Any]
) -> Rows | None:
    """Run `sql/jobs/enqueue/fast_enqueue.sql` in the open transaction; what became of the jobs that it did not
    create. None, and nothing is changed, if not all of them are so plain."""
    jobs: Sequence[Job] = params["jobs"]
    common = [job[2:_PAYLOAD] + job[_PAYLOAD + 1 :] for job in jobs]
    kinds = {values: dict(zip(_COMMON, values, strict=True)) for values in set(common)}
    ids = [str(job[_ID]) for job in jobs]
    if not kinds or not all(map(_plain, kinds.values())) or len(set(ids)) < len(ids):
        return None
    look, stored, insert_live, insert_later, count = script
    found = _look(link, look, stored, ids, list(kinds.values()))
    if found is None:
        return None
    now = found.now
    answers = {values: found.answer(kind) for values, kind in kinds.items()}
    made = {values: kind for values, kind in kinds.items() if answers[values] == "created"}
    if made:
        live = {_is_due(kind, now) for kind in made.values()}
        if len(live) > 1:  # were one of two inserts refused, the other would have to be undone
            return None
        try:
            tails = {values: _tail(kind, found.gate(kind), now) for values, kind in made.items()}
        except OverflowError:  # later than there is a date for
            return None
        rows = [
            f"('{id}',{literal(job[_PAYLOAD])},{tails[values]})"
            for id, job, values in zip(ids, jobs, common, strict=True)
            if values in tails
        ]
        insert = insert_live if live == {True} else insert_later
        counts = Counter(_counted_as(kinds[values]) for values in common if values in tails)
        texts = [
            filled(insert, {"rows": RawSql(",".join(rows))}),
            filled(count, {"counted": RawSql(_counted(counts, now))}),
        ]
        if not _stored(link, texts):
            return None
    return [
        {"id": job[_ID], "status": answers[values], "existing_id": None}
        for job, values in zip(jobs, common, strict=True)
        if values not in made
    ]


def _plain(kind: Kind) -> bool:
    return (
        kind["dedupe_key"] is None
        and kind["idempotency_key"] is None
        and not kind["parents"]
        and not kind["held"]
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What there is when an enqueue begins."""

    now: datetime
    #: Whether a definition is enabled and its gate, by its key.
    definitions: Mapping[str, tuple[bool, str]]
    #: The state of each tenant.
    tenants: Mapping[str, str]

    def answer(self, kind: Kind) -> str:
        """What becomes of a job."""
        enabled, _ = self.definitions.get(kind["definition"], (None, ""))
        if not enabled:
            return "unknown_definition" if enabled is None else "disabled_definition"
        state = self.tenants.get(kind["tenant_id"], "deleted")
        if state == "deleted":
            return "unknown_tenant"
        return "created" if state == "active" else "suspended_tenant"

    def gate(self, kind: Kind) -> str:
        gate: str = kind["own_gate"] or self.definitions[kind["definition"]][1]
        return gate


def _look(
    link: MysqlConnection,
    look: Statement,
    stored: Statement,
    ids: Sequence[str],
    kinds: Sequence[Kind],
) -> _Found | None:
    """None if a job is stored already."""
    [found] = link.ask(
        look,
        first=min(ids),
        last=max(ids),
        definitions=tuple({kind["definition"] for kind in kinds}),
        tenants=tuple({kind["tenant_id"] for kind in kinds}),
    )
    if found["perhaps_stored"] and link.ask(stored, ids=tuple(ids)):
        return None
    definitions = json.loads(found["definitions"] or "[]")
    return _Found(
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


def _tail(kind: Kind, gate: str, now: datetime) -> str:
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


def _counted_as(kind: Kind) -> tuple[str, str, str]:
    return kind["tenant_id"], kind["queue"], kind["definition"]


def _counted(counts: Mapping[tuple[str, str, str], int], now: datetime) -> str:
    at = dialect.value(now)
    return ",".join([literal((at, *who, count, count)) for who, count in counts.items()])


def _stored(link: MysqlConnection, texts: Sequence[str]) -> bool:
    """Whether the jobs were stored; not, if another enqueue has just stored one of them."""
    if sum(map(len, texts)) > link.packet // 4:
        return False
    try:
        link.queries(texts, last=True)
    except UnicodeEncodeError:  # half a character: the long way says what becomes of it
        return False
    except pymysql.IntegrityError as error:
        if code_of(error) != ER.DUP_ENTRY:
            raise
        return False
    return True
