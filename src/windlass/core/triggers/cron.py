"""Cron expressions: what they mean, and at which instants they fire in a time zone.

Five fields: minute, hour, day of month, month, weekday; with names, ranges, steps, lists and words
such as `@daily`. Nothing beyond: no seconds, no `L`, `W`, `#` or `?`. If both day fields are
restricted, a day that fits either of them counts; a field that begins with `*` restricts nothing
by itself, and then a day has to fit both. All as in the cron of Vixie and Debian.

Where clocks change, the hour field decides. Fixed hours (no `*`, no step) mean local times, each of
which is met once: at the end of the gap if the clocks skip it, the first time if they show it twice.
With `*` or a step it fires at every instant at which the clocks show a time that fits: the hour
that comes twice counts twice, the one that is skipped not at all, and "every ten minutes" stays so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim

from windlass.core.triggers.time_zones import (
    LONGEST_CHANGE,
    change_within,
    instant,
    local_time,
    offset,
)
from windlass.errors import ScheduleInvalid, ScheduleNeverFires

LONGEST = 255

WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
#: Not those of `calendar`, which follow the locale of the process.
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

_LAST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_TICK = timedelta(microseconds=1)

Direction = Literal[1, -1]


@dataclass(frozen=True, slots=True)
class CronExpression:
    """A cron expression that was understood. Weekdays count from 0, Sunday, to 6."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    #: A day counts that fits the day of month or the weekday; else it has to fit both.
    any_day_field: bool
    #: It names local times, each met once a day, instead of a rhythm.
    fixed_hours: bool
    #: The same in a form that cronsim cannot misread.
    plain: str

    @property
    def every_hour(self) -> bool:
        """Its rhythm is the same in every hour, so that clock changes mean little to it."""
        return not self.fixed_hours and len(self.hours) == 24


