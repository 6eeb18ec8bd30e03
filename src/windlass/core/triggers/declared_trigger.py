"""Triggers as code declares them, with the job they are for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from windlass.core.durations import duration
from windlass.core.enum_options import attempts, one_of
from windlass.core.jobs.dedupe import check_app_key, check_name
from windlass.core.triggers.trigger import Misfire, Overlap
from windlass.errors import OptionInvalid

# Most jobs have no trigger: what reads schedules, templates and conditions is imported on use.
if TYPE_CHECKING:
    from windlass.core.triggers.schedule import Schedule

Length = str | timedelta | float | None

#: Characters. What it is filled in to may be shorter only: see `core/jobs/dedupe.py`.
LONGEST_KEY_TEMPLATE = 500
_KEY_EXAMPLE = "`folder {{event.path}}`"


class EventTriggerOptions(TypedDict, total=False):
    """The names `@wl.on(...)` takes beside the event."""

    name: str
    payload: Mapping[str, Any]
    condition: Mapping[str, Any]
    delay: Length
    dedupe_window: Length
    dedupe_key: str
    max_attempts: int
    enabled: bool


_NAMES = frozenset(EventTriggerOptions.__annotations__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTrigger:
    """By `schedule`, or for the event `event_name`. Without a name it is called after its job."""

    name: str | None = None
    schedule: "Schedule | None" = None
    event_name: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    condition: Mapping[str, Any] | None = None
    misfire: Misfire = "fire_once"
    overlap: Overlap = "allow"
    delay_seconds: float | None = None
    dedupe_window_seconds: float | None = None
    dedupe_key: str | None = None
    max_attempts: int | None = None
    enabled: bool = True

    def name_for(self, definition: str) -> str:
        """The name of its row."""
        own = definition if self.event_name is None else f"{definition} on {self.event_name}"
        return self.name or check_name("name", own)


def time_trigger(schedule: "Schedule", misfire: object, overlap: object) -> DeclaredTrigger:
    """Trigger of one schedule in `@wl.job(schedule=…)`; raises at once for a mistake."""
    payload = dict(schedule.payload or {})
    from windlass.core.triggers import template

    template.parse(payload)
    return DeclaredTrigger(
        name=None if schedule.name is None else check_name("name", schedule.name),
        schedule=replace(schedule, name=None, payload=None),
        payload=payload,
        misfire=one_of("misfire", misfire, Misfire),
        overlap=one_of("overlap", overlap, Overlap),
    )


def event_trigger(event: str, options: EventTriggerOptions) -> DeclaredTrigger:
    """Trigger of `@wl.on(…)`; raises at once for a mistake."""
    for option in options:
        if option not in _NAMES:
            allowed = f"one of {', '.join(sorted(_NAMES))}"
            raise OptionInvalid("option", option, allowed=allowed)
    from windlass.core.triggers import condition as conditions
    from windlass.core.triggers import template

    template.parse(options.get("payload", {}))
    if (condition := options.get("condition")) is not None:
        conditions.parse(condition)
    name = options.get("name")
    return DeclaredTrigger(
        name=None if name is None else check_name("name", name),
        event_name=check_name("event", event),
        payload=dict(options.get("payload", {})),
        condition=condition,
        delay_seconds=seconds("delay", options.get("delay")),
        dedupe_window_seconds=seconds("dedupe_window", options.get("dedupe_window")),
        dedupe_key=check_key_template(options.get("dedupe_key")),
        enabled=flag("enabled", options.get("enabled", True)),
        max_attempts=None if (most := options.get("max_attempts")) is None else attempts(most),
    )


def check_key_template(text: object) -> str | None:
    """A template of dedupe keys, checked; None stays None."""
    if text is None:
        return None
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_KEY_TEMPLATE:
        allowed = f"text of 1 to {LONGEST_KEY_TEMPLATE} characters, such as {_KEY_EXAMPLE}"
        raise OptionInvalid("dedupe_key", text, allowed=allowed)
    from windlass.core.triggers import template

    parsed = template.parse(text)
    if parsed.is_constant:
        check_app_key("dedupe_key", parsed.render({}))
    return text


def flag(option: str, value: object) -> bool:
    """A switch, checked."""
    if not isinstance(value, bool):
        raise OptionInvalid(option, value, allowed="True or False")
    return value


def seconds(option: str, length: Length) -> float | None:
    """A length of time as triggers keep it."""
    return None if length is None else duration(length, option=option).total_seconds()
