"""Preview of a schedule: words, next runs and warnings."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from windlass.core.durations import text
from windlass.core.triggers import cron_text, time_zones
from windlass.core.triggers.cron import MONTHS, WEEKDAYS, CronExpression, parse, readings
from windlass.core.triggers.schedule import (
    CronSchedule,
    Every,
    InitSchedule,
    Once,
    Schedule,
    first_run,
    next_run,
)
from windlass.core.triggers.time_zones import ClockChange
from windlass.core.triggers.trigger import Trigger
from windlass.core.triggers.trigger_fields import schedule_of

MOST_RUNS = 1000

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
_YEAR = timedelta(days=365)
#: So many runs show how fast a schedule can be.
_LOOKED_AT = 20


class ScheduledRun(NamedTuple):
    """A coming due time; `note` says what a clock change does to it, and is empty nearly always."""

    at: datetime
    local: str
    note: str = ""


def describe(schedule: Schedule, zone: str = "UTC") -> str:
    """In words: "every day at 02:00 (Europe/Berlin)"."""
    match schedule:
        case CronSchedule():
            tz = schedule.tz or zone
            return f"{cron_text.words(parse(schedule.expression))} ({tz})"
        case Every():
            return f"every {_interval(schedule)}"
        case Once():
            return f"once, at {_local(schedule.at, time_zones.zone(zone))}"
        case InitSchedule():
            return "at start, until it has completed once" if schedule.run_once else "at each start"


class SchedulePreview(NamedTuple):
    """Preview of a schedule: in words, its next runs, and warnings."""

    words: str
    timezone: str
    runs: tuple[ScheduledRun, ...]
    warnings: tuple[str, ...]


def preview_schedule(
    schedule: Schedule,
    after: datetime,
    count: int = 5,
    zone: str = "UTC",
    *,
    window: timedelta | None = None,
) -> SchedulePreview:
    """Preview a schedule before it is relied on. `window` is a dedupe window its
    jobs would have, with equal payloads."""
    surprising = warnings(schedule, after, zone)
    if window is not None:
        surprising.append(dedupe_window_warning(schedule, after, window, zone))
    return SchedulePreview(
        describe(schedule, zone),
        _zone(schedule, zone).key,
        tuple(preview(schedule, after, count, zone)),
        tuple(filter(None, surprising)),
    )


def preview(
    schedule: Schedule, now: datetime, count: int = 5, zone: str = "UTC"
) -> list[ScheduledRun]:
    """The coming due times, at most a thousand. One that runs at start has none to show."""
    if isinstance(schedule, InitSchedule):
        return []
    tz = _zone(schedule, zone)
    runs: list[ScheduledRun] = []
    before, at = now, first_run(schedule, now, zone)
    while at is not None and len(runs) < min(count, MOST_RUNS):
        note = (
            _note(parse(schedule.expression), tz, before, at)
            if isinstance(schedule, CronSchedule)
            else ""
        )
        runs.append(ScheduledRun(at, _local(at, tz), note))
        before, at = at, next_run(schedule, at, at, zone)
    return runs


def warnings(schedule: Schedule, now: datetime, zone: str = "UTC") -> list[str]:
    """Warnings about a schedule: how days are chosen, and the next year's clock changes that touch it."""
    match schedule:
        case CronSchedule():
            expression, tz = parse(schedule.expression), _zone(schedule, zone)
            changes = time_zones.changes(tz, now, now + _YEAR)
            told = [_change_note(expression, tz, change) for change in changes]
            return [*_day_warnings(expression), *filter(None, told)]
        case Every() if schedule.seconds < 60:
            return ["It fires more than once a minute."]
        case Once() if schedule.at <= now:
            return ["That time is over."]
        case _:
            return []


def keyless_window_warning(window: timedelta) -> str:
    """Warning about a dedupe window without a key."""
    return (
        f"The dedupe window of {text(window)} has no dedupe_key: jobs count as equal if their "
        "payloads are."
    )


def dedupe_window_warning(
    schedule: Schedule, now: datetime, window: timedelta, zone: str = "UTC", *, key: bool = False
) -> str:
    """Warning about runs with equal payloads, or keys, that a dedupe window drops; empty if
    none."""
    runs = preview(schedule, now, _LOOKED_AT, zone)
    gaps = [later.at - run.at for run, later in pairwise(runs)]
    if not gaps or min(gaps) >= window:
        return ""
    return (
        f"Runs that come {text(min(gaps))} apart with equal {'keys' if key else 'payloads'} are swallowed by the dedupe "
        f"window of {text(window)}."
    )


