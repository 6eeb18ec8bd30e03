"""`windlass dead`: jobs that failed for good, by cause; retry, edit and retry, discard, mute."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import build_filter, hint_at_more, with_paging
from windlass.cli.jobs.dead_edit import edit_retry
from windlass.cli.jobs.dead_groups import NOTHING_DEAD, UNKNOWN, cause_of, groups, mute, unmute
from windlass.cli.jobs.job_changes import DELETE, RETRY, change
from windlass.cli.jobs.job_record import show
from windlass.cli.text.output import Column
from windlass.cli.text.styles import ago, moment, one_line
from windlass.clock import utcnow


@click.group(
    cls=Group,
    examples=[
        "windlass dead groups                   # what fails, by cause",
        "windlass dead retry 8c1f42d7",
        "windlass dead edit-retry 8c1f42d7 to=ada@example.com",
        "windlass dead mute 9f86d081 --for 7d   # known, and not to be heard of",
    ],
)
def dead() -> None:
    """List dead-lettered jobs and their causes; retry or discard them."""


def _with_cause_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--where", metavar="FILTER", help="Such as 'error:timeout created:>-2h'."),
        click.option("--definition", metavar="KEY", help="Only jobs of this definition."),
        click.option("--cause", metavar="TEXT", help="Only of this cause, as `groups` shows it."),
    ):
        command = option(command)
    return command


def _with_ids(command: Callable[..., Any]) -> Callable[..., Any]:
    dry = click.option("--dry-run", is_flag=True, help="Show which jobs, and change nothing.")
    return click.argument("ids", nargs=-1, metavar="[JOB]...")(_with_cause_flags(dry(command)))


@dead.command(
    "list",
    examples=[
        "windlass dead list",
        "windlass dead list --definition mail.send --json",
        "windlass dead list --cause 9f86d081",
    ],
)
@_with_cause_flags
@with_paging(50)
@with_call
def list_dead(call: Invocation, /, limit: int, cursor: str | None, **chosen: Any) -> None:
    """List dead-lettered jobs, newest first."""
    q = build_filter(states=["dead_letter"], **_chosen_filter(**chosen))
    page = call.ask(lambda api: api.page("/jobs", q=q, limit=limit, cursor=cursor))
    now = utcnow()
    call.out.list(
        page["items"],
        [
            Column("id", "ID", lambda job: str(job["id"])[-8:]),
            Column("definition", "DEFINITION", lambda job: str(job["definition"]), wide=True),
            Column("tenant_id"),
            Column("attempts", "ATTEMPTS", lambda job: str(job["attempts"]), right=True, spare=2),
            Column("finished_at", "FAILED", lambda job: ago(moment(job["finished_at"]), now)),
            Column("fingerprint", "CAUSE", lambda job: cause_of(job["fingerprint"]), spare=1),
            Column("last_error", "ERROR", lambda job: one_line(job["last_error"]), wide=True),
        ],
        body=page,
    )
    if not page["items"]:
        call.out.say("No dead-lettered jobs match." if any(chosen.values()) else NOTHING_DEAD)
    hint_at_more(call, page)


for _command in (groups, show):
    dead.add_command(_command)


@dead.command(
    examples=[
        "windlass dead retry 8c1f42d7",
        "windlass dead retry --definition mail.send --cause 9f86d081",
    ]
)
@_with_ids
@with_call
def retry(call: Invocation, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Retry jobs, or all jobs of a cause, with fresh attempts."""
    return change(call, RETRY, ids, _dead_letter_filter(**chosen), dry_run=dry_run)


dead.add_command(edit_retry)


@dead.command(
    examples=[
        "windlass dead discard 8c1f42d7",
        "windlass dead discard --definition mail.send --cause 9f86d081 --dry-run",
    ]
)
@_with_ids
@with_call
def discard(call: Invocation, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Delete jobs, or all jobs of a cause, for good."""
    return change(call, DELETE, ids, _dead_letter_filter(**chosen), dry_run=dry_run)


for _command in (mute, unmute):
    dead.add_command(_command)


def _dead_letter_filter(**chosen: str | None) -> dict[str, Any]:
    """Build the filter from the flags, limited to dead-lettered jobs. Without flags it is empty,
    which never means all jobs."""
    return {"states": ["dead_letter"], **_chosen_filter(**chosen)} if any(chosen.values()) else {}


def _chosen_filter(
    *, definition: str | None, cause: str | None, where: str | None
) -> dict[str, str | None]:
    terms = [where or ""]
    if cause:
        # Tables show the start of a fingerprint, which is enough to distinguish causes.
        terms.append("-fingerprint:*" if cause == UNKNOWN else f"fingerprint:{cause}*")
    return {"definition": definition, "where": " ".join(filter(None, terms))}
