"""Looks for rows that contradict the invariants of the queue. Reads only, in bounded steps.

Each rule is a condition on one row of one table, checked by one statement, so that jobs which move
meanwhile cause no false alarm. A statement reads a bounded number of rows; the next one continues.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from windlass.storage.database import Database
from windlass.storage.sql import rows

#: Rows that one statement reads.
_STEP = 5000
_FIRST = UUID(int=0)
#: No lease and no due time is set further ahead.
_LONGEST_LEASE = timedelta(days=1)
_LONGEST_WAIT = timedelta(days=36525)

_LIVE, _LATER, _ENDED = "windlass_live", "windlass_later", "windlass_ended"
_JOBS = (_LIVE, _LATER, _ENDED)


@dataclass(frozen=True, slots=True)
class IntegrityRule:
    """A condition that no row `j` of a table may meet."""

    name: str
    table: str
    broken: str
    #: The column that names the job.
    column: str = "id"

    @property
    def of_jobs(self) -> bool:
        return self.table in _JOBS


def _each(name: str, broken: str, tables: Sequence[str] = _JOBS) -> list[IntegrityRule]:
    return [IntegrityRule(name, table, broken) for table in tables]


def _in(table: str, id: str = "j.id") -> str:
    return f"exists (select 1 from {table} o where o.id = {id})"


def _gone(id: str) -> str:
    return " and ".join(f"not {_in(table, id)}" for table in _JOBS)


def _unguarded(kind: str, column: str) -> str:
    """Condition: the job's key is not reserved, so another job may be stored with it."""
    return (
        f"j.{column} is not null and not exists (select 1 from windlass_keys k where "
        f"k.tenant_id = j.tenant_id and k.kind = '{kind}' and k.key = j.{column} "
        "and k.job_id = j.id and k.open)"
    )


def _limited_by(kind: str, column: str) -> str:
    start = len(kind) + 1
    return (
        f"substr(l.name, 1, {start}) = '{kind}:' and substr(l.name, {start + 1}) = j.{column} "
        "and not exists (select 1 from windlass_holds h where h.job_id = j.id and h.name = l.name)"
    )


_UNSETTLED = "(select count(*) from windlass_parents p where p.child_id = j.id and not p.settled)"

RULES: Sequence[IntegrityRule] = (
    IntegrityRule("state", _LIVE, "j.state not in ('queued', 'running')"),
    IntegrityRule("state", _LATER, "j.state not in ('pending', 'queued')"),
    IntegrityRule("state", _ENDED, "j.state not in ('completed', 'canceled', 'dead_letter')"),
    IntegrityRule("one-row", _LIVE, f"{_in(_LATER)} or {_in(_ENDED)}"),
    IntegrityRule("one-row", _LATER, _in(_ENDED)),
    IntegrityRule(
        "lease",
        _LIVE,
        "j.state = 'running' and (j.lease_expires_at is null or j.worker_id is null "
        "or j.last_started_at is null or j.lease_token <= 0 or j.attempts <= 0)",
    ),
    IntegrityRule("lease-left", _LIVE, "j.state <> 'running' and j.lease_expires_at is not null"),
    *_each("lease-left", "j.lease_expires_at is not null", (_LATER, _ENDED)),
    IntegrityRule("lease-time", _LIVE, "j.lease_expires_at > :latest_lease"),
    *_each("due-time", "j.due_at > :latest_due", (_LIVE, _LATER)),
    *_each(
        "attempts", "j.attempts < 0 or j.attempts > j.max_attempts or j.attempts > j.lease_token"
    ),
    *_each(
        "token",
        "exists (select 1 from windlass_attempts a where a.job_id = j.id and a.number > j.lease_token)",
    ),
    *_each("end", "j.finished_at is not null", (_LIVE, _LATER)),
    IntegrityRule("end", _ENDED, "j.finished_at is null"),
    IntegrityRule(
        "waits", _LIVE, f"j.waits <> 0 or j.held or j.queued_at is null or {_UNSETTLED} > 0"
    ),
    IntegrityRule("waits", _LATER, f"j.state = 'pending' and j.waits <> {_UNSETTLED}"),
    IntegrityRule("waits", _ENDED, f"{_UNSETTLED} > 0"),
    IntegrityRule(
        "parents",
        "windlass_parents",
        f"({_gone('j.child_id')}) or not j.settled and {_gone('j.parent_id')}",
        "child_id",
    ),
    IntegrityRule(
        "hold-missing",
        _LIVE,
        "j.state = 'running' and exists (select 1 from windlass_limits l where "
        f"({_limited_by('definition', 'definition')}) or ({_limited_by('tenant', 'tenant_id')}) "
        f"or ({_limited_by('queue', 'queue')}))",
    ),
    IntegrityRule(
        "hold-left",
        "windlass_holds",
        f"not exists (select 1 from {_LIVE} o where o.id = j.job_id and o.state = 'running')",
        "job_id",
    ),
    *_each("dedupe-key", _unguarded("dedupe", "dedupe_key"), (_LIVE, _LATER)),
    *_each("idempotency-key", _unguarded("idempotency", "idempotency_key")),
    IntegrityRule(
        "key-left",
        "windlass_keys",
        f"j.kind = 'idempotency' and {_gone('j.job_id')} or j.kind = 'dedupe' and j.open "
        f"and not {_in(_LIVE, 'j.job_id')} and not {_in(_LATER, 'j.job_id')}",
        "job_id",
    ),
    IntegrityRule("attempt-left", "windlass_attempts", _gone("j.job_id"), "job_id"),
    *_each("tenant", "not exists (select 1 from windlass_tenants t where t.id = j.tenant_id)"),
)

