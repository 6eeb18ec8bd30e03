"""`windlass queues`: named lines of jobs."""

import shlex
from collections.abc import Sequence
from typing import Any

import click

from windlass.cli.framework.change_many import change_each, post_change
from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.dry_run import with_dry_run
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import build_filter, hint_at_more, with_paging
from windlass.cli.jobs.bulk import BulkCommand, bulk
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import OPEN, PAUSED, StateLabel, ago, moment
from windlass.clock import utcnow
from windlass.core.access.principal import display_actor
from windlass.errors import CommandInvalid
from windlass.errors.wording import did_you_mean, quoted

_MOST = 1_000
_MOVE = BulkCommand("update", "moving", "moved")
_PURGE = BulkCommand("cancel", "purging", "purged")
_WAITING = ("pending", "queued")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show which jobs, and change nothing.")


@click.group(
    cls=Group,
    examples=[
        "windlass queues list",
        "windlass queues pause mail --reason 'the relay is down'",
        "windlass queues limits media --max-concurrency 4",
    ],
)
def queues() -> None:
    """List, pause, resume and limit queues; move or cancel their waiting jobs."""


@queues.command("list", examples=["windlass queues list", "windlass queues list --json"])
@with_paging()
@with_call
def list_queues(call: Invocation, limit: int, cursor: str | None) -> None:
    """List queues by name, with their numbers of waiting and running jobs."""
    page = call.ask(lambda api: api.page("/queues", limit=limit, cursor=cursor))
    call.out.list(page["items"], _columns(), body=page)
    hint_at_more(call, page)
    if not page["items"]:
        call.out.say("No queues yet: the first job of a queue creates it.")


@queues.command(examples=["windlass queues show mail", "windlass queues show mail --json"])
@click.argument("queue")
@with_call
def show(call: Invocation, queue: str) -> None:
    """Show everything about QUEUE. A queue without any job so far is shown as empty."""
    from windlass.cli.connect.api_client import path

    found = call.ask(lambda api: api.get(path("queues", queue)))
    _note_unused(call, [queue])
    call.out.one(found, lambda: _show(call, found), key="name")


@queues.command(
    examples=[
        "windlass queues pause mail",
        "windlass queues pause mail --reason 'the relay is down'",
    ],
)
@click.argument("names", nargs=-1, required=True, metavar="QUEUE...")
@click.option("--reason", metavar="TEXT", help="Reason, shown by `jobs explain`.")
@click.option("--dry-run", is_flag=True, help="Show which queues, and change nothing.")
@with_call
def pause(call: Invocation, names: Sequence[str], reason: str | None, dry_run: bool) -> int:
    """Pause queues: running jobs finish, all others wait."""
    _note_unused(call, names)
    change = post_change("queues", "pause", {"reason": reason})
    return change_each(
        call, "queues", names, change, doing="pausing", show=_line, dry_run=dry_run, key="name"
    )


@queues.command(
    examples=["windlass queues resume mail", "windlass queues resume mail media --yes"],
)
@click.argument("names", nargs=-1, required=True, metavar="QUEUE...")
@click.option("--dry-run", is_flag=True, help="Show which queues, and change nothing.")
@with_call
def resume(call: Invocation, names: Sequence[str], dry_run: bool) -> int:
    """Resume queues: workers claim their jobs again."""
    change = post_change("queues", "resume")
    return change_each(
        call, "queues", names, change, doing="resuming", show=_line, dry_run=dry_run, key="name"
    )


@queues.command(
    examples=[
        "windlass queues limits media",
        "windlass queues limits media --max-concurrency 4",
        "windlass queues limits media --max-concurrency none",
    ],
)
@click.argument("queue")
@click.option(
    "--max-concurrency", metavar="N", help="Jobs at once on all workers together, or none."
)
@with_dry_run("change the limit of {queue}")
@with_call
def limits(call: Invocation, queue: str, max_concurrency: str | None) -> None:
    """Show the limit of QUEUE, or set it."""
    from windlass.cli.connect.api_client import path
    from windlass.cli.text.parse_limit import limit_of

    _note_unused(call, [queue])
    at = path("queues", queue)
    if max_concurrency is None:
        found = call.ask(lambda api: api.get(at))
    else:
        body = {"max_concurrency": limit_of("max_concurrency", max_concurrency)}
        found = call.ask(lambda api: api.patch(at, body))
    call.out.one(found, lambda: call.out.data(_line(found)), key="name")


