"""`windlass jobs cancel|retry|run-now`: what a person does to jobs."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.call import Call
from windlass.cli.commands import Command, with_call
from windlass.cli.exits import Exit
from windlass.cli.look import state_of
from windlass.errors import WindlassError
from windlass.errors.wording import counted

if TYPE_CHECKING:
    from windlass.cli.client import Client, Shown

_EXAMPLES_ASKED = 3


def _ids(command: Callable[..., Any]) -> Callable[..., Any]:
    dry = click.option("--dry-run", is_flag=True, help="Show which jobs, and change nothing.")
    return click.argument("ids", nargs=-1, required=True, metavar="JOB...")(dry(command))


@click.command(
    cls=Command,
    examples=[
        "windlass jobs cancel 8c1f42d7",
        "windlass jobs cancel 8c1f42d7 --reason 'wrong file'",
        "windlass jobs list --definition report -o id | xargs windlass jobs cancel --yes",
    ],
)
@_ids
@click.option("--reason", metavar="TEXT", help="Why; kept with the job.")
@with_call
def cancel(call: Call, ids: Sequence[str], dry_run: bool, reason: str | None) -> int:
    """Cancel jobs: waiting ones end at once, running ones are asked to stop."""
    return _change(call, "cancel", ids, doing="canceling", dry_run=dry_run, reason=reason)


@click.command(
    cls=Command,
    examples=[
        "windlass jobs retry 8c1f42d7",
        "windlass jobs list --state dead_letter -o id | xargs windlass jobs retry --yes",
    ],
)
@_ids
@with_call
def retry(call: Call, ids: Sequence[str], dry_run: bool) -> int:
    """Put dead-lettered or canceled jobs in line again, with fresh attempts."""
    return _change(call, "retry", ids, doing="retrying", dry_run=dry_run)


@click.command(
    "run-now",
    cls=Command,
    examples=["windlass jobs run-now 8c1f42d7", "windlass jobs run-now 8c1f42d7 41a09b3e --yes"],
)
@_ids
@with_call
def run_now(call: Call, ids: Sequence[str], dry_run: bool) -> int:
    """Make jobs due at once: those due later, retrying, or on hold."""
    return _change(call, "run-now", ids, doing="running now", dry_run=dry_run)


def _change(
    call: Call,
    verb: str,
    ids: Sequence[str],
    *,
    doing: str,
    dry_run: bool,
    reason: str | None = None,
) -> int:
    if len(ids) > 1 and not dry_run:
        shown = ", ".join(id[-8:] for id in ids[:_EXAMPLES_ASKED])
        more = ", …" if len(ids) > _EXAMPLES_ASKED else ""
        what = f"{doing} {counted(len(ids), 'job')}"
        call.confirm(what, f"{what[:1].upper()}{what[1:]} ({shown}{more}). Go on?")

    from windlass.cli.client import path

    body = None if reason is None else {"reason": reason}

    async def each(api: "Client") -> "tuple[list[Shown], list[WindlassError]]":
        done, refused = [], []
        for id in ids:
            try:
                done.append(
                    await (
                        api.get(path("jobs", id))
                        if dry_run
                        else api.post(path("jobs", id, verb), body)
                    )
                )
            except WindlassError as error:
                if len(ids) == 1:
                    raise
                refused.append(error)
        return done, refused

    done, refused = call.ask(each)
    if call.out.format in ("json", "jsonl"):
        for job in done:
            call.out.json(job)
    else:
        for job in done:
            _print(call, job)
    return _judged(call, len(done), refused)


def _print(call: Call, job: "Shown") -> None:
    if call.out.format == "people":
        call.out.data(f"{job['id'][-8:]}  {call.out.look(state_of(job))}  {job['definition']}")
    else:
        call.out.data(job["id"])


def _judged(call: Call, done: int, refused: Sequence[WindlassError]) -> int:
    from windlass.cli.problems import report

    codes = [report(error, call.flags) for error in refused]
    if not codes:
        return Exit.OK
    call.out.say(f"{done} done, {len(codes)} refused.")
    return Exit.PARTLY if done else codes[0]
