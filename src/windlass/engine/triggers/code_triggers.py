"""Triggers declared in code: a sync updates their rows, except what an operator edited."""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, SYSTEM_TENANT
from windlass.core.jobs.states import JobState
from windlass.core.triggers.declared_trigger import DeclaredTrigger
from windlass.core.triggers.schedule import in_zone
from windlass.core.triggers.trigger import Trigger
from windlass.core.triggers.trigger_fields import (
    code_snapshot,
    fields_of,
    merge_trigger_with_code,
    name_in_code,
    type_of,
    with_next_run,
)
from windlass.engine.access.tenants import Tenants
from windlass.errors import TriggerUnreadable
from windlass.ids import new_trigger_id
from windlass.storage.storage import Storage


class CodeTriggers:
    """Triggers in code belong to the tenant `default`, those of system definitions to `system`."""

    def __init__(self, storage: Storage, tenants: Tenants) -> None:
        self._storage = storage
        self._tenants = tenants
        self._unsynced: dict[str, tuple[Definition, Sequence[DeclaredTrigger]]] = {}
        self._syncing = asyncio.Lock()
        #: True while no declared trigger waits for its row.
        self.settled = True

    def declare(self, definition: Definition, triggers: Sequence[DeclaredTrigger]) -> None:
        """Register all triggers of a definition in code; the next sync writes their rows."""
        self._unsynced[definition.key] = definition, triggers
        self.settled = False

    async def sync(self) -> None:
        """Update the rows of triggers declared since the last sync. An operator's edits, and a
        trigger an operator created under the same name, stay. What an operator deleted stays
        deleted. Triggers that are gone from code no longer fire."""
        if not self._unsynced:
            return
        async with self._syncing:
            declared = dict(self._unsynced)
            rows = await self._storage.triggers.triggers(ALL_TENANTS)
            # After the rows: a trigger deleted between the two reads is in one of them.
            deleted = await self._storage.triggers.deleted_triggers()
            for definition, triggers in declared.values():
                await self._sync(definition, triggers, rows, deleted)
            for key, each in declared.items():
                if self._unsynced.get(key) is each:
                    del self._unsynced[key]
            self.settled = not self._unsynced

    async def _sync(
        self,
        definition: Definition,
        triggers: Sequence[DeclaredTrigger],
        rows: Sequence[Trigger],
        deleted: Collection[tuple[str, str, str]],
    ) -> None:
        by_name = {(row.tenant, name_in_code(row)): row for row in rows}
        gone_for_good = {(tenant, name) for tenant, name, _ in deleted}
        named = {each.name_for(definition.key): each for each in triggers}
        for declared in named.values():
            trigger = await self._build_trigger(definition, declared)
            row = by_name.get((trigger.tenant, trigger.name))
            if row is None and (trigger.tenant, trigger.name) in gone_for_good:
                continue  # an operator deleted it
            if row is None:
                await self._storage.triggers.create_trigger(
                    with_next_run(trigger, await self._storage.now())
                )
            elif row.origin == "code" and (
                row.code_hash != trigger.code_hash or row.missing_from_code
            ):
                await self._update_row(row, trigger)
            elif not row.unreadable and await self._is_restarting(row):
                await self._start(row)
        await self._restart_operator_triggers(definition, rows)
        for row in rows:
            gone = row.definition == definition.key and name_in_code(row) not in named
            if row.unreadable:
                continue
            if gone and row.origin == "code" and not row.edited and not row.missing_from_code:
                await self._storage.triggers.update_trigger(row.id, _missing)
        for _, name, of in deleted:
            if of == definition.key and name not in named:
                await self._storage.triggers.clear_deleted_triggers(of, name=name)

    async def _restart_operator_triggers(
        self, definition: Definition, rows: Sequence[Trigger]
    ) -> None:
        """Let the definition's init triggers that operators created fire at this start too."""
        for row in rows:
            own = row.origin == "operator" and row.definition == definition.key
            if own and not row.unreadable and await self._is_restarting(row):
                await self._start(row)

    async def _build_trigger(self, definition: Definition, declared: DeclaredTrigger) -> Trigger:
        tenant = SYSTEM_TENANT if definition.system else DEFAULT_TENANT
        schedule = declared.schedule
        if schedule is not None:
            schedule = in_zone(schedule, await self._tenants.zone_of(tenant))
        trigger = Trigger(
            id=new_trigger_id(),
            tenant=tenant,
            name=declared.name_for(definition.key),
            type=type_of(schedule),
            definition=definition.key,
            payload=dict(declared.payload),
            misfire=declared.misfire,
            overlap=declared.overlap,
            event_name=declared.event_name,
            condition=declared.condition,
            delay_seconds=declared.delay_seconds,
            dedupe_window_seconds=declared.dedupe_window_seconds,
            dedupe_key=declared.dedupe_key,
            enabled=declared.enabled,
            max_attempts=declared.max_attempts,
            origin="code",
            # Hash the declaration alone: another time zone of the tenant does not change it.
            code_hash=sha256(repr((definition.key, declared)).encode()).hexdigest(),
            **({} if schedule is None else fields_of(schedule)),
        )
        return replace(trigger, code=code_snapshot(trigger))

    async def _update_row(self, row: Trigger, trigger: Trigger) -> None:
        now = await self._storage.now()
        # An unreadable row that the code may not overwrite reports the error when it is due.
        with suppress(TriggerUnreadable):
            await self._storage.triggers.update_trigger(
                row.id, lambda row: merge_trigger_with_code(row, trigger, now)
            )

    async def _start(self, seen: Trigger) -> None:
        """Make an init trigger due, unless another process has done so since it was read."""
        now = await self._storage.now()

        def due(row: Trigger) -> Trigger:
            as_seen = row.enabled and (row.next_run_at, row.last_job_id) == (None, seen.last_job_id)
            return replace(row, next_run_at=now) if as_seen else row

        await self._storage.triggers.update_trigger(seen.id, due)

    async def _is_restarting(self, trigger: Trigger) -> bool:
        """Check if an init trigger fires at this start: not while its last job is open and, if it
        runs once, not after a job has completed."""
        if trigger.type != "init" or not trigger.enabled or trigger.next_run_at is not None:
            return False
        if trigger.last_job_id is None:
            return True
        last = await self._storage.jobs.get(ALL_TENANTS, trigger.last_job_id)
        if last is None:  # pruned, so it ended long ago
            return not trigger.run_once
        return last.ended and not (trigger.run_once and last.state is JobState.COMPLETED)


def _missing(row: Trigger) -> Trigger:
    return replace(row, missing_from_code=True)
