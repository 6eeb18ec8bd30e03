"""Schedules: when a trigger by time fires, and what becomes of the times that were missed.

All instants are aware and given by the caller, who asks the database for the time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from windlass.core.durations import LONGEST, duration
from windlass.core.instants import instant
from windlass.core.triggers import time_zones
from windlass.core.triggers.cron import CronExpression, last_before, next_after, parse
from windlass.core.triggers.trigger import Misfire
from windlass.errors import OptionInvalid

#: How many missed due times the policy `all` makes up for; the latest ones.
MOST_MISSED = 100
#: A due time that is seen this late was not missed, whatever the policy.
GRACE = timedelta(seconds=60)
SHORTEST_SECONDS = 1.0

_INTERVAL = 'a duration from "1s" to 100 years, such as "15m"'


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScheduleBase:
    """Name and payload of a schedule in code, for jobs with several. They do not count
    when schedules are compared."""

    name: str | None = field(default=None, compare=False)
    payload: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CronSchedule(_ScheduleBase):
    """At the times of a cron expression, in a time zone.

    Without `tz` it has none of its own, and gets its tenant's when it is stored; see `in_zone`.
    """

    expression: str
    tz: str | None = None

    def __post_init__(self) -> None:
        if self.tz is not None:
            time_zones.zone(self.tz)
        parse(self.expression, self.tz or "")


@dataclass(frozen=True, slots=True)
class Every(_ScheduleBase):
    """At once, and then each time so many seconds have passed."""

    seconds: float

    def __post_init__(self) -> None:
        given: object = self.seconds
        # True is a number to Python, but nobody means a second by it.
        number = isinstance(given, int | float) and not isinstance(given, bool)
        if not number or not SHORTEST_SECONDS <= self.seconds <= LONGEST.total_seconds():
            raise OptionInvalid("interval", given, allowed=_INTERVAL)

    @property
    def interval(self) -> timedelta:
        return timedelta(seconds=self.seconds)


@dataclass(frozen=True, slots=True)
class Once(_ScheduleBase):
    """At one instant."""

    at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", instant("at", self.at))


@dataclass(frozen=True, slots=True)
class InitSchedule(_ScheduleBase):
    """At start, until one of its jobs has completed; without `run_once` at each start."""

    run_once: bool = True


Schedule = CronSchedule | Every | Once | InitSchedule


def cron(
    expression: str,
    *,
    tz: str | None = None,
    name: str | None = None,
    payload: Mapping[str, Any] | None = None,
) -> CronSchedule:
    """Five fields such as "0 2 * * *", or a word such as "@daily", in an IANA time zone.

    Without `tz` the tenant's zone counts, else UTC. Where clocks change, fixed hours fire each of
    their local times once a day; with `*` or a step in the hour, the rhythm goes on. `name` and
    `payload` are for `@wl.job(schedule=[…])`, where a job has several schedules.
    """
    return CronSchedule(expression, tz, name=name, payload=payload)


def every(
    interval: str | timedelta | float,
    *,
    name: str | None = None,
    payload: Mapping[str, Any] | None = None,
) -> Every:
    """Every "15m", a timedelta, or a number of seconds: at once, then by elapsed time."""
    seconds = duration(interval, option="interval").total_seconds()
    return Every(seconds, name=name, payload=payload)


def once(
    at: datetime, *, name: str | None = None, payload: Mapping[str, Any] | None = None
) -> Once:
    """At one instant, given with its time zone. One that is over is missed: see `misfire`."""
    return Once(at, name=name, payload=payload)


def init(
    *,
    run_once: bool = True,
    name: str | None = None,
    payload: Mapping[str, Any] | None = None,
) -> InitSchedule:
    """At each start, until one of its jobs has completed; `run_once=False` for every start."""
    return InitSchedule(run_once, name=name, payload=payload)


def in_zone(schedule: Schedule, zone: str) -> Schedule:
    """The schedule with `zone` as its own, if it needs one and has none."""
    if isinstance(schedule, CronSchedule) and schedule.tz is None:
        return replace(schedule, tz=zone)
    return schedule


class DueFiring(NamedTuple):
    """The due times to fire for now, oldest first, and the next one after them."""

    due: tuple[datetime, ...]
    next_run_at: datetime | None


def first_run(schedule: Schedule, now: datetime, zone: str = "UTC") -> datetime | None:
    """When a schedule that has never fired is first due. `zone` is for one without its own."""
    match schedule:
        case CronSchedule():
            return next_after(*_cron(schedule, zone), now)
        case Every() | InitSchedule():
            return now
        case Once():
            return schedule.at


def next_run(
    schedule: Schedule, after_due: datetime | None, now: datetime, zone: str = "UTC"
) -> datetime | None:
    """The first due time after both the one last fired for and now; None if there is no more.

    An interval counts from the due time, so it does not drift by what each round was late.
    """
    if after_due is None:
        return first_run(schedule, now, zone)
    match schedule:
        case CronSchedule():
            return next_after(*_cron(schedule, zone), max(after_due, now))
        case Every():
            passed = max(0, (now - after_due) // schedule.interval)
            return _later(after_due, schedule.interval * (passed + 1))
        case Once() | InitSchedule():
            return None


def fires(
    schedule: Schedule,
    due: datetime,
    now: datetime,
    misfire: Misfire = "fire_once",
    *,
    zone: str = "UTC",
    grace: timedelta = GRACE,
) -> DueFiring:
    """Due times that a schedule due at `due` fires for now, and its next due time.

    Of the due times from `due` to now, `fire_once` fires for the latest, `all` for the latest
    hundred, and `skip` for the latest if it is not older than `grace`: some time always passes
    before a scheduler looks. After that it goes on from now. What is not due yet stays as it is.
    """
    if due > now:
        return DueFiring((), due)
    following = next_run(schedule, due, now, zone)
    if misfire == "skip" and not isinstance(schedule, InitSchedule):
        latest = _latest(schedule, due, now, 1, zone)
        return DueFiring(tuple(at for at in latest if now - at <= grace), following)
    most = MOST_MISSED if misfire == "all" else 1
    return DueFiring(_latest(schedule, due, now, most, zone), following)


def _latest(
    schedule: Schedule, due: datetime, now: datetime, most: int, zone: str
) -> tuple[datetime, ...]:
    """The last of the due times from `due` to now, oldest first. `due` itself is one."""
    match schedule:
        case CronSchedule():
            found: list[datetime] = []
            expression, tz = _cron(schedule, zone)
            at = last_before(expression, tz, now + timedelta(microseconds=1))
            while at is not None and at > due and len(found) < most:
                found.append(at)
                at = last_before(expression, tz, at)
            # The zone's rules or the expression may have changed since `due` was computed.
            return tuple(reversed(found if len(found) == most else [*found, due]))
        case Every():
            passed = (now - due) // schedule.interval
            counts = range(max(0, passed - most + 1), passed + 1)
            return tuple(due + schedule.interval * count for count in counts)
        case Once() | InitSchedule():
            return (due,)


def _cron(schedule: CronSchedule, zone: str) -> tuple[CronExpression, ZoneInfo]:
    tz = schedule.tz or zone
    return parse(schedule.expression, tz), time_zones.zone(tz)


def _later(at: datetime, by: timedelta) -> datetime | None:
    try:
        return at + by
    except OverflowError:
        return None
