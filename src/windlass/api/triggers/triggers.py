"""`/triggers`: triggers by time and by event."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.jobs.jobs import target_tenant
from windlass.api.middleware import audit
from windlass.api.routing import Depends, Path, Query, Request, Response, Routes, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.core import wire
from windlass.core.jobs.models import DEFAULT_TENANT, Origin
from windlass.core.triggers.schedule import CronSchedule, Every, InitSchedule, Once, Schedule
from windlass.core.triggers.schedule_preview import MOST_RUNS
from windlass.core.triggers.trigger import Trigger, TriggerType
from windlass.core.triggers.trigger_fields import foreign_fields, type_from_fields
from windlass.errors import OptionInvalid, ScheduleInvalid, TriggerFieldsMixed

if TYPE_CHECKING:
    from windlass.api.schema.requests import NewTrigger, QueryInstant, TriggerEdit, TriggerTest

Id = Annotated[
    str,
    Path(
        description="A trigger's id, its last six or more characters, or its name.",
        min_length=1,
        max_length=191,
    ),
]
DryRun = Annotated[bool, Query(description="Check and preview it; store nothing.")]

#: Type -> the fields that make up its schedule.
_TIMES_OF: Mapping[str, tuple[str, ...]] = {
    "cron": ("cron", "timezone"),
    "interval": ("interval_seconds",),
    "once": ("at",),
    "init": ("run_once",),
}
_TIMES = tuple(field for fields in _TIMES_OF.values() for field in fields)


@dataclass(frozen=True, slots=True)
class TriggerFilters:
    """Filters of the list of triggers."""

    type: Annotated[TriggerType | None, Query()] = None
    definition: Annotated[str | None, Query(max_length=191)] = None
    event_name: Annotated[str | None, Query(max_length=191)] = None
    enabled: Annotated[bool | None, Query()] = None
    origin: Annotated[Origin | None, Query(description="Where they were declared.")] = None
    failing: Annotated[
        bool | None, Query(description="Only those whose last firing failed, or the others.")
    ] = None


def routes_for(noun: str) -> Routes:
    """Create the routes of schedules or of triggers; a schedule is a trigger by time."""
    routes = Routes(noun)
    by_time = noun == "schedules"
    one = f"a {noun.removesuffix('s')}"
    if by_time:
        _add_preview(routes)  # before `/{id}`, which would match `/preview`

    @routes.get(
        "",
        "triggers.read",
        paged("ScheduleEntry" if by_time else "Trigger"),
        summary=f"List {noun}",
    )
    async def find(
        caller: CurrentCaller,
        engine: ReadyEngine,
        paging: PageQuery,
        chosen: Annotated[TriggerFilters, Depends(TriggerFilters)],
    ) -> dict[str, Any]:
        triggers = await engine.triggers.list(
            "time" if by_time else None,
            caller.scope,
            type=chosen.type,
            definition=chosen.definition,
            event=chosen.event_name,
            enabled=chosen.enabled,
            origin=chosen.origin,
            failing=chosen.failing,
        )
        page = paging.cut(sorted(triggers, key=_sort_key), _sort_key)
        if not by_time:
            return {**page, "items": [wire.trigger(each) for each in page["items"]]}
        outcomes = await engine.triggers.last_outcomes([each.id for each in page["items"]])
        return {
            **page,
            "items": [
                {
                    **wire.trigger(each),
                    "last_outcomes": [
                        {name: wire.plain(value) for name, value in outcome._asdict().items()}
                        for outcome in outcomes.get(each.id, ())
                    ],
                }
                for each in page["items"]
            ],
        }

    @routes.post(
        "",
        "triggers.write",
        "TriggerAnswer",
        also=(200,),
        status_code=201,
        summary=f"Create {one}",
    )
    async def create(
        request: Request,
        response: Response,
        caller: CurrentCaller,
        engine: ReadyEngine,
        body: "NewTrigger",
        dry_run: DryRun = False,
    ) -> dict[str, Any]:
        type = _new_type(body.given_fields(), by_time=by_time)
        trigger = await engine.triggers.create(
            body.name,
            definition=body.definition,
            tenant=target_tenant(caller, body.tenant),
            created_by=caller.name,
            schedule=_schedule(body.name, type, body.given_fields()),
            event=body.event_name,
            dry_run=dry_run,
            by=caller.by,
            **_given_options(body, without=("name", "definition", "tenant", "event_name")),
        )
        if dry_run:
            audit.forget(request)
            response.status_code = 200
        return await render.trigger(engine, trigger)

    @routes.get("/{id}", "triggers.read", "TriggerAnswer", summary=f"Get {one}")
    async def get(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
        return await render.trigger(engine, await engine.triggers.get(id, caller.scope))

    @routes.patch("/{id}", "triggers.write", "TriggerAnswer", summary=f"Change {one}")
    async def update(
        request: Request,
        caller: CurrentCaller,
        engine: ReadyEngine,
        id: Id,
        body: "TriggerEdit",
        dry_run: DryRun = False,
    ) -> dict[str, Any]:
        """Omitted fields stay. New times count from now, also those of another type."""
        changes = _given_options(body)
        trigger = await engine.triggers.get(id, caller.scope)
        if (schedule := _changed_schedule(trigger, body.given_fields())) is not None:
            changes["schedule"] = schedule
        changed = await engine.triggers.update(
            id, caller.scope, dry_run=dry_run, by=caller.by, **changes
        )
        if dry_run:
            audit.forget(request)
        return await render.trigger(engine, changed)

    @routes.post("/{id}/enable", "triggers.write", "TriggerAnswer", summary=f"Enable {one}")
    async def enable(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
        enabled = await engine.triggers.enable(id, caller.scope, by=caller.by)
        return await render.trigger(engine, enabled)

    @routes.post("/{id}/disable", "triggers.write", "TriggerAnswer", summary=f"Disable {one}")
    async def disable(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
        disabled = await engine.triggers.disable(id, caller.scope)
        return await render.trigger(engine, disabled)

    @routes.post(
        "/{id}/reset", "triggers.write", "TriggerAnswer", summary=f"Reset {one} to the code"
    )
    async def reset(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
        reset = await engine.triggers.reset(id, caller.scope, by=caller.by)
        return await render.trigger(engine, reset)

    @routes.delete("/{id}", "triggers.write", status_code=204, summary=f"Delete {one}")
    async def delete(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> None:
        await engine.triggers.delete(id, caller.scope)

    return routes


def _add_preview(routes: Routes) -> None:
    @routes.get(
        "/preview", "triggers.read", "SchedulePreviewResponse", summary="Preview a schedule"
    )
    async def preview(
        caller: CurrentCaller,
        engine: ReadyEngine,
        cron: Annotated[str | None, Query(max_length=255)] = None,
        interval_seconds: Annotated[float | None, Query(allow_inf_nan=False)] = None,
        at: Annotated["QueryInstant | None", Query()] = None,
        timezone: Annotated[
            str | None, Query(max_length=64, description="By default the tenant's.")
        ] = None,
        after: Annotated[
            "QueryInstant | None",
            Query(description="Runs after this instant; by default from now."),
        ] = None,
        limit: Annotated[int, Query(ge=1, le=MOST_RUNS, description="Number of runs.")] = 5,
        dedupe_window_seconds: Annotated[
            float | None,
            Query(
                ge=0,
                allow_inf_nan=False,
                description="To find runs that this dedupe window would drop.",
            ),
        ] = None,
    ) -> dict[str, Any]:
        """Describes a schedule in words, lists its next runs, and warns of surprises. Stores
        nothing."""
        fields = {"cron": cron, "interval_seconds": interval_seconds, "at": at}
        type = _new_type(fields, by_time=True)
        schedule = times_of(type, fields)
        assert schedule is not None
        schedule_preview = await engine.triggers.preview(
            schedule,
            tz=timezone,
            after=after,
            limit=limit,
            dedupe_window=dedupe_window_seconds,
            tenant=caller.scope.tenant or DEFAULT_TENANT,
        )
        return {
            "words": schedule_preview.words,
            "timezone": schedule_preview.timezone,
            "runs": [
                {"at": wire.instant(run.at), "local": run.local, "note": run.note}
                for run in schedule_preview.runs
            ],
            "warnings": list(schedule_preview.warnings),
        }


routes = routes_for("triggers")


@routes.post("/{id}/test", "triggers.read", "TriggerTestResult", summary="Test a trigger")
async def test(
    caller: CurrentCaller, engine: ReadyEngine, id: Id, body: "TriggerTest"
) -> dict[str, Any]:
    """Reports if an event would create a job, with its payload, or why not. Stores nothing."""
    tried = await engine.trigger_dry_runs.test(
        id, event=body.event_id, data=body.data, scope=caller.scope
    )
    return {
        "matches": tried.matches,
        "because": tried.because,
        "payload": tried.payload,
        "error": None if tried.error is None else str(tried.error),
    }


def _sort_key(trigger: Trigger) -> str:
    return f"{trigger.tenant}\0{trigger.name}"


def _given_options(body: "TriggerEdit", without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The given fields except the times, as options; a null event is left out."""
    return {
        body.OPTIONS.get(name, name): value
        for name, value in body.given_fields().items()
        if name not in (*_TIMES, "type", *without) and (value is not None or name != "event_name")
    }


