"""Flags that describe a trigger, and the API fields they map to."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import click

from windlass.core.triggers.trigger import Misfire, Overlap
from windlass.errors import CommandInvalid, WindlassError

if TYPE_CHECKING:
    from windlass.core.triggers.schedule import Schedule

Command = Callable[..., Any]

_JSON = 'Give a JSON object, such as \'{"folder": "/in"}\'.'
_TIMES = {"cron": "--cron", "every": "--every", "at": "--at", "init": "--init"}


def _flag(*names: str, **more: Any) -> Callable[[Command], Command]:
    return click.option(*names, **more)


#: Options of every trigger.
COMMON = (
    _flag("--payload", metavar="JSON", help="The payload of its jobs; {{…}} is filled in."),
    # Only these two values: do not guess what "yes" or "0" in a script means.
    _flag("--enabled", type=click.Choice(["true", "false"]), help="Create jobs."),
    _flag("--delay", metavar="DURATION", help="Delay of its jobs."),
    _flag("--dedupe-window", metavar="DURATION", help="Window in which equal jobs are dropped."),
    _flag("--dedupe-key", metavar="TEXT", help="Dedupe key of its jobs; {{…}} is filled in."),
    _flag(
        "--max-attempts",
        type=click.IntRange(1, 100),
        metavar="N",
        help="Attempts of its jobs, the first included.",
    ),
    _flag("--dry-run", is_flag=True, help="Check and print it, store nothing."),
)
BY_TIME = (
    _flag("--cron", metavar="EXPR", help='At the times of an expression, such as "0 2 * * 1-5".'),
    _flag("--every", metavar="DURATION", help="Interval: at once, then each time it has passed."),
    _flag("--at", metavar="INSTANT", help="Once; without an offset in --tz, else the local time."),
    _flag("--init", is_flag=True, default=None, help="At start, until it has completed once."),
    _flag("--run-once", type=click.Choice(["true", "false"]), help="false: at each start."),
    _flag("--tz", metavar="ZONE", help="Time zone, such as Europe/Berlin; else the tenant's."),
    _flag("--misfire", type=click.Choice(get_args(Misfire)), help="Strategy for missed times."),
    _flag(
        "--overlap",
        type=click.Choice(get_args(Overlap)),
        help="Strategy while its last job is open.",
    ),
)
BY_EVENT = (_flag("--condition", metavar="JSON", help="What the event's data must meet, as JSON."),)


def flags(*groups: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    """Add groups of flags to a command."""

    def add(command: Command) -> Command:
        for flag in reversed([flag for group in groups for flag in group]):
            command = flag(command)
        return command

    return add


def fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The given flags as fields of the API. Invalid JSON, invalid durations and contradictions are
    refused here, before any request."""
    values = {name: value for name, value in given.items() if value is not None}
    times = _times(values)
    return times | {
        _FIELDS[name][0]: _FIELDS[name][1](values[name]) for name in _FIELDS if name in values
    }


def schedule_of(trigger: Mapping[str, Any]) -> "Schedule | None":
    """The schedule of a trigger as the API shows it; None if it is triggered by an event."""
    from windlass.cli.text.styles import moment
    from windlass.core.triggers.schedule import CronSchedule, Every, InitSchedule, Once

    match trigger["type"]:
        case "cron":
            return CronSchedule(trigger["cron"], trigger["timezone"])
        case "interval":
            return Every(trigger["interval_seconds"])
        case "once" if at := moment(trigger["at"]):
            return Once(at)
        case "init":
            return InitSchedule(trigger["run_once"])
        case _:
            return None


def when(trigger: Mapping[str, Any]) -> str:
    """The cause of a trigger, in words."""
    from windlass.core.triggers.schedule_preview import describe

    try:
        schedule = schedule_of(trigger)
    except WindlassError:
        return "times that cannot be read"
    if schedule is None:
        return f"on {trigger['event_name']}"
    return describe(schedule, trigger["timezone"])


def _times(values: Mapping[str, Any]) -> dict[str, Any]:
    given = [flag for name, flag in _TIMES.items() if name in values]
    if len(given) > 1:
        raise CommandInvalid(f"{' and '.join(given)} exclude each other.", hint="Give one of them.")
    zone = values.get("tz")
    if given in (["--every"], ["--init"]) and zone is not None:
        raise CommandInvalid(f"--tz says nothing about {given[0]}.", hint="Leave --tz out.")
    run_once = values.get("run_once")
    if given == ["--init"]:
        return {"type": "init", "run_once": run_once != "false"}
    once = {} if run_once is None else {"run_once": run_once == "true"}
    return once | _fields_of_times(values, given)


def _fields_of_times(values: Mapping[str, Any], given: Sequence[str]) -> dict[str, Any]:
    from windlass.cli.text.parse_time import instant

    zone = values.get("tz")
    if given == ["--at"]:
        return {"at": instant(values["at"], option="at", tz=zone).isoformat()}
    if given == ["--every"]:
        return {"interval_seconds": _seconds("every")(values["every"])}
    times = {"cron": values.get("cron"), "timezone": zone}
    return {name: value for name, value in times.items() if value is not None}


def _object(flag: str) -> Callable[[str], dict[str, Any]]:
    def read(text: str) -> dict[str, Any]:
        from windlass.cli.text.parse_payload import json_object

        return json_object(text, flag, hint=_JSON)

    return read


def _seconds(option: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        from windlass.core.durations import duration

        return duration(text, option=option).total_seconds()

    return read


def _as_is(value: Any) -> Any:
    return value


#: Flag -> field of the API, and the function that parses it.
_FIELDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "name": ("name", _as_is),
    "definition": ("definition", _as_is),
    "payload": ("payload", _object("--payload")),
    "enabled": ("enabled", lambda text: text == "true"),
    "delay": ("delay_seconds", _seconds("delay")),
    "dedupe_window": ("dedupe_window_seconds", _seconds("dedupe_window")),
    "dedupe_key": ("dedupe_key", _as_is),
    "max_attempts": ("max_attempts", _as_is),
    "misfire": ("misfire", _as_is),
    "overlap": ("overlap", _as_is),
    "event": ("event_name", _as_is),
    "condition": ("condition", _object("--condition")),
}