def _day_warnings(expression: CronExpression) -> list[str]:
    restricted = len(expression.days) < 31 and len(expression.weekdays) < 7
    if not restricted:
        return []
    if expression.any_day_field:
        return ["It fires on days that fit the day of month or the weekday, not only on both."]
    return ["It fires only on days that fit both the day of month and the weekday."]


def _change_note(expression: CronExpression, zone: ZoneInfo, change: ClockChange) -> str:
    """Note about a clock change that touches an expression; empty if none does."""
    low, high = sorted((change.before, change.after))
    touched = next(readings(expression, low, high), None)
    if touched is None or expression.every_hour:
        return ""
    moved = (
        f"On {_date(change.before)} the clocks in {zone.key} go "
        f"{'forward' if change.forward else 'back'} from {change.before:%H:%M} to {change.after:%H:%M}: "
    )
    match change.forward, expression.fixed_hours:
        case True, True:
            return f"{moved}{touched:%H:%M} is skipped, and runs at {change.after:%H:%M} instead."
        case True, False:
            return f"{moved}{touched:%H:%M} is skipped, and left out."
        case False, True:
            return f"{moved}{touched:%H:%M} comes twice, and runs the first time only."
        case _:
            return f"{moved}{touched:%H:%M} comes twice, and runs both times."


def _note(expression: CronExpression, zone: ZoneInfo, before: datetime, at: datetime) -> str:
    """Note about a clock change that touches the run after `before`."""
    reading = time_zones.local_time(at, zone)
    if time_zones.is_ambiguous(reading, zone):
        if expression.fixed_hours:
            return f"{reading:%H:%M} comes twice on this day; it runs the first time only"
        which = "second" if reading.fold else "first"
        return f"{reading:%H:%M} comes twice on this day; this is the {which} time"
    start = max(before, at - time_zones.LONGEST_CHANGE)
    change = time_zones.change_within(zone, start, at)
    if change is None or not change.forward:
        return ""
    skipped = [f"{each:%H:%M}" for each in islice(readings(expression, *change[1:]), 2)]
    if not skipped or expression.every_hour:
        return ""
    if not expression.fixed_hours:
        return f"{skipped[0]} is left out before it: the clocks skip it on this day"
    times = skipped[0] if len(skipped) == 1 else f"{skipped[0]} and more"
    return f"in place of {times}, which the clocks skip on this day"


def _zone(schedule: Schedule, zone: str) -> ZoneInfo:
    return time_zones.zone((isinstance(schedule, CronSchedule) and schedule.tz) or zone)


def _interval(schedule: Every) -> str:
    for unit, seconds in _UNITS:
        count, rest = divmod(schedule.seconds, seconds)
        if not rest:
            return unit if count == 1 else f"{count:g} {unit}s"
    return text(schedule.interval)


def _local(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    clock = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{_day(local)} {local:%Y-%m-%d} {clock} {local.tzname()}"


def _date(reading: datetime) -> str:
    return f"{_day(reading)} {reading.day} {MONTHS[reading.month - 1]} {reading.year}"


def _day(reading: datetime) -> str:
    return WEEKDAYS[reading.isoweekday() % 7][:3]


def trigger_warnings(trigger: Trigger, now: datetime) -> Sequence[str]:
    """Warnings about the schedule of a trigger; none if it is by event, or cannot be read."""
    schedule = None if trigger.unreadable else schedule_of(trigger)
    return [] if schedule is None else warnings(schedule, now, trigger.timezone)


def dedupe_warnings(trigger: Trigger, now: datetime, *, constant_key: bool) -> Sequence[str]:
    """Warnings about the dedupe window of a trigger: no key, and runs that it swallows."""
    if not trigger.dedupe_window_seconds or trigger.unreadable:
        return []
    window = timedelta(seconds=trigger.dedupe_window_seconds)
    found = [] if trigger.dedupe_key else [keyless_window_warning(window)]
    schedule = schedule_of(trigger)
    if schedule is not None and constant_key:
        keyed = trigger.dedupe_key is not None
        found.append(dedupe_window_warning(schedule, now, window, trigger.timezone, key=keyed))
    return [warning for warning in found if warning]
