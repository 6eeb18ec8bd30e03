"""Rules for a clock that was wrong: what its rows tell of it. See decision 0022."""

from datetime import datetime, timedelta

from windlass.core.durations import words
from windlass.core.monitoring.checks import Check, ok, warning
from windlass.core.triggers.schedule import CronSchedule, Every, Schedule, next_run

#: An instant that is further ahead of now was written by a clock that was ahead.
CLOCK_MARGIN = timedelta(seconds=60)


def corrected_run(
    schedule: Schedule, next_run_at: datetime, now: datetime, zone: str = "UTC"
) -> datetime:
    """The next due time of a schedule: recomputed if `next_run_at` is later than a right clock could
    have set it, else unchanged. What was fired for early is not fired for again."""
    match schedule:
        case Every() if next_run_at > now + schedule.interval + CLOCK_MARGIN:
            return now + schedule.interval
        case CronSchedule():
            return min(next_run(schedule, now, now, zone) or next_run_at, next_run_at)
        case _:  # a person's own instant, or none
            return next_run_at


def clock_jump(before: timedelta, after: timedelta) -> timedelta | None:
    """Jump of a clock, from its lead over a monotonic one at two readings; None if there was no jump."""
    jump = after - before
    return jump if abs(jump) > CLOCK_MARGIN else None


def written_ahead(ahead: timedelta) -> Check:
    """Check whether something was written while the database's clock was ahead."""
    if ahead <= CLOCK_MARGIN:
        return ok("written", "Nothing was written by a clock that was ahead.")
    return warning(
        "written",
        f"Something was written {words(ahead)} ahead of now: the database's clock was wrong, or is.",
        "Set it right. Leases, retries and schedules are corrected every minute, and logged; jobs "
        "that were given an instant or a delay meanwhile keep it.",
    )
