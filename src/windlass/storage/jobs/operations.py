"""Verbs on bulk operations: freeze a set of jobs, work on it batch by batch, stop, tell.

Who works on an operation holds its token for a while. A batch, what became of its jobs and the
counts are stored together, so that a process which dies leaves nothing half told.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from windlass.core.access.audit import NewAuditEntry
from windlass.core.jobs.models import Scope
from windlass.core.jobs.operations import (
    ItemState,
    Operation,
    OperationItem,
    OperationState,
    OperationTarget,
)
from windlass.core.payloads.json_text import dump_json
from windlass.ids import JobId, OperationId
from windlass.storage.access import account_rows
from windlass.storage.access.audit import append, run_audited
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database, Session
from windlass.storage.jobs.bulk import apply
from windlass.storage.sql import rows
from windlass.storage.sql.statements import Batch

#: Jobs of an operation frozen with one statement.
_CHUNK = 5000


class OperationProgress(NamedTuple):
    """The result of a batch: how many jobs it looked at and settled. A job that moved meanwhile is
    looked at again."""

    looked: int
    settled: int
    stop_requested: bool = False


class OperationVerbs:
    _db: Database

    @retry_deadlocks
    async def create_operation(
        self, operation: Operation, jobs: Sequence[JobId], *, entry: NewAuditEntry | None = None
    ) -> None:
        """Begin an operation on these jobs, in their order; all of it or nothing is stored."""
        async with self._db.transaction() as session:
            await session.run(
                "create_operation",
                id=operation.id,
                tenant_id=operation.tenant,
                action=operation.action,
                query=operation.query,
                reason=operation.reason,
                total=len(jobs),
                actor=operation.actor,
                actor_kind=operation.actor_kind,
                actor_name=operation.actor_name,
                created_by=operation.created_by,
                undo_of=operation.undo_of,
                changes=operation.changes and dump_json(dict(operation.changes), what="changes"),
            )
            for start in range(0, len(jobs), _CHUNK):
                chunk = jobs[start : start + _CHUNK]
                first = start + 1
                items = Batch(place=range(first, first + len(chunk)), job_id=chunk)
                await session.run("add_operation_items", operation_id=operation.id, items=items)
            if entry is not None:
                await append(session, entry)

    async def operation(self, scope: Scope, id: OperationId) -> Operation | None:
        """One operation, or None if there is none or the scope may not see it."""
        found = await self._db.run("operation", id=id, tenant_id=scope.tenant)
        return account_rows.operation(found[0]) if found else None

    async def operations(
        self, scope: Scope, *, before: OperationId | None = None, most: int = 50
    ) -> list[Operation]:
        """Operations newest first; `before` is the last one already seen."""
        found = await self._db.run("operations", tenant_id=scope.tenant, before=before, most=most)
        return [account_rows.operation(row) for row in found]

    async def operation_items(
        self, id: OperationId, state: ItemState, *, after: int = 0, most: int = 100
    ) -> list[OperationItem]:
        """Jobs of an operation in one state, in their order; `after` is the last place seen."""
        found = await self._db.run(
            "operation_items", operation_id=id, state=state, after=after, most=most
        )
        return [account_rows.item(row) for row in found]

    async def operation_definitions(self, id: OperationId) -> list[OperationTarget]:
        """The definitions and tenants of the jobs that an operation changed and that are kept."""
        found = await self._db.run("operation_definitions", operation_id=id)
        return [OperationTarget(row["definition"], row["tenant_id"]) for row in found]

    async def claim_operation(self, *, hold: timedelta) -> Operation | None:
        """The operation that waits longest, for one process to work on; None if none waits."""
        if not await self._db.run("due_operation"):  # a look costs nothing, taking may wait
            return None
        found = await run_audited(self._db, "claim_operation", entry=None, seconds=hold)
        return account_rows.operation(found[0]) if found else None

    @retry_deadlocks
    async def work_operation(
        self, operation: Operation, *, most: int, hold: timedelta
    ) -> OperationProgress | None:
        """Act on the next jobs of an operation and record it; None if its token is no longer ours."""
        async with self._db.transaction() as session:
            held = await _held(session, operation, hold)
            if held is None or held:
                return None if held is None else OperationProgress(0, 0, stop_requested=True)
            found = await session.run("next_operation_items", operation_id=operation.id, most=most)
            items = [(int(row["place"]), JobId(rows.uuid(row["job_id"]))) for row in found]
            settled = await apply(session, operation, items) if items else []
            if settled:
                await _finish_items(session, operation, settled)
            return OperationProgress(len(items), len(settled))

    @retry_deadlocks
    async def fail_item(self, operation: Operation, note: str, *, hold: timedelta) -> None:
        """Pass the next job of an operation by: acting on it fails."""
        async with self._db.transaction() as session:
            if await _held(session, operation, hold) is None:
                return
            found = await session.run("next_operation_items", operation_id=operation.id, most=1)
            for row in found:
                item = OperationItem(row["place"], JobId(rows.uuid(row["job_id"])), "failed", note)
                await _finish_items(session, operation, [item])

    async def release_operation(self, operation: Operation) -> None:
        """Let others go on with an operation."""
        await self._db.run("release_operation", id=operation.id, token=operation.token)

    async def stop_operation(
        self, scope: Scope, id: OperationId, *, entry: NewAuditEntry | None = None
    ) -> bool:
        """Ask an operation to stop; False if it has ended, or was asked before."""
        return bool(
            await run_audited(
                self._db, "stop_operation", entry=entry, id=id, tenant_id=scope.tenant
            )
        )

    async def finish_operation(
        self, operation: Operation, state: OperationState, *, entry: NewAuditEntry | None = None
    ) -> bool:
        """End an operation; False if its token is no longer ours."""
        return bool(
            await run_audited(
                self._db,
                "finish_operation",
                entry=entry,
                id=operation.id,
                token=operation.token,
                state=state,
            )
        )

    async def prune_operations(self, *, older: timedelta) -> int:
        """Forget an operation that ended so long ago. Answers how many."""
        return len(await run_audited(self._db, "prune_operations", entry=None, seconds=older))


async def _held(session: Session, operation: Operation, hold: timedelta) -> bool | None:
    """Lock the operation and check if a stop is requested; None if the token is stale."""
    held = await session.run(
        "renew_operation", id=operation.id, token=operation.token, seconds=hold
    )
    return held[0]["stop_requested_at"] is not None if held else None


async def _finish_items(
    session: Session, operation: Operation, items: Sequence[OperationItem]
) -> None:
    await session.run(
        "finish_operation_items",
        operation_id=operation.id,
        settled=Batch(
            place=[item.place for item in items],
            state=[item.state for item in items],
            note=[item.note for item in items],
        ),
    )
    states = [item.state for item in items]
    await session.run(
        "add_operation_counts",
        id=operation.id,
        done=states.count("done"),
        failed=states.count("failed"),
        skipped=states.count("skipped"),
    )
