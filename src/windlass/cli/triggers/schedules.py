"""`windlass schedules`: triggers by time."""

from typing import Any

import click

from windlass.cli.framework.change_many import print_item
from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.dry_run import with_dry_run
from windlass.cli.framework.invocation import Invocation
from windlass.cli.triggers.schedule_preview import preview
from windlass.cli.triggers.shared_commands import add_verbs, print_trigger
from windlass.cli.triggers.trigger_fields import BY_TIME, COMMON, fields, flags
from windlass.errors import CommandInvalid


@click.group(
    cls=Group,
    examples=[
        'windlass schedules preview "0 2 * * 1-5" --tz Europe/Berlin',
        'windlass schedules create --name nightly --definition report --cron "0 2 * * *"',
        "windlass schedules run nightly",
    ],
)
def schedules() -> None:
    """Create, change and run schedules, and preview them.

    Give a schedule by its name, its id, or the last six or more characters of the id.
    """


add_verbs(schedules, "schedules", example="nightly")
schedules.add_command(preview)


@schedules.command(
    examples=[
        "windlass schedules create --name nightly --definition report "
        '--cron "0 2 * * *" --tz Europe/Berlin',
        "windlass schedules create --name poll --definition poll --every 15m "
        '--payload \'{"folder": "/in"}\'',
        "windlass schedules create --name launch --definition announce "
        "--at 2030-01-31T09:00+01:00 --enabled false",
    ],
)
@click.option("--name", required=True, metavar="NAME", help="Unique within the tenant.")
@click.option("--definition", required=True, metavar="KEY", help="The definition of its jobs.")
@flags(BY_TIME, COMMON)
@with_call
def create(call: Invocation, /, dry_run: bool, **given: Any) -> None:
    """Create a schedule, by one of --cron, --every, --at and --init. Its id is printed."""
    body = fields(given)
    if not {"cron", "interval_seconds", "at", "type"} & body.keys():
        raise CommandInvalid(
            "a schedule needs its times.",
            hint='Give --cron "0 2 * * *", --every 15m, --at or --init.',
        )
    created = call.ask(lambda api: api.post("/schedules", body, dry_run=dry_run or None))
    print_trigger(call, created, dry_run=dry_run, noun="schedules")


@schedules.command(
    examples=[
        'windlass schedules update nightly --cron "30 3 * * *"',
        "windlass schedules update nightly --tz Europe/Paris --dry-run",
    ],
)
@click.argument("schedule")
@click.option("--name", metavar="NAME", help="New name.")
@flags(BY_TIME, COMMON)
@with_call
def update(call: Invocation, /, schedule: str, dry_run: bool, **given: Any) -> None:
    """Change the given options of SCHEDULE; the others stay. New times, also those of another type,
    count from now."""
    from windlass.cli.connect.api_client import path

    body = fields(given)
    if not body:
        raise CommandInvalid("there is nothing to change.", hint="Give a flag, such as --cron.")
    changed = call.ask(
        lambda api: api.patch(path("schedules", schedule), body, dry_run=dry_run or None)
    )
    print_trigger(call, changed, dry_run=dry_run, noun="schedules")


@schedules.command(
    examples=["windlass schedules run nightly", "windlass schedules run nightly --wait"],
)
@click.argument("schedule")
@click.option("--wait", is_flag=True, help="Wait for the job's end (--timeout), print its result.")
@with_dry_run("create the job of the schedule {schedule} now")
@with_call
def run(call: Invocation, schedule: str, wait: bool) -> None:
    """Create the job of SCHEDULE now, and print its id; the next due time stays."""
    from windlass.cli.connect.api_client import path
    from windlass.cli.jobs.wait_for_job import wait_for

    receipt = call.ask(lambda api: api.post(path("schedules", schedule, "run")))
    id = receipt["job_id"]
    if wait:
        wait_for(call, id, message=f"Job {id[-8:]} {receipt['status']}; waiting for its end.")
        return
    if receipt["status"] == "existing":
        call.out.say(f"An equal job exists: same {receipt['because']}.")
    print_item(call, receipt, lambda made: str(made["job_id"]), key="job_id")
    call.out.hint(f"windlass jobs show {id[-8:]}")
