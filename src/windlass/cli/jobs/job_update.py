"""`windlass jobs update`: change priority, queue, due time or metadata of waiting jobs."""

from collections.abc import Sequence
from typing import Any

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import with_job_filters_but_queue
from windlass.cli.jobs.bulk import BulkCommand
from windlass.cli.jobs.job_changes import change
from windlass.errors import CommandInvalid

UPDATE = BulkCommand("update", "changing", "changed")


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass jobs update 8c1f42d7 --priority high",
        "windlass jobs update 8c1f42d7 --queue bulk --in 2h",
        "windlass jobs update --where 'queue:mail created:<-1d' --priority low --dry-run",
    ],
)
@click.argument("ids", nargs=-1, metavar="[JOB]...")
@with_job_filters_but_queue
@click.option(
    "--priority", metavar="P", help="critical, high, normal, low, or a number: lower first."
)
@click.option("--queue", metavar="NAME", help="The target queue.")
@click.option(
    "--at", metavar="INSTANT", help="Not before this time, such as 2030-01-31T09:00+01:00."
)
@click.option("--in", "delay", metavar="DURATION", help="Delay from now, such as 10m.")
@click.option("--metadata", metavar="JSON", help="New metadata, replacing all of it.")
@click.option("--dry-run", is_flag=True, help="Show which jobs, and change nothing.")
@with_call
def update(
    call: Invocation,
    /,
    ids: Sequence[str],
    dry_run: bool,
    priority: str | None,
    queue: str | None,
    at: str | None,
    delay: str | None,
    metadata: str | None,
    **chosen: Any,
) -> int:
    """Change waiting jobs. Running and ended jobs cannot be changed.

    Cancel a running job instead; clone or retry an ended one.
    """
    changes = changes_of(priority=priority, queue=queue, at=at, delay=delay, metadata=metadata)
    return change(call, UPDATE, ids, chosen, dry_run=dry_run, changes=changes)


def changes_of(
    *,
    priority: str | None,
    queue: str | None,
    at: str | None,
    delay: str | None,
    metadata: str | None,
) -> dict[str, Any]:
    """The request body; raises CommandInvalid if no change was given."""
    from windlass.cli.jobs.enqueue import delivery_options
    from windlass.core.payloads.json_text import read_json

    options = delivery_options(at=at, delay=delay, queue=queue, priority=priority)
    if metadata is not None:
        options["metadata"] = read_json(metadata, what="metadata")
    if not options:
        raise CommandInvalid(
            "nothing is given to change.",
            hint="Give --priority, --queue, --at, --in or --metadata.",
        )
    return options
