"""Details of dead-letter groups: trend, tenants, code, and recovery."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from windlass.core.jobs.dead import DeadGroup
from windlass.core.jobs.models import Scope
from windlass.ids import WorkerId
from windlass.storage.jobs.dead import CompletedJob
from windlass.storage.leases.workers import WorkerCode
from windlass.storage.storage import Storage

if TYPE_CHECKING:
    from windlass.engine.definitions.definitions import Definitions

_HOUR = timedelta(hours=1)
_DAY_HOURS, _WEEK_HOURS = 24, 7 * 24
#: Hours in a slot of the week's trend.
_WEEK_SLOT = 6
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Codes = Mapping[WorkerId, WorkerCode]


class DeadGroupDetails:
    """Adds to groups what takes further reads: two for each definition, and one for all."""

    def __init__(self, storage: Storage, definitions: "Callable[[], Definitions]") -> None:
        self._storage = storage
        self._definitions = definitions

    async def add(self, groups: Sequence[DeadGroup], scope: Scope) -> Sequence[DeadGroup]:
        """The groups with their details."""
        if not groups:
            return groups
        keys = sorted({group.definition for group in groups})
        now = await self._storage.now()
        jobs = self._storage.jobs
        found = {
            key: await jobs.dead_group_details(
                scope, key, since=now - _WEEK_HOURS * _HOUR, slot_seconds=3600
            )
            for key in keys
        }
        successes = {key: await jobs.latest_successes(scope, key) for key in keys}
        codes = await self._storage.leases.worker_codes(_workers(groups, successes.values()))
        rows = await self._definitions().find(keys)
        detailed = []
        for group in groups:
            details = found[group.definition].get(group.fingerprint)
            row = rows.get(group.definition)
            hours = _hours(details.slots if details else {}, now)
            detailed.append(
                replace(
                    _recovery(group, successes[group.definition], codes),
                    trend_24h=hours[-_DAY_HOURS:],
                    trend_7d=tuple(
                        sum(hours[start : start + _WEEK_SLOT])
                        for start in range(0, _WEEK_HOURS, _WEEK_SLOT)
                    ),
                    tenant_ids=tuple(details.tenants) if details else (),
                    runbook_url=row.runbook_url if row else None,
                )
            )
        return detailed


def _hours(slots: Mapping[int, int], now: datetime) -> tuple[int, ...]:
    """The counts of the last seven days by the hour, that of now last."""
    last = (now - _EPOCH) // _HOUR
    return tuple(slots.get(hour, 0) for hour in range(last - _WEEK_HOURS + 1, last + 1))


def _workers(
    groups: Iterable[DeadGroup], successes: Iterable[Sequence[CompletedJob]]
) -> set[WorkerId]:
    ran = {success.worker_id for each in successes for success in each}
    return {id for id in ran | {group.worker_id for group in groups} if id is not None}


def _recovery(group: DeadGroup, successes: Iterable[CompletedJob], codes: Codes) -> DeadGroup:
    failed = codes.get(group.worker_id) if group.worker_id else None
    proofs = [each for each in successes if _proves_recovery(each, group, failed, codes)]
    group = replace(group, code=failed.code if failed else None)
    if not proofs:
        return group
    proof = max(proofs, key=lambda each: each.finished_at)
    code = codes.get(proof.worker_id) if proof.worker_id else None
    return replace(
        group,
        recovered=True,
        recovered_at=proof.finished_at,
        recovered_job_id=proof.id,
        recovered_code=code.code if code else None,
    )


def _proves_recovery(
    success: CompletedJob, group: DeadGroup, failed: WorkerCode | None, codes: Codes
) -> bool:
    """True for a success after the last failure, unless it is known to be of older code."""
    if success.finished_at <= group.last_at:
        return False
    code = codes.get(success.worker_id) if success.worker_id else None
    return failed is None or code is None or code.first_at >= failed.first_at
