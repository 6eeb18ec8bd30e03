"""`/triggers`: by time and by events."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response

from windlass.api import noting, shown
from windlass.api.callers import Calling, Ready
from windlass.api.paging import Paged
from windlass.api.routes.jobs import tenant_of
from windlass.api.routing import Routes
from windlass.api.shapes import NewTrigger, TriedWith, TriggerEdit
from windlass.core import wire
from windlass.core.schedule import Cron, Every, Init, Once, Schedule
from windlass.core.trigger import Trigger
from windlass.errors import OptionInvalid, ScheduleInvalid

Id = Annotated[
    str,
    Path(
        description="A trigger's id, its last six or more characters, or its name.",
        min_length=1,
        max_length=191,
    ),
]
DryRun = Annotated[bool, Query(description="Check it and tell what it would be; keep nothing.")]

#: Type -> the fields that are its times, and so become a schedule.
_TIMES_OF: Mapping[str, tuple[str, ...]] = {
    "cron": ("cron", "timezone"),
    "interval": ("interval_seconds",),
    "once": ("at",),
    "init": ("run_once",),
}
_TIMES = tuple(field for fields in _TIMES_OF.values() for field in fields)


def routes_for(noun: str) -> Routes:
    """The same routes for both nouns; a schedule is a trigger by time."""
    routes = Routes(noun)
    by_time = noun == "schedules"

    @routes.get("", "triggers.read", shown.paged(shown.Trigger), summary=f"List {noun}")
    async def find(caller: Calling, engine: Ready, paging: Paged) -> dict[str, Any]:
        found = await engine.triggers.list("time" if by_time else None, caller.scope)
        page = paging.cut(sorted(found, key=_place), _place)
        return {**page, "items": [wire.trigger(each) for each in page["items"]]}

    @routes.post(
        "", "triggers.write", shown.Trigger, also=(200,), status_code=201, summary="Make one"
    )
    async def create(
        request: Request,
        response: Response,
        caller: Calling,
        engine: Ready,
        body: NewTrigger,
        dry_run: DryRun = False,
    ) -> dict[str, Any]:
        if by_time and body.type == "event":
            raise OptionInvalid(
                "type", "event", allowed="a type by time: cron, interval, once, init"
            )
        trigger = await engine.triggers.create(
            body.name,
            definition=body.definition,
            tenant=tenant_of(caller, body.tenant),
            created_by=caller.name,
            schedule=_schedule(body.name, body.type, body.said()),
            event=body.event_name,
            dry_run=dry_run,
            by=caller.by,
            **_said(body, without=("name", "type", "definition", "tenant", "event_name")),
        )
        if dry_run:
            noting.forget(request)
            response.status_code = 200
        return wire.trigger(trigger)

    @routes.get("/{id}", "triggers.read", shown.Trigger, summary="One of them")
    async def get(caller: Calling, engine: Ready, id: Id) -> dict[str, Any]:
        return wire.trigger(await engine.triggers.get(id, caller.scope))

    @routes.patch("/{id}", "triggers.write", shown.Trigger, summary="Change it")
    async def update(
        request: Request,
        caller: Calling,
        engine: Ready,
        id: Id,
        body: TriggerEdit,
        dry_run: DryRun = False,
    ) -> dict[str, Any]:
        """What is left out stays; other times count from now."""
        changes = _said(body)
        if set(_TIMES) & body.model_fields_set:
            trigger = await engine.triggers.get(id, caller.scope)
            changes["schedule"] = _changed(trigger, body.said())
        changed = await engine.triggers.update(
            id, caller.scope, dry_run=dry_run, by=caller.by, **changes
        )
        if dry_run:
            noting.forget(request)
        return wire.trigger(changed)

    @routes.post("/{id}/enable", "triggers.write", shown.Trigger, summary="Enable it")
    async def enable(caller: Calling, engine: Ready, id: Id) -> dict[str, Any]:
        return wire.trigger(await engine.triggers.enable(id, caller.scope, by=caller.by))

    @routes.post("/{id}/disable", "triggers.write", shown.Trigger, summary="Disable it")
    async def disable(caller: Calling, engine: Ready, id: Id) -> dict[str, Any]:
        return wire.trigger(await engine.triggers.disable(id, caller.scope))

    @routes.post("/{id}/reset", "triggers.write", shown.Trigger, summary="Return it to the code")
    async def reset(caller: Calling, engine: Ready, id: Id) -> dict[str, Any]:
        return wire.trigger(await engine.triggers.reset(id, caller.scope, by=caller.by))

    @routes.delete("/{id}", "triggers.write", status_code=204, summary="Delete it")
    async def delete(caller: Calling, engine: Ready, id: Id) -> None:
        await engine.triggers.delete(id, caller.scope)

    return routes


routes = routes_for("triggers")


@routes.post("/{id}/test", "triggers.read", shown.Trial, summary="What would it do?")
async def test(caller: Calling, engine: Ready, id: Id, body: TriedWith) -> dict[str, Any]:
    """Whether an event would make a job, with which payload, or why not. Stores nothing."""
    tried = await engine.trials.test(id, event=body.event_id, data=body.data, scope=caller.scope)
    return {
        "matches": tried.matches,
        "because": tried.because,
        "payload": tried.payload,
        "error": None if tried.error is None else str(tried.error),
    }


def _place(trigger: Trigger) -> str:
    return f"{trigger.tenant}\0{trigger.name}"


def _said(body: TriggerEdit, without: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        body.OPTIONS.get(name, name): value
        for name, value in body.said().items()
        if name not in (*_TIMES, *without)
    }


def _schedule(name: str, type: str, said: dict[str, Any]) -> Schedule | None:
    try:
        return _times(type, said)
    except ScheduleInvalid as error:
        raise error.named(name) from None


def _times(type: str, said: dict[str, Any]) -> Schedule | None:
    zone = said.get("timezone")
    match type:
        case "cron":
            return Cron(said.get("cron") or "", zone)
        case "interval":
            return Every(said.get("interval_seconds") or 0.0)
        case "once" if said.get("at"):
            return Once(said["at"])
        case "init":
            return Init(bool(said.get("run_once")))
        case "once":
            raise OptionInvalid("at", None, allowed="an instant, for a trigger of type once")
        case _:
            return None


def _changed(trigger: Trigger, said: dict[str, Any]) -> Schedule:
    """The times of a trigger with other fields."""
    if trigger.type == "event":  # its times may be what cannot be read, and is to be replaced
        raise OptionInvalid("trigger", trigger.name, allowed="one by time")
    own = _TIMES_OF[trigger.type]
    if strange := sorted(said.keys() & set(_TIMES) - set(own)):
        allowed = f"{' and '.join(own)}: {trigger.name} is of type {trigger.type}"
        raise OptionInvalid("change", strange[0], allowed=allowed)
    now = {name: getattr(trigger, name) for name in _TIMES} | said
    changed = _schedule(trigger.name, trigger.type, now)
    assert changed is not None
    return changed
