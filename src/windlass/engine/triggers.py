"""Triggers: rules that make jobs, at certain times (schedules) or when an event comes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Literal

from windlass.core import condition as conditions
from windlass.core.dedupe import check_name
from windlass.core.durations import duration
from windlass.core.models import (
    ALL_TENANTS,
    DEFAULT_TENANT,
    SYSTEM_TENANT,
    Definition,
    Misfire,
    Overlap,
    Scope,
    Trigger,
    TriggerType,
)
from windlass.core.schedule import Cron, Every, Init, Once, Schedule, first_run
from windlass.core.states import JobState
from windlass.core.wire import plain
from windlass.engine.making import Maker
from windlass.engine.nudges import Nudges
from windlass.errors import OptionInvalid, TriggerExists, TriggerNotFound
from windlass.ids import DefinitionKey, TenantId, TriggerId, new_trigger_id, parse_job_id
from windlass.storage.base import Storage

_TIME_TYPES: frozenset[TriggerType] = frozenset({"cron", "interval", "once", "init"})
Length = str | float | None


class Triggers:
    """What makes jobs by itself. Whoever changes a trigger recomputes its next run."""

    def __init__(self, storage: Storage, maker: Maker, nudges: Nudges) -> None:
        self._storage = storage
        self._maker = maker
        self._nudges = nudges
        self._unsynced: dict[tuple[TenantId, str], Trigger] = {}

    def declare(self, definition: Definition, schedule: Schedule) -> None:
        """Note a schedule in code; its row follows at the next sync."""
        fields = {"type": _type(schedule), **fields_of(schedule)}
        trigger = Trigger(
            id=new_trigger_id(),
            tenant=SYSTEM_TENANT if definition.system else DEFAULT_TENANT,
            name=definition.key,
            definition=definition.key,
            origin="code",
            code={name: plain(value) for name, value in fields.items()},
            code_hash=sha256(repr(sorted(fields.items())).encode()).hexdigest(),
            **fields,
        )
        self._unsynced[trigger.tenant, trigger.name] = trigger

    async def sync(self) -> None:
        """Make rows follow the schedules declared since the last sync. What an operator edited, or
        made under the same name, stays."""
        if not self._unsynced:
            return
        declared, self._unsynced = self._unsynced, {}
        rows = {(row.tenant, row.name): row for row in await self._storage.triggers(ALL_TENANTS)}
        for place, trigger in declared.items():
            row = rows.get(place)
            if row is None:
                await self._storage.add_trigger(await self._timed(trigger))
            elif row.origin == "code" and row.code_hash != trigger.code_hash and not row.edited:
                kept = replace(trigger, id=row.id, enabled=row.enabled)
                if trigger.type == row.type:
                    await self._storage.change_trigger(await self._timed(kept))
                elif await self._storage.drop_trigger(ALL_TENANTS, row.id):
                    await self._storage.add_trigger(await self._timed(kept))
            elif await self._starts_again(row):
                await self._storage.change_trigger(await self._timed(row))

    async def create(
        self,
        name: str,
        *,
        definition: str,
        schedule: Schedule | None = None,
        event: str | None = None,
        condition: Mapping[str, Any] | None = None,
        payload: Mapping[str, Any] | None = None,
        tenant: str = DEFAULT_TENANT,
        enabled: bool = True,
        misfire: Misfire = "fire_once",
        overlap: Overlap = "allow",
        delay: Length = None,
        dedupe_window: Length = None,
        max_attempts: int | None = None,
        created_by: str | None = None,
    ) -> Trigger:
        """Make a trigger: by `schedule`, or for an `event` whose data meet a `condition`."""
        if (schedule is None) == (event is None):
            raise OptionInvalid("trigger", name, allowed="either a schedule or an event")
        trigger = Trigger(
            id=new_trigger_id(),
            tenant=TenantId(check_name("tenant", tenant)),
            name=check_name("name", name),
            type=_type(schedule),
            definition=DefinitionKey(definition),
            payload=dict(payload or {}),
            enabled=enabled,
            misfire=_one_of("misfire", misfire, ("fire_once", "skip", "all")),
            overlap=_one_of("overlap", overlap, ("allow", "skip", "queue_one")),
            event_name=None if event is None else check_name("event", event),
            condition=condition,
            delay_seconds=_seconds("delay", delay),
            dedupe_window_seconds=_seconds("dedupe_window", dedupe_window),
            max_attempts=max_attempts,
            created_by=created_by,
            **({} if schedule is None else fields_of(schedule)),
        )
        if condition is not None:
            conditions.parse(condition)
        await self._maker.check(trigger)
        if not await self._storage.add_trigger(await self._timed(trigger)):
            raise TriggerExists(name, tenant=tenant)
        self._nudges.nudge_all()
        return await self.get(str(trigger.id))

    async def get(self, id: str, scope: Scope = ALL_TENANTS) -> Trigger:
        """A trigger by its id or name."""
        if (parsed := parse_job_id(id)) and (
            found := await self._storage.trigger(scope, TriggerId(parsed))
        ):
            return found
        for trigger in await self._storage.triggers(scope):
            if trigger.name == id:
                return trigger
        raise TriggerNotFound(id)

    async def list(
        self, kind: Literal["time", "event"] | None = None, scope: Scope = ALL_TENANTS
    ) -> Sequence[Trigger]:
        """Triggers by tenant and name: all, those by time, or those by event."""
        return [
            trigger
            for trigger in await self._storage.triggers(scope)
            if kind is None or (trigger.type == "event") == (kind == "event")
        ]

    async def schedules(self, scope: Scope = ALL_TENANTS) -> Sequence[Trigger]:
        """Triggers by time, by tenant and name."""
        return await self.list("time", scope)

    async def reschedule(self, id: str, schedule: Schedule, scope: Scope = ALL_TENANTS) -> Trigger:
        """Give a trigger other times of the same type."""
        trigger = await self.get(id, scope)
        if _type(schedule) != trigger.type:
            raise OptionInvalid(
                "schedule", _type(schedule), allowed=f"a schedule of type {trigger.type}"
            )
        return await self._change(replace(trigger, **fields_of(schedule)))

    async def enable(self, id: str, scope: Scope = ALL_TENANTS) -> Trigger:
        """Let a trigger make jobs again, from now on."""
        return await self._change(replace(await self.get(id, scope), enabled=True))

    async def disable(self, id: str, scope: Scope = ALL_TENANTS) -> Trigger:
        """Stop a trigger; when it last ran stays known."""
        return await self._change(replace(await self.get(id, scope), enabled=False))

    async def delete(self, id: str, scope: Scope = ALL_TENANTS) -> None:
        """Forget a trigger; the jobs it made stay."""
        await self._storage.drop_trigger(scope, (await self.get(id, scope)).id)

    async def _starts_again(self, trigger: Trigger) -> bool:
        """Whether an init trigger is to fire at this start: not while its last job is open, nor,
        if it runs once, after one has completed."""
        if trigger.type != "init" or not trigger.enabled or trigger.next_run_at is not None:
            return False
        if trigger.last_job_id is None:
            return True
        last = await self._storage.get(ALL_TENANTS, trigger.last_job_id)
        if last is None:  # pruned: it has ended long ago
            return not trigger.run_once
        return last.ended and not (trigger.run_once and last.state is JobState.COMPLETED)

    async def _change(self, trigger: Trigger) -> Trigger:
        await self._maker.check(trigger)
        if trigger.code is not None:
            now = {"type": trigger.type, **_times(trigger)}
            edited = {n for n, v in now.items() if plain(v) != trigger.code.get(n)}
            if not trigger.enabled:
                edited.add("enabled")
            trigger = replace(trigger, edited=tuple(sorted(edited)))
        if not await self._storage.change_trigger(await self._timed(trigger)):
            raise TriggerExists(trigger.name, tenant=trigger.tenant)
        self._nudges.nudge_all()
        return await self.get(str(trigger.id))

    async def _timed(self, trigger: Trigger) -> Trigger:
        """The trigger with its next run, counted from now."""
        schedule = schedule_of(trigger)
        if schedule is None or not trigger.enabled:
            return replace(trigger, next_run_at=None)
        return replace(trigger, next_run_at=first_run(schedule, await self._storage.now()))


def schedule_of(trigger: Trigger) -> Schedule | None:
    """The times of a trigger; None if it has none."""
    match trigger.type:
        case "cron":
            return Cron(trigger.cron or "", trigger.timezone)
        case "interval":
            return Every(trigger.interval_seconds or 0.0)
        case "once" if trigger.at is not None:
            return Once(trigger.at)
        case "init":
            return Init(trigger.run_once)
        case _:
            return None


def _times(trigger: Trigger) -> dict[str, Any]:
    schedule = schedule_of(trigger)
    return {} if schedule is None else fields_of(schedule)


def fields_of(schedule: Schedule) -> dict[str, Any]:
    """A schedule as the fields of a trigger."""
    match schedule:
        case Cron():
            return {"cron": schedule.expression, "timezone": schedule.tz or "UTC"}
        case Every():
            return {"interval_seconds": schedule.seconds}
        case Once():
            return {"at": schedule.at}
        case Init():
            return {"run_once": schedule.run_once}


def _type(schedule: Schedule | None) -> TriggerType:
    match schedule:
        case Cron():
            return "cron"
        case Every():
            return "interval"
        case Once():
            return "once"
        case Init():
            return "init"
        case None:
            return "event"


def _seconds(option: str, length: Length) -> float | None:
    return None if length is None else duration(length, option=option).total_seconds()


def _one_of(option: str, value: Any, words: tuple[str, ...]) -> Any:
    if value not in words:
        raise OptionInvalid(option, value, allowed=", ".join(words))
    return value
