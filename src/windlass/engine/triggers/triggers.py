"""Triggers: rules that create jobs at certain times (schedules) or on an event."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Unpack

from windlass.core.access.principal import Principal
from windlass.core.access.roles import Right
from windlass.core.definitions.options import whole_number_rule
from windlass.core.instants import instant
from windlass.core.jobs.dedupe import check_name
from windlass.core.jobs.models import (
    ALL_TENANTS,
    DEFAULT_TENANT,
    SYSTEM_TENANT,
    Receipt,
    Scope,
)
from windlass.core.triggers import condition as conditions
from windlass.core.triggers import schedule_preview, time_zones
from windlass.core.triggers.declared_trigger import Length, seconds
from windlass.core.triggers.schedule import CronSchedule, Schedule, in_zone
from windlass.core.triggers.schedule_preview import SchedulePreview
from windlass.core.triggers.trigger import Trigger
from windlass.core.triggers.trigger_fields import (
    NO_TIMES,
    fields_of,
    next_run_from_now,
    type_of,
    with_edited_fields,
    with_next_run,
    without_edits,
)
from windlass.core.triggers.trigger_options import (
    CHECKED,
    TriggerChanges,
    TriggerFilter,
    TriggerOptions,
    parse_schedule,
    trigger_matcher,
    type_after,
)
from windlass.engine.jobs.enqueue_rights import EnqueueRights, trigger_owner
from windlass.engine.nudges import Nudges
from windlass.errors import (
    AmbiguousId,
    OptionInvalid,
    TriggerExists,
    TriggerNotFound,
    TriggerUnreadable,
)
from windlass.ids import (
    DefinitionKey,
    TenantId,
    TriggerId,
    new_trigger_id,
    parse_job_id,
    parse_suffix,
)
from windlass.storage.storage import Storage
from windlass.storage.triggers.triggers import FiringOutcome
from windlass.telemetry import Telemetry

if TYPE_CHECKING:
    from windlass.engine.access.tenants import Tenants
    from windlass.engine.jobs.jobs import Jobs
    from windlass.engine.triggers.job_factory import JobFactory


class Triggers:
    """Verbs on triggers. Every change of a trigger's times recomputes its next run.

    Verbs that let a trigger create jobs take `by`, the principal whose right to enqueue is checked
    and stored with the trigger; None is the program itself.
    """

    def __init__(
        self,
        storage: Storage,
        job_factory: "Callable[[], JobFactory]",
        jobs: "Callable[[], Jobs]",
        tenants: "Callable[[], Tenants]",
        nudges: Nudges,
        telemetry: Telemetry,
        rights: EnqueueRights,
    ) -> None:
        self._storage = storage
        self._job_factory = job_factory
        self._jobs = jobs
        self._tenants = tenants
        self._nudges = nudges
        self._telemetry = telemetry
        self._rights = rights

    async def create(
        self,
        name: str,
        *,
        definition: str,
        tenant: str = DEFAULT_TENANT,
        created_by: str | None = None,
        schedule: Schedule | str | None = None,
        event: str | None = None,
        dry_run: bool = False,
        by: Principal | None = None,
        **options: Unpack[TriggerOptions],
    ) -> Trigger:
        """Create a trigger: by `schedule`, or for an `event` whose data meet a `condition`.

        A string as schedule is a cron expression; without a zone it is in the tenant's. A `dry_run`
        checks the trigger and returns it without storing it.
        """
        if (schedule is None) == (event is None):
            raise OptionInvalid("trigger", name, allowed="either a schedule or an event")
        owner = TenantId(check_name("tenant", tenant))
        about: dict[str, Any] = {**options, "name": name}
        if schedule is not None:
            schedule = parse_schedule(name, schedule)
            about["schedule"] = schedule
        if event is not None:
            about["event"] = event
        blank = Trigger(
            id=new_trigger_id(),
            tenant=owner,
            name=name,
            type=type_of(schedule),
            definition=DefinitionKey(definition),
            created_by=created_by,
            saved_by=trigger_owner(by),
        )
        await self._rights.require_trigger(by, blank)
        trigger = replace(blank, **await self._fields(blank, about, new=True))
        await self._job_factory().check(trigger)
        trigger = with_next_run(trigger, await self._storage.now())
        if dry_run:
            await self._check_free(trigger)
            return trigger
        if not await self._storage.triggers.create_trigger(trigger):
            raise TriggerExists(name, tenant=tenant)
        return await self._after_save(trigger)

    async def last_outcomes(
        self, ids: Sequence[TriggerId]
    ) -> Mapping[TriggerId, Sequence[FiringOutcome]]:
        """The jobs that triggers by time made for their last twenty due times, the newest last."""
        return await self._storage.triggers.last_outcomes(ids)

    async def get(self, id: str, scope: Scope = ALL_TENANTS) -> Trigger:
        """A trigger by its id, its name, or an unambiguous suffix of its id of six or more
        characters."""
        if (parsed := parse_job_id(id)) and (
            found := await self._storage.triggers.trigger(scope, TriggerId(parsed))
        ):
            return found
        known, suffix = await self._storage.triggers.triggers(scope), parse_suffix(id)
        named = [trigger for trigger in known if trigger.name == id]
        ending = [trigger for trigger in known if suffix and trigger.id.hex.endswith(suffix)]
        match named, ending:
            case ([one], _) | ([], [one]):
                return one
            case [], []:
                raise TriggerNotFound(id, known=[trigger.name for trigger in known])
            case [], _:
                raise AmbiguousId(id, [each.id for each in ending], said="triggers end in")
            case _:  # a name is unique within a tenant only
                raise AmbiguousId(
                    id,
                    [each.id for each in named],
                    said="tenants have a trigger",
                    hint="Name the tenant, or give the id.",
                )

    async def list(
        self,
        kind: Literal["time", "event"] | None = None,
        scope: Scope = ALL_TENANTS,
        *,
        system: bool = False,
        **chosen: Unpack[TriggerFilter],
    ) -> Sequence[Trigger]:
        """List triggers by tenant and name: all, those by time, or those by event, that match every
        filter. Those of the tenant `system` only with `system`."""
        fits = trigger_matcher(chosen)
        shown = system or scope.tenant is not None
        return [
            trigger
            for trigger in await self._storage.triggers.triggers(scope)
            if (shown or trigger.tenant != SYSTEM_TENANT)
            and (kind is None or (trigger.type == "event") == (kind == "event"))
            and fits(trigger)
        ]

    async def schedules(
        self,
        scope: Scope = ALL_TENANTS,
        *,
        system: bool = False,
        **chosen: Unpack[TriggerFilter],
    ) -> Sequence[Trigger]:
        """List schedules by tenant and name that match every filter. Those of the tenant `system`
        only with `system`."""
        return await self.list("time", scope, system=system, **chosen)

    async def update(
        self,
        id: str,
        scope: Scope = ALL_TENANTS,
        *,
        dry_run: bool = False,
        by: Principal | None = None,
        **changes: Unpack[TriggerChanges],
    ) -> Trigger:
        """Change the given options of a trigger. New times count from now. If code declares the
        trigger, the edits survive a sync, and `edited` names them. A `dry_run` only returns the
        result."""
        trigger = await self.get(id, scope)
        stops = changes == {"enabled": False}  # stopping it needs no right to enqueue
        if not stops:
            await self._rights.require_trigger(by, trigger)
        saved = {} if stops else {"saved_by": trigger_owner(by)}
        if stops and trigger.unreadable and not dry_run:
            return await self._stop(trigger)
        return await self._change(trigger, changes, saved, dry_run=dry_run)

    async def reschedule(
        self, id: str, schedule: Schedule | str, scope: Scope = ALL_TENANTS
    ) -> Trigger:
        """Give a trigger a new schedule, also of another type."""
        return await self.update(id, scope, schedule=schedule)

    async def enable(
        self, id: str, scope: Scope = ALL_TENANTS, *, by: Principal | None = None
    ) -> Trigger:
        """Enable a trigger from now on."""
        return await self.update(id, scope, by=by, enabled=True)

    async def disable(self, id: str, scope: Scope = ALL_TENANTS) -> Trigger:
        """Disable a trigger; its last run stays known."""
        return await self.update(id, scope, enabled=False)

    async def reset(
        self, id: str, scope: Scope = ALL_TENANTS, *, by: Principal | None = None
    ) -> Trigger:
        """Undo all edits of a trigger declared in code."""
        trigger = await self.get(id, scope)
        await self._rights.require_trigger(by, trigger)
        if trigger.code is None:
            raise OptionInvalid("trigger", trigger.name, allowed="one that is declared in code")
        now = await self._storage.now()
        return await self._store(
            trigger, lambda row: replace(with_next_run(without_edits(row), now), saved_by=None)
        )

    async def run(
        self,
        id: str,
        scope: Scope = ALL_TENANTS,
        *,
        created_by: str | None = None,
        by: Principal | None = None,
    ) -> Receipt:
        """Create a job of a schedule now; its next run stays."""
        trigger = await self.get(id, scope)
        await self._rights.require_trigger(by, trigger, Right.TRIGGERS_FIRE)
        if trigger.type == "event":
            raise OptionInvalid("trigger", trigger.name, allowed="one by time: emit the event")
        job = await self._job_factory().now(trigger, await self._storage.now(), created_by)
        return await self._jobs().enqueue(job)

    async def warnings(self, id: str, scope: Scope = ALL_TENANTS) -> Sequence[str]:
        """Warnings about a trigger: clock changes, day of month against weekday, runs that a dedupe
        window swallows, a window without a key."""
        return await self.warnings_of(await self.get(id, scope))

    async def warnings_of(self, trigger: Trigger) -> Sequence[str]:
        """The warnings about a given trigger, stored or not."""
        now = await self._storage.now()
        return [
            *schedule_preview.trigger_warnings(trigger, now),
            *self._dedupe_warnings(trigger, now),
        ]

    async def preview(
        self,
        schedule: Schedule | str,
        *,
        tz: str | None = None,
        after: datetime | None = None,
        limit: int = 5,
        dedupe_window: Length = None,
        tenant: str = DEFAULT_TENANT,
    ) -> SchedulePreview:
        """Describe a schedule in words, with its next runs (at most 1,000) after an instant or from
        now on, and with warnings, such as clock changes and runs that a dedupe window swallows.

        A string is a cron expression; without a zone it is in `tz`, else in the tenant's. Stores
        nothing.
        """
        read = parse_schedule("the schedule", schedule)
        if not whole_number_rule(1, schedule_preview.MOST_RUNS)(limit):
            raise OptionInvalid("limit", limit, allowed=f"1 to {schedule_preview.MOST_RUNS}")
        zone = tz or await self._tenants().zone_of(TenantId(check_name("tenant", tenant)))
        time_zones.zone(zone)
        window = seconds("dedupe_window", dedupe_window)
        start = await self._storage.now() if after is None else instant("after", after)
        return schedule_preview.preview_schedule(
            read, start, limit, zone, window=None if not window else timedelta(seconds=window)
        )

    async def delete(self, id: str, scope: Scope = ALL_TENANTS) -> None:
        """Delete a trigger; its jobs stay."""
        await self._storage.triggers.delete_trigger(scope, (await self.get(id, scope)).id)

    async def _stop(self, trigger: Trigger) -> Trigger:
        """Disable an unreadable trigger without changing the rest of its row."""
        error = str(TriggerUnreadable(trigger.name, trigger.unreadable))
        await self._storage.triggers.record_trigger_failure(trigger.id, error, stop=True)
        return await self._after_save(trigger)

    async def _change(
        self,
        trigger: Trigger,
        changes: TriggerChanges,
        saved: Mapping[str, str | None],
        *,
        dry_run: bool,
    ) -> Trigger:
        fields = {**await self._fields(trigger, changes), **saved}
        now = await self._storage.now()
        if changes != {"enabled": False}:  # a trigger that is no longer valid can still be stopped
            await self._job_factory().check(replace(trigger, **fields))

        def change(row: Trigger) -> Trigger:
            moved = bool({"schedule", "event", "enabled"} & set(changes))
            given = {*fields, "next_run_at"} if moved else {*fields}
            still = tuple(name for name in row.unreadable if name not in given)
            changed = with_edited_fields(replace(row, **fields, unreadable=still))
            if not moved:
                return changed
            # The last run as another type does not count.
            last = row.last_run_at if changed.type == row.type else None
            next_run_at = next_run_from_now(replace(changed, last_run_at=last), now)
            return replace(changed, next_run_at=next_run_at)

        if dry_run:
            await self._check_free(change(trigger))
            return change(trigger)
        return await self._store(trigger, change)

    async def _fields(
        self, trigger: Trigger, changes: Mapping[str, Any], *, new: bool = False
    ) -> dict[str, Any]:
        """The given options as checked fields. A new schedule or event may change the type."""
        fields: dict[str, Any] = {}
        type = type_after(trigger, changes)
        if type != trigger.type:
            fields |= {**NO_TIMES, "type": type}
        for option, value in changes.items():
            match option:
                case "schedule":
                    fields |= await self._times(trigger, value, new=new)
                case "condition" if type != "event" and value is not None:
                    raise OptionInvalid(option, value, allowed=f"{option} of a trigger by event")
                case "misfire" | "overlap" if type == "event" and value is not None:
                    raise OptionInvalid(option, value, allowed=f"{option} of a trigger by time")
                case "misfire" | "overlap" if type == "event":
                    continue
                case "condition":
                    fields["condition"] = value
                    if value is not None:
                        conditions.parse(value)
                case _ if option in CHECKED:
                    name, check = CHECKED[option]
                    fields[name] = check(value)
                case _:
                    known = ", ".join(sorted(TriggerChanges.__annotations__))
                    raise OptionInvalid("option", option, allowed=f"one of {known}")
        return fields

    async def _times(self, trigger: Trigger, given: Any, *, new: bool) -> dict[str, Any]:
        """A schedule as fields. Without a zone it keeps the trigger's, or else its tenant's."""
        schedule = parse_schedule(trigger.name, given)
        if schedule.name is not None or schedule.payload is not None:
            allowed = "a schedule without a name and a payload: those are the trigger's own"
            raise OptionInvalid("schedule", schedule.name or schedule.payload, allowed=allowed)
        if isinstance(schedule, CronSchedule) and schedule.tz is None:
            keeps = trigger.type == "cron" and not new and "timezone" not in trigger.unreadable
            zone = trigger.timezone if keeps else await self._tenants().zone_of(trigger.tenant)
            schedule = in_zone(schedule, zone)
        return fields_of(schedule)

    async def _store(self, trigger: Trigger, change: Callable[[Trigger], Trigger]) -> Trigger:
        stored = await self._storage.triggers.update_trigger(trigger.id, change)
        if stored is None:
            raise TriggerNotFound(trigger.name)
        if not stored:
            raise TriggerExists(change(trigger).name, tenant=trigger.tenant)
        return await self._after_save(trigger)

    async def _check_free(self, trigger: Trigger) -> None:
        for other in await self._storage.triggers.triggers(Scope(trigger.tenant)):
            if other.name == trigger.name and other.id != trigger.id:
                raise TriggerExists(trigger.name, tenant=trigger.tenant)

    async def _after_save(self, trigger: Trigger) -> Trigger:
        self._nudges.nudge_all()
        saved = await self.get(str(trigger.id))
        for warning in self._dedupe_warnings(saved, await self._storage.now()):
            self._telemetry.warn(warning, trigger=saved.name)
        return saved

    def _dedupe_warnings(self, trigger: Trigger, now: datetime) -> Sequence[str]:
        constant_key = self._job_factory().has_constant_key(trigger)
        return schedule_preview.dedupe_warnings(trigger, now, constant_key=constant_key)
