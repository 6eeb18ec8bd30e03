"""Options of triggers and schedules as people give them, and filters to choose triggers by."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from windlass.core.enum_options import attempts, one_of
from windlass.core.jobs.dedupe import check_name
from windlass.core.jobs.models import Origin
from windlass.core.triggers.declared_trigger import Length, check_key_template, flag, seconds
from windlass.core.triggers.schedule import CronSchedule, Schedule
from windlass.core.triggers.trigger import Misfire, Overlap, Trigger, TriggerType
from windlass.core.triggers.trigger_fields import type_of
from windlass.errors import OptionInvalid, ScheduleInvalid


class TriggerOptions(TypedDict, total=False):
    """Options of a trigger, beside its name and its schedule or event."""

    enabled: bool
    condition: Mapping[str, Any] | None
    payload: Mapping[str, Any] | None
    misfire: Misfire
    overlap: Overlap
    delay: Length
    dedupe_window: Length
    dedupe_key: str | None
    max_attempts: int | None


class TriggerChanges(TriggerOptions, total=False):
    """Changes of a trigger. Text as a schedule is a cron expression."""

    name: str
    schedule: Schedule | str
    event: str


class TriggerFilter(TypedDict, total=False):
    """Filters of a list of triggers."""

    type: TriggerType | None
    definition: str | None
    event: str | None
    enabled: bool | None
    origin: Origin | None
    #: Whether it could not make its last job.
    failing: bool | None


def trigger_matcher(chosen: TriggerFilter) -> Callable[[Trigger], bool]:
    """A check whether a trigger fits every filter that is given."""
    for name in chosen:
        if name not in TriggerFilter.__annotations__:
            known = ", ".join(sorted(TriggerFilter.__annotations__))
            raise OptionInvalid("filter", name, allowed=f"one of {known}")
    wanted = {name: value for name, value in chosen.items() if value is not None}
    if "type" in wanted:
        one_of("type", wanted["type"], TriggerType)

    def fits(trigger: Trigger) -> bool:
        values = {
            "type": trigger.type,
            "definition": trigger.definition,
            "event": trigger.event_name,
            "enabled": trigger.enabled,
            "origin": trigger.origin,
            "failing": trigger.last_error is not None,
        }
        return all(values[name] == value for name, value in wanted.items())

    return fits


def type_after(trigger: Trigger, changes: Mapping[str, Any]) -> TriggerType:
    """The type that a trigger has with these changes. One by event stays one, as one by time does."""
    if trigger.type != "event" and changes.get("event") is not None:
        raise OptionInvalid("event", changes["event"], allowed="an event to a trigger by event")
    if "schedule" not in changes:
        return trigger.type
    if trigger.type == "event":
        raise OptionInvalid("trigger", trigger.name, allowed="one by time")
    return type_of(parse_schedule(trigger.name, changes["schedule"]))


def parse_schedule(name: str, given: object) -> Schedule:
    """A schedule; text is a cron expression."""
    if isinstance(given, Schedule):
        return given
    if not isinstance(given, str):
        allowed = "a cron expression, or what cron(), every(), once() and init() make"
        raise OptionInvalid("schedule", given, allowed=allowed)
    try:
        return CronSchedule(given)
    except ScheduleInvalid as error:
        raise error.named(name) from None


def _object(payload: Any) -> dict[str, Any]:
    if payload is not None and not isinstance(payload, Mapping):
        raise OptionInvalid("payload", payload, allowed="an object of names and values")
    return dict(payload or {})


#: Option -> the field it is kept in, and what checks it.
CHECKED: Mapping[str, tuple[str, Any]] = {
    "name": ("name", lambda value: check_name("name", value)),
    "enabled": ("enabled", lambda value: flag("enabled", value)),
    "event": ("event_name", lambda value: check_name("event", value)),
    "payload": ("payload", _object),
    "misfire": ("misfire", lambda value: one_of("misfire", value, Misfire)),
    "overlap": ("overlap", lambda value: one_of("overlap", value, Overlap)),
    "delay": ("delay_seconds", lambda value: seconds("delay", value)),
    "dedupe_window": ("dedupe_window_seconds", lambda value: seconds("dedupe_window", value)),
    "dedupe_key": ("dedupe_key", check_key_template),
    "max_attempts": ("max_attempts", lambda value: None if value is None else attempts(value)),
}
