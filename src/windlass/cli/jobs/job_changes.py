"""`windlass jobs cancel|retry|run-now|delete`: actions on jobs, by id or by filter."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.change_many import Change, change_each, patch_change, post_change
from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import build_filter, with_job_filters
from windlass.cli.jobs.bulk import BulkCommand, bulk
from windlass.cli.text.output import Item
from windlass.cli.text.styles import state_of
from windlass.errors import CommandInvalid

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

CANCEL = BulkCommand("cancel", "canceling", "canceled")
RETRY = BulkCommand("retry", "retrying", "retried")
RUN_NOW = BulkCommand("run_now", "running now", "run now")
DELETE = BulkCommand("discard", "deleting", "deleted", destroys=True)


def _with_ids(command: Callable[..., Any]) -> Callable[..., Any]:
    dry = click.option("--dry-run", is_flag=True, help="Show which jobs, and change nothing.")
    return click.argument("ids", nargs=-1, metavar="[JOB]...")(with_job_filters(dry(command)))


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass jobs cancel 8c1f42d7",
        "windlass jobs cancel 8c1f42d7 --reason 'wrong file'",
        "windlass jobs cancel --where 'definition:report.* state:queued'",
    ],
)
@_with_ids
@click.option("--reason", metavar="TEXT", help="Reason, stored with the job.")
@with_call
def cancel(
    call: Invocation, /, ids: Sequence[str], dry_run: bool, reason: str | None, **chosen: Any
) -> int:
    """Cancel jobs: waiting jobs end at once, running ones are asked to stop."""
    return change(call, CANCEL, ids, chosen, dry_run=dry_run, reason=reason)


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass jobs retry 8c1f42d7",
        "windlass jobs retry --state dead_letter --definition mail.send",
        "windlass jobs retry --where 'error:\"timed out\" created:>-2h' --dry-run",
    ],
)
@_with_ids
@with_call
def retry(call: Invocation, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Retry dead-lettered or canceled jobs, with fresh attempts."""
    return change(call, RETRY, ids, chosen, dry_run=dry_run)


@click.command(
    "run-now",
    cls=CommandWithCall,
    examples=[
        "windlass jobs run-now 8c1f42d7",
        "windlass jobs run-now --state scheduled --queue mail --yes",
    ],
)
@_with_ids
@with_call
def run_now(call: Invocation, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Make jobs due at once: those due later, retrying, or on hold."""
    return change(call, RUN_NOW, ids, chosen, dry_run=dry_run)


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass jobs delete 8c1f42d7",
        "windlass jobs delete --where 'state:completed finished:<-7d' --dry-run",
    ],
)
@_with_ids
@with_call
def delete(call: Invocation, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Delete ended jobs for good. Retention deletes old ones automatically."""
    return change(call, DELETE, ids, chosen, dry_run=dry_run)


def change(
    call: Invocation,
    action: BulkCommand,
    ids: Sequence[str],
    chosen: dict[str, Any],
    *,
    dry_run: bool,
    reason: str | None = None,
    changes: "JsonObject | None" = None,
) -> int:
    """Apply an action to the jobs with these ids, or to those that a filter selects."""
    q = build_filter(**chosen)
    if bool(ids) == bool(q):
        raise CommandInvalid(
            "jobs are given both by id and by a filter." if ids else "no job is given.",
            hint="Give ids, or a filter by --where, --state, --definition or --queue.",
        )
    if q:
        return bulk(call, action, q, dry_run=dry_run, reason=reason, changes=changes)
    deleted = action.destroys and not dry_run

    def show(job: Item) -> str:
        look = action.done if deleted else call.out.look(state_of(job))
        where = "" if changes is None else f"  priority {job['priority']} in {job['queue']}"
        return f"{job['id'][-8:]}  {look}  {job['definition']}{where}"

    return change_each(
        call,
        "jobs",
        ids,
        _one(action, reason, changes),
        doing=action.doing,
        show=show,
        dry_run=dry_run,
        ask=action.destroys,
    )


def _one(action: BulkCommand, reason: str | None, changes: "JsonObject | None") -> Change:
    if changes is not None:
        return patch_change("jobs", changes)
    if action.destroys:
        return _discard_job
    return post_change("jobs", action.verb, reason and {"reason": reason})


async def _discard_job(api: "Client", id: str) -> "JsonObject":
    from windlass.cli.connect.api_client import path

    job = await api.get(path("jobs", id))
    await api.delete(path("jobs", job["id"]))
    return job
