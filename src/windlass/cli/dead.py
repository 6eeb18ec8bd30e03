"""`windlass dead`: jobs that failed for good, by cause; retry, edit and retry, discard."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from windlass.cli.call import Call
from windlass.cli.choosing import filter_of
from windlass.cli.commands import Group, with_call
from windlass.cli.dead_payload import edit_retry
from windlass.cli.job_changes import DELETE, RETRY, change
from windlass.cli.job_record import show
from windlass.cli.look import ago, moment, one_line
from windlass.cli.output import Column
from windlass.clock import utcnow

#: How a cause is written that nobody knows.
_UNKNOWN = "none"


@click.group(
    cls=Group,
    examples=[
        "windlass dead groups                   # what fails, by cause",
        "windlass dead retry 8c1f42d7",
        "windlass dead edit-retry 8c1f42d7 to=ada@example.com",
    ],
)
def dead() -> None:
    """See what failed for good, and why; put it in line again, or discard it."""


def _choosing(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--where", metavar="FILTER", help="Such as 'error:timeout created:>-2h'."),
        click.option("--definition", metavar="KEY", help="Only jobs of this definition."),
        click.option("--cause", metavar="TEXT", help="Only of this cause, as `groups` shows it."),
    ):
        command = option(command)
    return command


def _which(command: Callable[..., Any]) -> Callable[..., Any]:
    dry = click.option("--dry-run", is_flag=True, help="Show which jobs, and change nothing.")
    return click.argument("ids", nargs=-1, metavar="[JOB]...")(_choosing(dry(command)))


@dead.command(
    "list",
    examples=[
        "windlass dead list",
        "windlass dead list --definition mail.send --json",
        "windlass dead list --cause 9f86d081",
    ],
)
@_choosing
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, help="How many at most. [50]")
@with_call
def list_dead(call: Call, /, limit: int, **chosen: Any) -> None:
    """List dead-lettered jobs, newest first."""
    q = filter_of(states=["dead_letter"], **_meant(**chosen))
    page = call.ask(lambda api: api.page("/jobs", q=q, limit=limit))
    now = utcnow()
    call.out.list(
        page["items"],
        [
            Column("id", "ID", lambda job: str(job["id"])[-8:]),
            Column("definition", "DEFINITION", lambda job: str(job["definition"]), wide=True),
            Column("tenant_id"),
            Column("attempts", "TRIES", lambda job: str(job["attempts"]), right=True, spare=2),
            Column("finished_at", "FAILED", lambda job: ago(moment(job["finished_at"]), now)),
            Column("fingerprint", "CAUSE", lambda job: _cause(job["fingerprint"]), spare=1),
            Column("last_error", "ERROR", lambda job: one_line(job["last_error"]), wide=True),
        ],
        body=page,
    )
    if not page["items"]:
        call.out.say("No dead-lettered jobs match." if any(chosen.values()) else _NONE)
    elif page["next_cursor"]:
        call.out.hint("There are more: raise --limit, or see them by cause: windlass dead groups")


@dead.command(
    examples=["windlass dead groups", "windlass dead groups --definition mail.send --json"]
)
@click.option("--definition", metavar="KEY", help="Only jobs of this definition.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, help="How many at most. [50]")
@with_call
def groups(call: Call, definition: str | None, limit: int) -> None:
    """Group dead-lettered jobs by cause; the cause seen last first."""
    found = call.ask(lambda api: api.get("/dead/groups", definition=definition, limit=limit))
    now = utcnow()
    call.out.list(
        found["items"],
        [
            Column("fingerprint", "CAUSE", lambda one: _cause(one["fingerprint"])),
            Column("definition", "DEFINITION", lambda one: str(one["definition"]), wide=True),
            Column("count", "JOBS", lambda one: f"{one['count']:,}", right=True),
            Column("tenants", "TENANTS", lambda one: str(one["tenants"]), right=True, spare=2),
            Column("first_at", "FIRST", lambda one: ago(moment(one["first_at"]), now), spare=1),
            Column("last_at", "LAST", lambda one: ago(moment(one["last_at"]), now)),
            Column("sample_id", "SAMPLE", lambda one: str(one["sample_id"])[-8:]),
            Column("sentence", "WHAT HAPPENS", lambda one: one_line(one["sentence"]), wide=True),
        ],
        body=found,
    )
    if found["items"]:
        call.out.hint("windlass dead retry --definition KEY --cause CAUSE")
    else:
        call.out.say(_NONE)


dead.add_command(show)


@dead.command(
    examples=[
        "windlass dead retry 8c1f42d7",
        "windlass dead retry --definition mail.send --cause 9f86d081",
    ]
)
@_which
@with_call
def retry(call: Call, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Put jobs, or all of a cause, in line again with fresh attempts."""
    return change(call, RETRY, ids, _of_the_dead(**chosen), dry_run=dry_run)


dead.add_command(edit_retry)


@dead.command(
    examples=[
        "windlass dead discard 8c1f42d7",
        "windlass dead discard --definition mail.send --cause 9f86d081 --dry-run",
    ]
)
@_which
@with_call
def discard(call: Call, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Delete jobs, or all of a cause, for good."""
    return change(call, DELETE, ids, _of_the_dead(**chosen), dry_run=dry_run)


_NONE = "Nothing is in the dead letter."


def _of_the_dead(**chosen: str | None) -> dict[str, Any]:
    """What was chosen, among the dead-lettered; nothing chosen stays nothing, and never means all."""
    return {"states": ["dead_letter"], **_meant(**chosen)} if any(chosen.values()) else {}


def _meant(
    *, definition: str | None, cause: str | None, where: str | None
) -> dict[str, str | None]:
    terms = [where or ""]
    if cause:
        # The start of a fingerprint is what tables show, and tells causes apart.
        terms.append("-fingerprint:*" if cause == _UNKNOWN else f"fingerprint:{cause}*")
    return {"definition": definition, "where": " ".join(filter(None, terms))}


def _cause(fingerprint: str | None) -> str:
    return fingerprint[:8] if fingerprint else _UNKNOWN
