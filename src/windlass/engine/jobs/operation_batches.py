"""Works on bulk operations batch by batch."""

from datetime import timedelta

from windlass.core.access.audit import NewAuditEntry
from windlass.core.access.audit_signatures import AuditKeys
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.operations import BulkAction, Operation, OperationState
from windlass.engine.access.audit import Audit
from windlass.engine.leases.maintenance import cancel_overdue
from windlass.engine.nudges import Nudges
from windlass.errors import WindlassError
from windlass.storage.jobs.operations import OperationProgress
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry

#: Jobs acted on in one transaction.
_BATCH = 100
#: Batches of one operation before another one has its turn.
_TURN = 10
#: How long an operation is held without a batch being finished; then another process goes on.
_HOLD = timedelta(seconds=60)


class OperationBatches:
    """Any number of processes may work: an operation is claimed, and each batch is one transaction."""

    def __init__(
        self, storage: Storage, audit: Audit, nudges: Nudges, telemetry: Telemetry
    ) -> None:
        self._storage = storage
        self._audit = audit
        self._nudges = nudges
        self._telemetry = telemetry

    async def work(self) -> int:
        """Work on all operations until nothing is left to do. Returns how many jobs were settled."""
        total = 0
        while operation := await self._storage.jobs.claim_operation(hold=_HOLD):
            settled = await self._process_batches(operation)
            total += settled or 0
            if settled is None:  # every job moved under our hands: they will have come to rest
                break
        return total

    async def _process_batches(self, operation: Operation) -> int | None:
        settled = 0
        for _ in range(_TURN):
            worked = await self._batch(operation)
            if worked is None:  # another process has it
                return settled
            if worked.stop_requested or not worked.looked:
                await self._end(operation, "stopped" if worked.stop_requested else "completed")
                return settled
            if not worked.settled:
                await self._storage.jobs.release_operation(operation)
                return None
            settled += worked.settled
            await self._after_batch(operation.action)
        await self._storage.jobs.release_operation(operation)
        return settled

    async def _batch(self, operation: Operation) -> OperationProgress | None:
        try:
            return await self._storage.jobs.work_operation(operation, most=_BATCH, hold=_HOLD)
        except (WindlassError, OSError):
            raise
        except Exception as error:  # noqa: BLE001  one job's fault, no outage
            self._telemetry.trouble("a bulk operation", error)
            return await self._one_by_one(operation)

    async def _one_by_one(self, operation: Operation) -> OperationProgress | None:
        settled = 0
        for _ in range(_BATCH):
            try:
                worked = await self._storage.jobs.work_operation(operation, most=1, hold=_HOLD)
            except (WindlassError, OSError):
                raise
            except Exception as error:  # noqa: BLE001  as above
                # Its kind only: what a driver says may repeat a payload.
                await self._storage.jobs.fail_item(operation, type(error).__name__, hold=_HOLD)
                settled += 1
                continue
            if worked is None:
                return None
            if worked.stop_requested or not worked.settled:
                return OperationProgress(settled + worked.looked, settled, worked.stop_requested)
            settled += worked.settled
        return OperationProgress(settled, settled)

    async def _end(self, operation: Operation, state: OperationState) -> None:
        now = await self._storage.jobs.operation(ALL_TENANTS, operation.id)
        if now is not None:
            entry = _audit_entry(now, state, self._audit.keys)
            await self._storage.jobs.finish_operation(operation, state, entry=entry)

    async def _after_batch(self, action: BulkAction) -> None:
        """Do at once what upkeep and workers would find later."""
        if action is BulkAction.CANCEL:
            await cancel_overdue(self._storage)
        elif action is not BulkAction.DISCARD:
            self._nudges.nudge_all()


def _audit_entry(
    operation: Operation, state: OperationState, keys: AuditKeys | None
) -> NewAuditEntry:
    return NewAuditEntry(
        tenant=operation.tenant,
        actor=operation.actor,
        actor_kind=operation.actor_kind,
        actor_name=operation.actor_name,
        action=f"operations.{state}",
        target_kind="operation",
        target_id=str(operation.id),
        after={
            "total": operation.total,
            "done": operation.done,
            "failed": operation.failed,
            "skipped": operation.skipped,
        },
        keys=keys,
    )