#: Rules over several tables, as whole statements; their first column is the reported id.
_TWICE: Mapping[str, str] = {
    "due-time-twice": "select j.trigger_id as id, count(*) as n from windlass_jobs j "
    "where j.trigger_due_at is not null and j.trigger_id is not null and j.source = 'schedule' "
    "group by j.trigger_id, j.trigger_due_at having count(*) > 1 limit :most",
    "event-twice": "select j.source_ref as id, count(*) as n from windlass_jobs j "
    "where j.source = 'event' and j.trigger_id is not null and j.source_ref is not null "
    "group by j.source_ref, j.trigger_id having count(*) > 1 limit :most",
    "limit": "select l.name as id, l.max_running as n from windlass_limits l "
    "where l.max_running < (select count(*) from windlass_holds h where h.name = l.name) limit :most",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """A row that breaks a rule."""

    rule: str
    table: str
    id: str


class IntegrityVerbs:
    _db: Database

    async def violations(self, tenant: str | None = None) -> AsyncIterator[Violation]:
        """Rows that break a rule, in one tenant's jobs or in everything."""
        [clock] = await self._db.run("database_time")
        now = rows.instant(clock["now"])
        limits = {"latest_lease": now + _LONGEST_LEASE, "latest_due": now + _LONGEST_WAIT}
        for rule in RULES:
            if tenant is None or rule.of_jobs:
                async for id in self._broken(rule, tenant, limits):
                    yield Violation(rule.name, rule.table, str(id))
        if tenant is None:
            for name, text in _TWICE.items():
                for row in await self._db.query(text, {"most": _STEP}):
                    yield Violation(name, "windlass_jobs", str(row["id"]))

    async def _broken(
        self, rule: IntegrityRule, tenant: str | None, limits: Mapping[str, Any]
    ) -> AsyncIterator[UUID]:
        named = f"j.{rule.column}"
        text = (
            f"select {named} as id from {rule.table} j where {named} > :after and {named} <= :upto"
        )
        params: dict[str, Any] = {k: v for k, v in limits.items() if f":{k}" in rule.broken}
        if tenant is not None:
            text, params = f"{text} and j.tenant_id = :tenant", params | {"tenant": tenant}
        text = f"{text} and ({rule.broken})"
        after = _FIRST
        while (upto := await self._step(rule, after)) is not None:
            for row in await self._db.query(text, {**params, "after": after, "upto": upto}):
                yield rows.uuid(row["id"])
            after = upto

    async def _step(self, rule: IntegrityRule, after: UUID) -> UUID | None:
        """The id of the last row of the next step."""
        found = await self._db.query(
            f"select b.id from (select j.{rule.column} as id from {rule.table} j "
            f"where j.{rule.column} > :after order by j.{rule.column} limit :most) b "
            "order by b.id desc limit 1",
            {"after": after, "most": _STEP},
        )
        return rows.uuid(found[0]["id"]) if found else None
