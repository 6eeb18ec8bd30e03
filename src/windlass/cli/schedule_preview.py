"""`windlass schedules preview`: what a schedule will do, before anybody relies on it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.call import Call
from windlass.cli.commands import Command, with_call
from windlass.cli.look import ago
from windlass.cli.output import Column, Item

if TYPE_CHECKING:
    from windlass.core.preview import Run


@click.command(
    cls=Command,
    examples=[
        'windlass schedules preview "0 2 * * 1-5" --tz America/New_York',
        'windlass schedules preview "30 2 * * *" --tz Europe/Berlin --after 2027-03-27',
        "windlass schedules preview @hourly --limit 24 --json",
    ],
)
@click.argument("expression")
@click.option("--tz", default="UTC", metavar="ZONE", help="Time zone, such as Europe/Berlin. [UTC]")
@click.option(
    "--after", metavar="INSTANT", help="From this time on, the zone's own without an offset. [now]"
)
@click.option("--limit", type=click.IntRange(1, 1000), default=5, help="How many runs. [5]")
@with_call
def preview(call: Call, expression: str, tz: str, after: str | None, limit: int) -> None:
    """Show in words and dates when the cron EXPRESSION fires, with warnings.

    Needs no database.
    """
    from windlass.cli.instants import instant
    from windlass.clock import utcnow
    from windlass.core.preview import describe, warnings
    from windlass.core.preview import preview as coming
    from windlass.core.schedule import cron

    schedule = cron(expression, tz=tz)
    now = utcnow()
    start = now if after is None else instant(after, option="after", tz=tz).astimezone(UTC)
    runs = [*_shown(coming(schedule, start, limit), now)]
    said = {"words": describe(schedule), "warnings": warnings(schedule, start)}
    if call.out.format in ("json", "jsonl"):
        shown = [{name: run[name] for name in ("at", "local", "note")} for run in runs]
        call.out.json({"words": said["words"], "runs": shown, "warnings": said["warnings"]})
        return
    if call.out.format == "people":
        call.out.data(str(said["words"]))
        call.out.data("")
    call.out.list(runs, _columns(now))
    for warning in said["warnings"]:
        call.out.say(f"Note: {warning}")


def _shown(runs: "list[Run]", now: datetime) -> Iterator[dict[str, Any]]:
    """Runs as JSON, each with how far off it is, and how long after the one before it."""
    before: datetime | None = None
    for run in runs:
        yield {
            "at": f"{run.at:%Y-%m-%dT%H:%M:%SZ}",
            "local": run.local,
            "in_seconds": round((run.at - now).total_seconds()),
            "gap_seconds": None if before is None else (run.at - before).total_seconds(),
            "note": run.note,
        }
        before = run.at


def _columns(now: datetime) -> list[Column]:
    return [
        Column("local", "RUN", lambda run: str(run["local"])),
        Column("at", "UTC", lambda run: str(run["at"]), spare=2),
        Column("in_seconds", "WHEN", lambda run: ago(datetime.fromisoformat(run["at"]), now)),
        Column("gap_seconds", "GAP", _gap, right=True, spare=1),
        Column("note", "NOTE", lambda run: str(run["note"]), wide=True),
    ]


def _gap(run: Item) -> str:
    from windlass.core.durations import words

    seconds = run["gap_seconds"]
    return "" if seconds is None else words(timedelta(seconds=seconds))
