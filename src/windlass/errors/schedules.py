"""4xxx: schedules — when they run, and in which time zone."""

from collections.abc import Collection, Sequence
from typing import Self

from windlass.errors.base import FieldError, WindlassError
from windlass.errors.wording import listed, nearest, quoted, sentence

_EXAMPLE = "0 2 * * *"


class ScheduleInvalid(WindlassError):
    """A cron expression cannot be understood.

    It has five fields: minute, hour, day of month, month, weekday. `field` is the one at fault and
    `part` the text in it; both are empty if the whole is wrong.
    """

    code = "WL4401"

    def __init__(
        self,
        expression: object,
        problem: str,
        *,
        allowed: str,
        example: str = _EXAMPLE,
        field: str = "",
        part: str = "",
    ) -> None:
        self.expression = expression
        self.field = field
        self.part = part
        super().__init__(
            f"{quoted(expression)} is not a cron expression.",
            reason=sentence(problem if field in problem else f"{field}: {problem}"),
            hint=f"Use {allowed}, for example `{example}`.",
            errors=[FieldError("/cron", f"{problem}, use {allowed}")],
        )

    def named(self, name: str) -> Self:
        """This error, as the reason why the schedule of that name cannot be saved."""
        self.message = f"{quoted(name)} cannot be saved: {self.message}"
        self.args = (self.message,)
        return self


class ScheduleNeverFires(ScheduleInvalid):
    """A cron expression names only days that no calendar has, such as 31 February."""

    code = "WL4403"

    def __init__(
        self, expression: str, *, months: Sequence[str], day: int, last: int, example: str, tz: str
    ) -> None:
        have = "has" if len(months) == 1 else "have"
        super().__init__(
            expression,
            f"{listed(months)} {have} no day {day}",
            allowed=f"a day from 1 to {last}",
            example=example,
            part=str(day),
        )
        self.field = "day of month"
        self.message = f"{quoted(expression)} never fires."
        self.args = (self.message,)
        zone = f" --tz {tz}" if tz else ""
        self.hint += f' See the dates first: `windlass schedules preview "{example}"{zone}`.'


class ZoneUnknown(WindlassError):
    """No time zone has this name. Zones are named as in the IANA database: `Europe/Berlin`."""

    code = "WL4402"

    def __init__(self, zone: object, *, known: Collection[str] = ()) -> None:
        self.zone = zone
        self.near = _near(zone, known) if isinstance(zone, str) else None
        super().__init__(
            f"no time zone named {quoted(zone)}.",
            reason="Zones are named by region and city, as in the IANA database.",
            hint=f"Did you mean `{self.near}`?"
            if self.near
            else "Give a name such as `Europe/Berlin`, `America/New_York` or `UTC`.",
            errors=[FieldError("/timezone", f"no time zone named {quoted(zone)}")],
        )


def _near(zone: str, known: Collection[str]) -> str | None:
    wanted = zone.strip().replace(" ", "_").casefold()
    by_fold = {name.casefold(): name for name in sorted(known)}
    if wanted in by_fold:
        return by_fold[wanted]
    # People know the city: "berlin", "new york".
    for fold, name in by_fold.items():
        if wanted and fold.rpartition("/")[2] == wanted:
            return name
    near = nearest(wanted[:64], by_fold)
    return None if near is None else by_fold[near]