def _check_type(type: TriggerType, fields: Mapping[str, Any]) -> TriggerType:
    """Return the type; raise if a given field belongs to another type."""
    given = [name for name, value in fields.items() if value is not None]
    if strange := foreign_fields(type, given):
        raise TriggerFieldsMixed(type, strange)
    return type


def _new_type(fields: Mapping[str, Any], *, by_time: bool) -> TriggerType:
    """The type of a new trigger, as given or as its fields imply."""
    given = [name for name, value in fields.items() if value is not None]
    type = fields.get("type") or type_from_fields(given)
    allowed = "a type by time: cron, interval, once, init" if by_time else "the type of a trigger"
    if type is None:
        raise OptionInvalid("type", None, allowed=f"{allowed}, or a field that implies it")
    if by_time and type == "event":
        raise OptionInvalid("type", "event", allowed=allowed)
    if type == "event" and not fields.get("event_name"):
        raise OptionInvalid("event_name", None, allowed="a name, for a trigger of type event")
    return _check_type(type, fields)


def _schedule(name: str, type: TriggerType, fields: Mapping[str, Any]) -> Schedule | None:
    try:
        return times_of(type, fields)
    except ScheduleInvalid as error:
        raise error.named(name) from None


def times_of(type: TriggerType, fields: Mapping[str, Any]) -> Schedule | None:
    """The fields of a type as a schedule; an error names the field that is missing or wrong."""
    match type:
        case "cron" if fields.get("cron"):
            return CronSchedule(fields["cron"], fields.get("timezone"))
        case "interval" if fields.get("interval_seconds"):
            return _every(fields["interval_seconds"])
        case "once" if fields.get("at"):
            return Once(fields["at"])
        case "init":
            return InitSchedule(fields.get("run_once") is not False)
        case "event":
            return None
        case _:
            pass
    missing, what = _NEEDS[type]
    raise OptionInvalid(
        missing, fields.get(missing), allowed=f"{what}, for a trigger of type {type}"
    )


