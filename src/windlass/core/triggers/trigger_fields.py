"""A trigger's fields: its times, the code's version of it, and operators' edits."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from windlass.core.triggers.schedule import (
    CronSchedule,
    Every,
    InitSchedule,
    Once,
    Schedule,
    first_run,
    next_run,
)
from windlass.core.triggers.trigger import Trigger, TriggerType
from windlass.core.wire import plain

#: Fields with the times of a trigger, by its type.
_TIMES: Mapping[TriggerType, tuple[str, ...]] = {
    "cron": ("cron", "timezone"),
    "interval": ("interval_seconds",),
    "once": ("at",),
    "init": ("run_once",),
    "event": ("event_name", "condition"),
}
#: The times of none: what a trigger whose type changes begins with.
NO_TIMES: Mapping[str, Any] = {
    "type": "event", "cron": None, "timezone": "UTC", "interval_seconds": None, "at": None,
    "run_once": False, "event_name": None, "condition": None,
}  # fmt: skip
#: What code may say, and operators may edit, of a trigger of any type.
_ALWAYS = (
    "name", "enabled", "payload", "misfire", "overlap", "delay_seconds", "dedupe_window_seconds",
    "dedupe_key", "max_attempts",
)  # fmt: skip


#: What only triggers by time have, of whatever type.
_BY_TIME = ("misfire", "overlap")
#: Field -> the type that it implies.
_TYPE_BY_FIELD: Mapping[str, TriggerType] = {
    "cron": "cron", "interval_seconds": "interval", "at": "once", "event_name": "event",
    "run_once": "init",
}  # fmt: skip


def schedule_of(trigger: Trigger) -> Schedule | None:
    """The times of a trigger; None if it has none."""
    match trigger.type:
        case "cron":
            return CronSchedule(trigger.cron or "", trigger.timezone)
        case "interval":
            return Every(trigger.interval_seconds or 0.0)
        case "once" if trigger.at is not None:
            return Once(trigger.at)
        case "init":
            return InitSchedule(trigger.run_once)
        case _:
            return None


def fields_of(schedule: Schedule) -> dict[str, Any]:
    """A schedule as the fields of a trigger."""
    match schedule:
        case CronSchedule():
            return {"cron": schedule.expression, "timezone": schedule.tz or "UTC"}
        case Every():
            return {"interval_seconds": schedule.seconds}
        case Once():
            return {"at": schedule.at}
        case InitSchedule():
            return {"run_once": schedule.run_once}


def type_of(schedule: Schedule | None) -> TriggerType:
    """The type of a trigger with these times; by event if it has none."""
    match schedule:
        case CronSchedule():
            return "cron"
        case Every():
            return "interval"
        case Once():
            return "once"
        case InitSchedule():
            return "init"
        case None:
            return "event"


def next_run_from_now(trigger: Trigger, now: datetime) -> datetime | None:
    """When a trigger is due next, counted from now: what it has fired for is over."""
    if not trigger.enabled:
        return None
    schedule, last = schedule_of(trigger), trigger.last_run_at
    if schedule is None:
        return None
    match schedule:
        case Every() if last is not None:
            return next_run(schedule, last, now)
        case Once() if last is not None and last >= schedule.at:
            return None
        case InitSchedule() if last is not None:
            return None
        case _:
            return first_run(schedule, now)


def with_next_run(trigger: Trigger, now: datetime) -> Trigger:
    """The trigger with its next run, counted from now."""
    return replace(trigger, next_run_at=next_run_from_now(trigger, now))


def foreign_fields(type: TriggerType, named: Iterable[str]) -> dict[str, str]:
    """The fields among those that a trigger of a type does not have, and what does have them."""
    own = {*_TIMES[type], *(() if type == "event" else _BY_TIME)}
    owners = {field: f"type {kind}" for kind, fields in _TIMES.items() for field in fields}
    owners |= dict.fromkeys(_BY_TIME, "a type by time")
    return {name: owners[name] for name in named if name in owners and name not in own}


def type_from_fields(named: Collection[str]) -> TriggerType | None:
    """The type that these fields imply; None if none of them does."""
    return next((kind for field, kind in _TYPE_BY_FIELD.items() if field in named), None)


def code_snapshot(trigger: Trigger) -> dict[str, Any]:
    """A trigger's declaration as JSON: stored, and compared with the code later."""
    names = ("type", *_TIMES[trigger.type], *_ALWAYS)
    return {name: _code_value(getattr(trigger, name)) for name in names}


def _code_value(value: object) -> Any:
    # Compared as text with what earlier versions stored: they wrote no zeros behind the seconds.
    return plain(value).replace(".000000Z", "Z") if isinstance(value, datetime) else plain(value)


def with_edited_fields(trigger: Trigger) -> Trigger:
    """The trigger, saying in which fields it differs from the code."""
    if trigger.code is None:
        return trigger
    edited = [
        name for name, value in code_snapshot(trigger).items() if value != trigger.code.get(name)
    ]
    return replace(trigger, edited=tuple(sorted(edited)))


def without_edits(trigger: Trigger) -> Trigger:
    """The trigger with all that the code says of it."""
    code = {**NO_TIMES, **(trigger.code or {})}
    if isinstance(at := code.get("at"), str):
        code["at"] = datetime.fromisoformat(at)
    return replace(trigger, **code, edited=())


def merge_trigger_with_code(row: Trigger, declared: Trigger, now: datetime) -> Trigger:
    """A row as it is after its code changed: what was edited stays, all else follows. It is left
    alone if an operator gave it times that the new type does not have. When it is due next is
    counted anew only if its times have changed: what is due and not yet fired for is not lost."""
    if (
        "type" not in row.edited
        and row.type != declared.type
        and not set(row.edited) <= set(_ALWAYS)
    ):
        return row
    names = {*row.edited, *(NO_TIMES if "type" in row.edited else ())}
    kept = {name: getattr(row, name) for name in names if name not in row.unreadable}
    followed = replace(
        declared,
        **kept,
        id=row.id,
        edited=tuple(name for name in row.edited if name in kept),
        last_run_at=row.last_run_at,
        # Who edited it is still whose right it fires under.
        saved_by=row.saved_by if row.edited else None,
    )
    if _times(followed) == _times(row) and "next_run_at" not in row.unreadable:
        return replace(followed, next_run_at=row.next_run_at)
    return with_next_run(followed, now)


def name_in_code(trigger: Trigger) -> str:
    """The name a trigger was declared under: an operator may have given it another."""
    return str((trigger.code or {}).get("name", trigger.name))


def _times(trigger: Trigger) -> tuple[object, ...]:
    # As stored: what no schedule can be made of differs from what one can.
    times = [getattr(trigger, name) for name in _TIMES.get(trigger.type, ())]
    return trigger.type, *times, trigger.enabled, trigger.missing_from_code