@queues.command(
    examples=[
        "windlass queues move mail --to bulk --dry-run",
        "windlass queues move mail --to bulk --yes",
    ],
)
@click.argument("queue")
@click.option("--to", required=True, metavar="OTHER", help="The target queue.")
@_DRY_RUN
@with_call
def move(call: Invocation, queue: str, to: str, dry_run: bool) -> int:
    """Move all waiting jobs of QUEUE to another queue. Running jobs are not moved."""
    if to == queue:
        raise CommandInvalid(f"{queue} is where they are.", hint="Give another queue by --to.")
    return _all_waiting(call, _MOVE, queue, dry_run=dry_run, changes={"queue": to})


@queues.command(
    examples=[
        "windlass queues purge mail --dry-run",
        "windlass queues purge mail --reason 'a wrong import' --yes",
    ],
)
@click.argument("queue")
@click.option("--reason", metavar="TEXT", help="Reason, stored with each job.")
@_DRY_RUN
@with_call
def purge(call: Invocation, queue: str, reason: str | None, dry_run: bool) -> int:
    """Cancel all waiting jobs of QUEUE. Running jobs continue, and history stays.

    A job that starts meanwhile is asked to stop. Canceled jobs can be retried.
    """
    return _all_waiting(call, _PURGE, queue, dry_run=dry_run, reason=reason)


def _all_waiting(call: Invocation, action: BulkCommand, queue: str, **about: Any) -> int:
    q = build_filter(states=_WAITING, queue=queue)
    return bulk(call, action, q, typed=queue, **about)


def _note_unused(call: Invocation, names: Sequence[str]) -> None:
    """Warn about names that no queue in use has: they may be typing errors."""
    used = [
        queue["name"] for queue in call.ask(lambda api: api.page("/queues", limit=_MOST))["items"]
    ]
    for name in names:
        if name not in used:
            call.out.say(
                f"No job has used the queue {quoted(name)} yet. {did_you_mean(name, used)}".rstrip()
            )


def _columns() -> list[Column]:
    now = utcnow()
    return [
        Column("name", "QUEUE", lambda queue: str(queue["name"]), wide=True),
        Column("paused_at", "STATE", _state),
        Column("queued", "QUEUED", lambda queue: f"{queue['queued']:,}", right=True),
        Column("pending", "WAITING", lambda queue: f"{queue['pending']:,}", right=True, spare=2),
        Column("running", "RUNNING", _running, right=True),
        Column("max_concurrency"),
        Column("paused_by"),
        Column("paused_by_name"),
        Column(
            "pause_reason",
            "PAUSED",
            lambda queue: _pause_text(queue, ago(moment(queue["paused_at"]), now)),
            wide=True,
        ),
    ]


def _show(call: Invocation, queue: Item) -> None:
    out = call.out
    out.data(f"{out.look(_state(queue))}  {out.style(queue['name'], bold=True)}")
    out.data("")
    out.facts(
        [
            ("Paused", _pause_text(queue, out.when(queue["paused_at"]))),
            ("Queued", f"{queue['queued']:,}"),
            ("Waiting", f"{queue['pending']:,}"),
            ("Running", _running(queue)),
        ]
    )
    verb = "resume" if queue["paused_at"] else "pause"
    out.hint(f"windlass queues {verb} {shlex.quote(queue['name'])}")


def _line(queue: Item) -> str:
    return (
        f"{_state(queue)}  {queue['name']}  {queue['queued']:,} queued, {_running(queue)} running"
    )


def _state(queue: Item) -> StateLabel:
    return PAUSED if queue["paused_at"] else OPEN


def _running(queue: Item) -> str:
    most = queue["max_concurrency"]
    return f"{queue['running']:,}" if most is None else f"{queue['running']:,}/{most:,}"


def _pause_text(queue: Item, when: str) -> str:
    by = (
        f" by {display_actor(queue['paused_by'], queue.get('paused_by_name'))}"
        if queue["paused_by"]
        else ""
    )
    why = f": {queue['pause_reason']}" if queue["pause_reason"] else ""
    return f"{when}{by}{why}" if when else ""
