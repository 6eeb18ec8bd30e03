"""`windlass schedules preview`: shows when a schedule will fire, before it is created."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import ago
from windlass.errors import CommandInvalid

if TYPE_CHECKING:
    from windlass.core.triggers.schedule import Schedule
    from windlass.core.triggers.schedule_preview import ScheduledRun


@click.command(
    cls=CommandWithCall,
    examples=[
        'windlass schedules preview "0 2 * * 1-5" --tz America/New_York',
        'windlass schedules preview "30 2 * * *" --tz Europe/Berlin --after 2027-03-27',
        "windlass schedules preview @hourly --limit 24 --json",
    ],
)
@click.argument("expression", required=False)
@click.option("--every", metavar="DURATION", help="An interval, in place of an expression.")
@click.option("--at", metavar="INSTANT", help="One instant, in place of an expression.")
@click.option(
    "--dedupe-window",
    metavar="DURATION",
    help="Show which runs a dedupe window of this length would drop.",
)
@click.option("--tz", default="UTC", metavar="ZONE", help="Time zone, such as Europe/Berlin. [UTC]")
@click.option(
    "--after", metavar="INSTANT", help="From this time on, the zone's own without an offset. [now]"
)
@click.option("--limit", type=click.IntRange(1, 1000), default=5, help="Number of runs. [5]")
@with_call
def preview(
    call: Invocation,
    expression: str | None,
    every: str | None,
    at: str | None,
    dedupe_window: str | None,
    tz: str,
    after: str | None,
    limit: int,
) -> None:
    """Show in words and dates when the cron EXPRESSION fires, with warnings.

    Needs no database.
    """
    from windlass.cli.text.parse_time import instant
    from windlass.clock import utcnow
    from windlass.core.durations import duration
    from windlass.core.triggers.schedule_preview import preview_schedule

    window = None if dedupe_window is None else duration(dedupe_window, option="dedupe_window")
    now = utcnow()
    start = now if after is None else instant(after, option="after", tz=tz).astimezone(UTC)
    found = preview_schedule(_schedule(expression, every, at, tz), start, limit, tz, window=window)
    runs = [*_run_items(found.runs, now)]
    if call.out.format in ("json", "jsonl"):
        rows = [{name: run[name] for name in ("at", "local", "note")} for run in runs]
        call.out.json({"words": found.words, "runs": rows, "warnings": [*found.warnings]})
        return
    if call.out.format == "people":
        call.out.data(found.words)
        call.out.data("")
    call.out.list(runs, _columns(now))
    for warning in found.warnings:
        call.out.say(f"Note: {warning}")


def _schedule(expression: str | None, every: str | None, at: str | None, tz: str) -> "Schedule":
    from windlass.cli.text.parse_time import instant
    from windlass.core.triggers import schedule

    choices = [each for each in (expression, every, at) if each is not None]
    if len(choices) != 1:
        raise CommandInvalid(
            "a preview needs one schedule.",
            hint='Give an expression such as "0 2 * * *", --every 15m or --at.',
        )
    if every is not None:
        return schedule.every(every)
    if at is not None:
        return schedule.once(instant(at, option="at", tz=tz))
    return schedule.cron(expression or "", tz=tz)


def _run_items(runs: "Sequence[ScheduledRun]", now: datetime) -> Iterator[dict[str, Any]]:
    """Runs as JSON, each with the time until it, and the time since the one before."""
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
