"""A cron expression in words: "every weekday at 02:00". What has no short words says so."""

from collections.abc import Sequence

from windlass.core.triggers.cron import MONTHS, WEEKDAYS, CronExpression
from windlass.errors.wording import listed

#: More than these are no help to anybody.
_MOST_TIMES = 6
_WORKING_DAYS = frozenset(range(1, 6))


def words(expression: CronExpression) -> str:
    """A schedule in words, or the expression itself where words would be unclear."""
    times, rhythm = _times(expression), _rhythm(expression)
    days = _days(expression)
    if days is None or (times is None and rhythm is None):
        return f'at the times of "{expression.text.strip()}"'
    if times is not None:
        return f"{days or 'every day'} at {times}"
    return f"{rhythm} {days}".rstrip().replace(" every ", " on every ")


def _times(expression: CronExpression) -> str | None:
    """Times of day, if they are few."""
    if not expression.fixed_hours or len(expression.hours) * len(expression.minutes) > _MOST_TIMES:
        return None
    return listed(
        [
            f"{hour:02}:{minute:02}"
            for hour in sorted(expression.hours)
            for minute in sorted(expression.minutes)
        ]
    )


def _rhythm(expression: CronExpression) -> str | None:
    """An even interval within an hour or a day, in words."""
    if expression.fixed_hours:
        return None
    minutes, hours = _step(expression.minutes, 60), _step(expression.hours, 24)
    if hours == 1 and minutes is not None:
        return "every minute" if minutes == 1 else f"every {minutes} minutes"
    if len(expression.minutes) == 1 and hours is not None:
        [minute] = expression.minutes
        often = "every hour" if hours == 1 else f"every {hours} hours from 00:{minute:02}"
        return often if not minute or hours > 1 else f"{often} at minute {minute}"
    return None


def _step(values: frozenset[int], size: int) -> int | None:
    """The distance of values that go around evenly from 0; None if they do not, or are one."""
    step, rest = divmod(size, len(values))
    even = not rest and len(values) > 1 and values == frozenset(range(0, size, step))
    return step if even else None


def _days(expression: CronExpression) -> str | None:
    """Which days; empty for all of them, None if there are no short words."""
    every_day, every_weekday = len(expression.days) == 31, len(expression.weekdays) == 7
    every_month = len(expression.months) == 12
    months = listed([MONTHS[month - 1] for month in sorted(expression.months)])
    if (every_day or every_weekday) and expression.any_day_field:
        every_day = every_weekday = True
    by_weekday = _weekdays(expression.weekdays)
    by_day = _month_days(sorted(expression.days))
    match every_day, every_weekday:
        case True, True:
            return "" if every_month else f"every day in {months}"
        case True, False:
            return by_weekday if every_month else f"{by_weekday} in {months}"
        case False, True:
            return by_day and f"{by_day} of {'every month' if every_month else months}"
        case _:
            if by_day is None or not expression.any_day_field:
                return None
            of = "every month" if every_month else months
            within = "" if every_month else f" in {months}"
            return f"{by_day} of {of} and {by_weekday}{within}"


def _weekdays(weekdays: frozenset[int]) -> str:
    if weekdays == _WORKING_DAYS:
        return "every weekday"
    # Weeks begin on Monday where the days are listed.
    names = [WEEKDAYS[day] for day in sorted(weekdays, key=lambda day: (day - 1) % 7)]
    return f"every {listed(names)}"


def _month_days(days: Sequence[int]) -> str | None:
    if len(days) > _MOST_TIMES:
        return None
    return f"on day{'s'[: len(days) > 1]} {listed([str(day) for day in days])}"
