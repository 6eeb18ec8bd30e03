"""`windlass queues move|purge`: all waiting jobs of a queue, as one bulk operation."""

from typing import Any

import click

from windlass.cli.framework.commands import Command, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.job_filter_flags import build_filter
from windlass.cli.jobs.bulk import BulkAction, bulk
from windlass.errors import CommandInvalid

_MOVE = BulkAction("update", "moving", "moved")
_PURGE = BulkAction("cancel", "purging", "purged")
_WAITING = ("pending", "queued")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show which jobs, and change nothing.")


@click.command(
    cls=Command,
    examples=[
        "windlass queues move mail --to bulk --dry-run",
        "windlass queues move mail --to bulk --yes",
    ],
)
@click.argument("queue")
@click.option("--to", required=True, metavar="OTHER", help="The queue they go to.")
@_DRY_RUN
@with_call
def move(call: Invocation, queue: str, to: str, dry_run: bool) -> int:
    """Move all waiting jobs of QUEUE to another queue. Running ones end where they are."""
    if to == queue:
        raise CommandInvalid(f"{queue} is where they are.", hint="Give another queue by --to.")
    return _all_waiting(call, _MOVE, queue, dry_run=dry_run, changes={"queue": to})


@click.command(
    cls=Command,
    examples=[
        "windlass queues purge mail --dry-run",
        "windlass queues purge mail --reason 'a wrong import' --yes",
    ],
)
@click.argument("queue")
@click.option("--reason", metavar="TEXT", help="Why; kept with each job.")
@_DRY_RUN
@with_call
def purge(call: Invocation, queue: str, reason: str | None, dry_run: bool) -> int:
    """Cancel all waiting jobs of QUEUE. Running jobs continue, and history stays.

    A job that begins to run meanwhile is asked to stop. Canceled jobs can be retried.
    """
    return _all_waiting(call, _PURGE, queue, dry_run=dry_run, reason=reason)


def _all_waiting(call: Invocation, deed: BulkAction, queue: str, **about: Any) -> int:
    q = build_filter(states=_WAITING, queue=queue)
    return bulk(call, deed, q, typed=queue, **about)
