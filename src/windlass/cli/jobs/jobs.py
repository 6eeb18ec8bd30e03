"""`windlass jobs`: find jobs, explain why they wait, wait for them."""

from collections.abc import Sequence

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import (
    hint_at_more,
    split_states,
    with_job_filters,
    with_paging,
)
from windlass.cli.jobs.enqueue import enqueue
from windlass.cli.jobs.job_changes import cancel, delete, retry, run_now
from windlass.cli.jobs.job_copies import clone, export
from windlass.cli.jobs.job_record import attempts, graph, history, logs, reveal, show
from windlass.cli.jobs.job_update import update
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import ago, moment, one_line, percent, run_time, state_of
from windlass.clock import utcnow


@click.group(
    cls=Group,
    examples=[
        "windlass jobs list --state dead_letter",
        "windlass jobs show 8c1f42d7           # the end of an id is enough",
        "windlass jobs explain 8c1f42d7        # why isn't it running?",
    ],
)
def jobs() -> None:
    """Find jobs, cancel, retry, change and explain them.

    An id may be shortened to its last six or more characters.
    """


for _command in (
    enqueue, clone, show, reveal, attempts, history, logs, graph, cancel, retry, run_now, update,
    delete, export,
):  # fmt: skip
    jobs.add_command(_command)


@jobs.command(
    "list",
    examples=[
        "windlass jobs list",
        "windlass jobs list --state dead_letter,retrying --definition mail.send",
        "windlass jobs list --where 'error:timeout created:>-2h'",
        "windlass jobs list --state running -o csv > running.csv",
    ],
)
@with_job_filters
@click.option("--source", metavar="S", help="manual, event, schedule or system.")
@click.option("--correlation-id", metavar="TEXT", help="Only jobs of this request.")
@click.option("--created-after", metavar="INSTANT", help="Only jobs created since this instant.")
@click.option("--created-before", metavar="INSTANT", help="Only jobs created before this instant.")
@with_paging(50)
@with_call
def list_jobs(
    call: Invocation,
    states: tuple[str, ...],
    definition: str | None,
    queue: str | None,
    where: str | None,
    limit: int,
    cursor: str | None,
    source: str | None,
    correlation_id: str | None,
    created_after: str | None,
    created_before: str | None,
) -> None:
    """List jobs, newest first.

    States: pending, queued, running, completed, canceled, dead_letter. Views of these: scheduled,
    retrying, waiting.
    """
    from windlass.cli.text.parse_time import instant

    selected = split_states(states)
    more = {
        "source": source,
        "correlation_id": correlation_id,
        "created_after": created_after and instant(created_after, option="created-after"),
        "created_before": created_before and instant(created_before, option="created-before"),
    }
    page = call.ask(
        lambda api: api.page(
            "/jobs",
            q=where,
            state=selected,
            definition=definition,
            queue=queue,
            limit=limit,
            cursor=cursor,
            **more,
        )
    )
    items = page["items"]
    call.out.list(items, job_columns(items), body=page)
    hint_at_more(call, page)
    if not items:
        filtered = any((selected, definition, queue, where, *more.values()))
        call.out.say("No jobs match." if filtered else "No jobs yet.")
        call.out.hint("Enqueue one: windlass enqueue DEFINITION key=value")


@jobs.command(
    examples=["windlass jobs explain 8c1f42d7", "windlass jobs explain 8c1f42d7 --json"],
)
@click.argument("job")
@with_call
def explain(call: Invocation, job: str) -> None:
    """Explain why JOB is not running: the first reason that applies."""
    from windlass.cli.connect.api_client import path

    reason = call.ask(lambda api: api.get(path("jobs", job, "explain")))
    if call.out.format in ("people", "tsv", "id"):
        call.out.data(reason["sentence"])
        if reason["hint"]:
            call.out.hint(reason["hint"])
    else:
        call.out.one(reason, lambda: None, key="code")


@jobs.command(
    examples=[
        "windlass jobs wait 8c1f42d7",
        "windlass jobs wait 8c1f42d7 --timeout 5m && echo done",
    ],
)
@click.argument("job")
@with_call
def wait(call: Invocation, job: str) -> None:
    """Wait until JOB has ended and print its result.

    Exits with 8 if it failed or was canceled, with 9 if --timeout ran out first.
    """
    from windlass.cli.jobs.wait_for_job import wait_for

    wait_for(call, job)


def job_columns(items: Sequence[Item]) -> list[Column]:
    """The columns of a list of jobs."""
    now = utcnow()
    # With a single tenant the column would add nothing.
    tenants = any(item["tenant_id"] != "default" for item in items)
    progress = any(0 < item["progress"] < 1 for item in items)
    return [
        Column("id", "ID", lambda job: job["id"][-8:]),
        Column("view", "STATE", state_of),
        Column("definition", "DEFINITION", lambda job: str(job["definition"]), wide=True),
        Column("tenant_id", "TENANT", (lambda job: str(job["tenant_id"])) if tenants else None),
        Column("queue", "QUEUE", lambda job: str(job["queue"]), spare=3),
        Column(
            "attempts", "ATTEMPTS", lambda job: f"{job['attempts']}/{job['max_attempts']}", spare=2
        ),
        Column("max_attempts"),
        Column("state"),
        Column("priority"),
        Column("progress", "DONE", _progress if progress else None, right=True),
        Column("created_at", "CREATED", lambda job: ago(moment(job["created_at"]), now), spare=1),
        Column("due_at"),
        Column("started_at"),
        Column("finished_at", "TOOK", _duration_text, right=True, spare=4),
        Column("worker_id"),
        Column("last_error", "LAST ERROR", lambda job: one_line(job["last_error"]), wide=True),
    ]


def _progress(job: Item) -> str:
    return percent(job["progress"]) if 0 < job["progress"] < 1 else ""


def _duration_text(job: Item) -> str:
    finished = moment(job["finished_at"])
    return run_time(job, finished) if finished else ""