def parse(text: object, tz: str = "") -> CronExpression:
    """Understand an expression; ScheduleInvalid says which part of it makes no sense.

    One that would never fire is refused as well. `tz` is only for the words of that.
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        problem = f"it has {len(text)} characters" if isinstance(text, str) else "it is no text"
        allowed = f"five fields in at most {LONGEST} characters"
        raise ScheduleInvalid(text, problem, allowed=allowed)
    return _parse_fields(text, tz)


def next_after(expression: CronExpression, zone: ZoneInfo, after: datetime) -> datetime | None:
    """The first instant after `after` at which it fires; None only where the calendar ends."""
    return _adjacent_fire_time(expression, zone, after, 1)


def last_before(expression: CronExpression, zone: ZoneInfo, before: datetime) -> datetime | None:
    """The last instant before `before` at which it fires; None only where the calendar begins."""
    return _adjacent_fire_time(expression, zone, before, -1)


def readings(expression: CronExpression, start: datetime, end: datetime) -> Iterator[datetime]:
    """The readings of a clock in [start, end) that fit, whether or not clocks ever show them."""
    reading = _adjacent_match(expression, start - _TICK, 1)
    while reading is not None and reading < end:
        yield reading
        reading = _adjacent_match(expression, reading, 1)


@dataclass(frozen=True, slots=True)
class _CronField:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    example: str = ""

    @property
    def one(self) -> str:
        return f"{'an' if self.name.startswith('h') else 'a'} {self.name}"

    @property
    def allowed(self) -> str:
        span = f"{self.low}–{self.high}"
        return f"{span} or {self.names[0]}–{self.names[-1]}" if self.names else span


_FIELDS = (
    _CronField("minute", 0, 59, example="*/15 * * * *"),
    _CronField("hour", 0, 23, example="0 2 * * *"),
    _CronField("day of month", 1, 31, example="0 2 1 * *"),
    _CronField("month", 1, 12, tuple(name[:3].upper() for name in MONTHS), "0 2 1 JAN *"),
    _CronField("weekday", 0, 7, tuple(name[:3].upper() for name in WEEKDAYS), "0 2 * * MON-FRI"),
)


@dataclass(frozen=True, slots=True)
class _CronTerm:
    """One part of a list: from `low` to `high`, every `step`th."""

    low: int
    high: int
    step: int
    star: bool


@lru_cache(maxsize=1024)
def _parse_fields(text: str, tz: str) -> CronExpression:
    fields = _fields(text)
    terms = [_terms(text, field, written) for field, written in zip(_FIELDS, fields, strict=True)]
    minutes, hours, days, months, weekdays = (frozenset().union(*map(_values, t)) for t in terms)
    any_day_field = not (fields[2].startswith("*") or fields[4].startswith("*"))
    last = max(_LAST_DAYS[month - 1] for month in months)
    plain = [",".join(map(_plain, t)) for t in terms]
    if min(days) > last:
        if not any_day_field:
            # A weekday always comes again, and so does 29 February, on any, within forty years.
            raise _never_fires(text, fields, tz, months, min(days), last)
        # Only the weekdays count then; cronsim before 2.8 would refuse the days.
        plain[2] = "*"
    return CronExpression(
        text=text,
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        any_day_field=any_day_field,
        fixed_hours="*" not in fields[1] and "/" not in fields[1],
        plain=" ".join(plain),
    )


def _fields(text: str) -> list[str]:
    words = text.replace("\t", " ").strip(" ")
    if words.startswith("@"):
        return _word(text, words).split(" ")
    # "ſ" is an S in capitals, but nobody writes a Sunday with it.
    written = words.upper() if words.isascii() else words
    fields = [field for field in written.split(" ") if field]
    if len(fields) != len(_FIELDS):
        count = "no fields" if not fields else f"{len(fields)} field{'s'[: len(fields) != 1]}"
        raise ScheduleInvalid(
            text,
            f"it has {count} instead of 5",
            allowed="minute, hour, day of month, month and weekday",
        )
    return fields


def _word(text: str, word: str) -> str:
    if word.lower() == "@reboot":
        raise ScheduleInvalid(
            text,
            "`@reboot` is no time",
            allowed="`init()` for what runs at start, or one of " + ", ".join(WORDS),
            example="@daily",
        )
    if word.lower() not in WORDS:
        raise ScheduleInvalid(
            text,
            "it is none of the words that begin with @",
            allowed="one of " + ", ".join(WORDS),
            example="@daily",
        )
    return WORDS[word.lower()]


def _terms(text: str, field: _CronField, written: str) -> list[_CronTerm]:
    return [_term(text, field, part) for part in written.split(",")]


def _term(text: str, field: _CronField, part: str) -> _CronTerm:
    def wrong(problem: str, allowed: str = field.allowed) -> ScheduleInvalid:
        return ScheduleInvalid(
            text, problem, allowed=allowed, example=field.example, field=field.name, part=part
        )

    span, slash, step_text = part.partition("/")
    step = _number(step_text) if slash else 1
    if step is None or not 1 <= step <= field.high:
        raise wrong(f"`{_quote_part(step_text)}` is no step", f"a step of 1–{field.high}")
    if span == "*":
        return _CronTerm(field.low, field.high, step, star=True)
    first, dash, last = span.partition("-")
    low, high = _value(field, first), _value(field, last) if dash else None
    if low is None or (dash and high is None):
        odd = first if low is None else last
        missing = f"{field.one} is missing" + (f" in `{_quote_part(part)}`" if part else "")
        raise wrong(f"`{_quote_part(odd)}` is not {field.one}" if odd else missing)
    if high is None:
        # "5/15" begins at 5 and goes on to the end.
        high = field.high if slash else low
    if high < low:
        raise wrong(f"`{span}` goes backwards", _other_way(field, low, high, first, last))
    return _CronTerm(low, high, step, star=False)


def _other_way(field: _CronField, low: int, high: int, first: str, last: str) -> str:
    if field.name == "weekday" and high == 0:
        return f"`{low}-7`, where 7 is Sunday too"
    return f"two ranges: `{first}-{field.high - (field.name == 'weekday')},{field.low}-{last}`"


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def _value(field: _CronField, text: str) -> int | None:
    if text in field.names:
        return field.names.index(text) + field.low
    number = _number(text)
    return number if number is not None and field.low <= number <= field.high else None


def _quote_part(part: str) -> str:
    part = part.encode("unicode_escape").decode()
    return part if len(part) <= 20 else part[:19] + "…"


def _values(term: _CronTerm) -> range:
    return range(term.low, term.high + 1, term.step)


def _plain(term: _CronTerm) -> str:
    if term.star:
        # It has to begin with its star: cronsim sees by it how the two day fields belong together.
        return "*" if term.step == 1 else f"*/{term.step}"
    return ",".join(map(str, _values(term)))


def _never_fires(
    text: str, fields: list[str], tz: str, months: frozenset[int], day: int, last: int
) -> ScheduleNeverFires:
    minute, hour, _, month, weekday = fields
    return ScheduleNeverFires(
        text,
        months=[MONTHS[month - 1] for month in sorted(months)],
        day=day,
        last=last,
        example=f"{minute} {hour} 28 {month} {weekday}",
        tz=tz,
    )


def _adjacent_fire_time(
    expression: CronExpression, zone: ZoneInfo, start: datetime, direction: Direction
) -> datetime | None:
    walk = _by_reading if expression.fixed_hours else _by_instant
    try:
        return walk(expression, zone, start.astimezone(UTC), direction)
    except OverflowError:
        return None


def _by_reading(
    expression: CronExpression, zone: ZoneInfo, start: datetime, direction: Direction
) -> datetime | None:
    """Each fitting reading is met once; a later reading is never met before an earlier one."""
    reading = local_time(start, zone)
    if direction == -1 and reading.fold:
        # The first pass is over, also its readings that are yet to come a second time.
        reading += offset(instant(reading, zone), zone) - offset(start, zone)
    while (found := _adjacent_match(expression, reading, direction)) is not None:
        at = instant(found, zone)
        if (at > start) if direction == 1 else (at < start):
            return at
        reading = found
    return None


def _by_instant(
    expression: CronExpression, zone: ZoneInfo, start: datetime, direction: Direction
) -> datetime | None:
    """Go from change to change of the clocks: in between, readings and instants run alike.

    `start` moves in one direction only, which is what makes this end.
    """
    shift = _shift(zone, start, direction)
    reading = (start + shift).replace(tzinfo=None)
    while (found := _adjacent_match(expression, reading, direction)) is not None:
        at = (found - shift).replace(tzinfo=UTC)
        far = abs(at - start) > LONGEST_CHANGE
        end = start + direction * LONGEST_CHANGE if far else at
        change = change_within(zone, *((start, end) if direction == 1 else (end, start - _TICK)))
        if change is not None:
            start = change.at
        elif far:
            start = _nearer(zone, end, found, direction)
        else:
            return at
        shift = _shift(zone, start, direction)
        reading = (start + shift).replace(tzinfo=None)
        if direction == 1:
            # The first instant after a change counts; going back, it has been seen.
            reading -= _TICK
    return None


def _shift(zone: ZoneInfo, start: datetime, direction: Direction) -> timedelta:
    """By how much readings differ from instants, on the side of `start` that is ahead."""
    return offset(start if direction == 1 else start - _TICK, zone)


def _nearer(zone: ZoneInfo, end: datetime, found: datetime, direction: Direction) -> datetime:
    """From `end`, as near to a reading as is safe when no other before it fits."""
    near = (found - direction * LONGEST_CHANGE).replace(tzinfo=zone, fold=int(direction == -1))
    return (max if direction == 1 else min)(end, near.astimezone(UTC))


def _adjacent_match(
    expression: CronExpression, reading: datetime, direction: Direction
) -> datetime | None:
    """The nearest reading after or before this one that fits, in a world without clock changes."""
    if direction == -1 and reading.microsecond:
        # cronsim before 2.8 takes two steps back from the middle of a second.
        reading = reading.replace(microsecond=0) + timedelta(seconds=1)
    found = next(CronSim(expression.plain, reading, reverse=direction == -1), None)
    return None if found is None else found.replace(fold=0)