def _every(seconds: float) -> Every:
    try:
        return Every(seconds)
    except OptionInvalid:
        allowed = "seconds from 1 to those of 100 years"
        raise OptionInvalid("interval_seconds", seconds, allowed=allowed) from None


#: Type -> its required field, and a description of that field.
_NEEDS: Mapping[str, tuple[str, str]] = {
    "cron": ("cron", 'an expression such as "0 2 * * *"'),
    "interval": ("interval_seconds", "a number of seconds"),
    "once": ("at", "an instant"),
}


def _changed_schedule(trigger: Trigger, fields: Mapping[str, Any]) -> Schedule | None:
    """The changed schedule of a trigger, perhaps of another type; None if it stays."""
    given = [name for name, value in fields.items() if value is not None]
    # Only these fields may change the type: a trigger stays by event, or by time.
    implied = type_from_fields(
        [name for name in given if name in ("cron", "interval_seconds", "at")]
    )
    by_event = trigger.type == "event"
    if by_event and fields.get("event_name", trigger.event_name) is None:
        raise OptionInvalid("event_name", None, allowed="a name, for a trigger of type event")
    type = _check_type(
        fields.get("type") or (trigger.type if by_event else implied or trigger.type), fields
    )
    if by_event != (type == "event"):
        kind = "event" if by_event else "time"
        raise OptionInvalid("type", type, allowed=f"a type by {kind}: {trigger.name} is one")
    if by_event or (type == trigger.type and not {*_TIMES_OF[type]} & {*given}):
        return None
    before = {name: getattr(trigger, name) for name in _TIMES_OF[type] if type == trigger.type}
    new = {name: value for name, value in fields.items() if value is not None}
    return _schedule(trigger.name, type, before | new)
