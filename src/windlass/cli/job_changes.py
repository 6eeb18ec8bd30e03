"""`windlass jobs cancel|retry|run-now|delete`: what a person does to jobs, by id or by filter."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.bulk import Deed, bulk
from windlass.cli.call import Call
from windlass.cli.choosing import choosing, filter_of
from windlass.cli.commands import Command, with_call
from windlass.cli.exits import Exit
from windlass.cli.look import state_of
from windlass.errors import CommandInvalid, WindlassError
from windlass.errors.wording import counted, sentence

if TYPE_CHECKING:
    from windlass.cli.client import Client, Shown

_EXAMPLES_ASKED = 3

CANCEL = Deed("cancel", "canceling", "canceled")
RETRY = Deed("retry", "retrying", "retried")
RUN_NOW = Deed("run_now", "running now", "run now")
DELETE = Deed("discard", "deleting", "deleted", destroys=True)


def _which(command: Callable[..., Any]) -> Callable[..., Any]:
    dry = click.option("--dry-run", is_flag=True, help="Show which jobs, and change nothing.")
    return click.argument("ids", nargs=-1, metavar="[JOB]...")(choosing(dry(command)))


@click.command(
    cls=Command,
    examples=[
        "windlass jobs cancel 8c1f42d7",
        "windlass jobs cancel 8c1f42d7 --reason 'wrong file'",
        "windlass jobs cancel --where 'definition:report.* state:queued'",
    ],
)
@_which
@click.option("--reason", metavar="TEXT", help="Why; kept with the job.")
@with_call
def cancel(
    call: Call, /, ids: Sequence[str], dry_run: bool, reason: str | None, **chosen: Any
) -> int:
    """Cancel jobs: waiting ones end at once, running ones are asked to stop."""
    return change(call, CANCEL, ids, chosen, dry_run=dry_run, reason=reason)


@click.command(
    cls=Command,
    examples=[
        "windlass jobs retry 8c1f42d7",
        "windlass jobs retry --state dead_letter --definition mail.send",
        "windlass jobs retry --where 'error:\"timed out\" created:>-2h' --dry-run",
    ],
)
@_which
@with_call
def retry(call: Call, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Put dead-lettered or canceled jobs in line again, with fresh attempts."""
    return change(call, RETRY, ids, chosen, dry_run=dry_run)


@click.command(
    "run-now",
    cls=Command,
    examples=[
        "windlass jobs run-now 8c1f42d7",
        "windlass jobs run-now --state scheduled --queue mail --yes",
    ],
)
@_which
@with_call
def run_now(call: Call, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Make jobs due at once: those due later, retrying, or on hold."""
    return change(call, RUN_NOW, ids, chosen, dry_run=dry_run)


@click.command(
    cls=Command,
    examples=[
        "windlass jobs delete 8c1f42d7",
        "windlass jobs delete --where 'state:dead_letter created:<-30d' --dry-run",
    ],
)
@_which
@with_call
def delete(call: Call, /, ids: Sequence[str], dry_run: bool, **chosen: Any) -> int:
    """Delete dead-lettered jobs for good. Others are deleted by retention, once they are old."""
    return change(call, DELETE, ids, chosen, dry_run=dry_run)


def change(
    call: Call,
    deed: Deed,
    ids: Sequence[str],
    chosen: dict[str, Any],
    *,
    dry_run: bool,
    reason: str | None = None,
) -> int:
    """Do something to the jobs with these ids, or else to those that are chosen by a filter."""
    q = filter_of(**chosen)
    if bool(ids) == bool(q):
        raise CommandInvalid(
            "jobs are given both by id and by a filter." if ids else "no job is given.",
            hint="Give ids, or a filter by --where, --state, --definition or --queue.",
        )
    if q:
        return bulk(call, deed, q, dry_run=dry_run, reason=reason)
    if (len(ids) > 1 or deed.destroys) and not dry_run:
        shown = ", ".join(id[-8:] for id in ids[:_EXAMPLES_ASKED])
        more = ", …" if len(ids) > _EXAMPLES_ASKED else ""
        what = f"{deed.doing} {counted(len(ids), 'job')}"
        call.confirm(what, f"{sentence(what)[:-1]} ({shown}{more}). Go on?")

    async def each(api: "Client") -> "tuple[list[Shown], list[WindlassError]]":
        done, refused = [], []
        for id in ids:
            try:
                done.append(await _one(api, deed, id, dry_run=dry_run, reason=reason))
            except WindlassError as error:
                if len(ids) == 1:
                    raise
                refused.append(error)
        return done, refused

    done, refused = call.ask(each)
    for job in done:
        _print(call, deed, job, dry_run=dry_run)
    return _judged(call, len(done), refused)


async def _one(api: "Client", deed: Deed, id: str, *, dry_run: bool, reason: str | None) -> "Shown":
    from windlass.cli.client import path

    if not dry_run and not deed.destroys:
        body = None if reason is None else {"reason": reason}
        return await api.post(path("jobs", id, deed.action.replace("_", "-")), body)
    job = await api.get(path("jobs", id))
    if not dry_run:
        await api.delete(path("dead", job["id"]))
    return job


def _print(call: Call, deed: Deed, job: "Shown", *, dry_run: bool) -> None:
    if call.out.format in ("json", "jsonl"):
        call.out.json(job)
    elif call.out.format != "people":
        call.out.data(job["id"])
    else:
        gone = deed.destroys and not dry_run
        look = deed.done if gone else call.out.look(state_of(job))
        call.out.data(f"{job['id'][-8:]}  {look}  {job['definition']}")


def _judged(call: Call, done: int, refused: Sequence[WindlassError]) -> int:
    from windlass.cli.problems import report

    codes = [report(error, call.flags) for error in refused]
    if not codes:
        return Exit.OK
    call.out.say(f"{done} done, {len(codes)} refused.")
    return Exit.PARTLY if done else codes[0]
