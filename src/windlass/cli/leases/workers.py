"""`windlass workers`: the workers, their jobs and their orders."""

import shlex
from datetime import timedelta

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.leases.worker_orders import drain, resume, stop
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import ago, moment, slots_of, took, value_of, worker_state
from windlass.clock import utcnow
from windlass.errors.wording import counted


@click.group(
    cls=Group,
    examples=[
        "windlass workers list",
        "windlass workers show 8c1f42d7",
        "windlass workers drain 8c1f42d7",
    ],
)
def workers() -> None:
    """List, drain, resume and stop workers.

    A worker is stale after two missed heartbeats. After its lease time it is lost, and its jobs are
    taken back.
    """


for _command in (drain, resume, stop):
    workers.add_command(_command)


@workers.command("list", examples=["windlass workers list", "windlass workers list --json"])
@with_call
def list_workers(call: Invocation) -> None:
    """List workers. Lost ones stay listed for a day."""
    found = call.ask(lambda api: api.get("/workers"))
    now = utcnow()
    call.out.list(
        found["items"],
        [
            Column("id", "ID", lambda worker: str(worker["id"]), wide=True),
            Column("liveness", "STATE", worker_state),
            Column("wanted"),
            Column("doing"),
            Column("slots_used", "SLOTS", slots_of, right=True),
            Column("slots"),
            Column("age_seconds", "SEEN", _seen_text, right=True),
            Column("last_seen_at"),
            Column(
                "started_at",
                "STARTED",
                lambda worker: ago(moment(worker["started_at"]), now),
                spare=1,
            ),
            Column("queues", "QUEUES", _queues, wide=True, spare=3),
            Column("definitions", "RUNS", _count, spare=2),
            Column("hostname"),
            Column("pid"),
            Column("version", "VERSION", lambda worker: str(worker["version"]), spare=4),
            Column("code", "CODE", lambda worker: str(worker["code"] or ""), spare=5),
            Column("memory_mb"),
        ],
        body=found,
    )
    if not found["items"]:
        call.out.say("No worker is running.")
        call.out.hint("Start one: windlass worker MODULE")


@workers.command(
    examples=["windlass workers show 8c1f42d7", "windlass workers show web-2:411:8c1f42d7 --json"],
)
@click.argument("worker")
@with_call
def show(call: Invocation, worker: str) -> None:
    """Show everything about WORKER, given by its id or the last six or more characters of the
    id."""
    from windlass.cli.connect.api_client import path

    found = call.ask(lambda api: api.get(path("workers", worker)))
    call.out.one(found, lambda: _show(call, found))


def _show(call: Invocation, worker: Item) -> None:
    out = call.out
    out.data(f"{out.look(worker_state(worker))}  {out.style(worker['id'], bold=True)}")
    out.data("")
    out.facts(
        [
            ("Told", _order_text(worker, out.when(worker["wanted_at"]))),
            ("Slots", f"{slots_of(worker)} in use"),
            ("Seen", out.when(worker["last_seen_at"])),
            ("Started", out.when(worker["started_at"])),
            ("Host", f"{worker['hostname']}, process {worker['pid']}"),
            ("Version", worker["version"]),
            ("Code", worker["code"] or ""),
            ("Memory", "" if worker["memory_mb"] is None else f"{worker['memory_mb']:,} MB"),
            ("Lease", took(timedelta(seconds=worker["lease_seconds"]))),
            ("Queues", _queues(worker)),
            ("Runs", "\n".join(worker["definitions"])),
            ("Running", "\n".join(map(_running_text, worker["jobs"]))),
            ("Metadata", value_of(worker["metadata"] or None)),
        ]
    )
    where = shlex.quote(f"worker:{worker['id']}")
    out.hint(f"windlass jobs list --where {where}")


def _order_text(worker: Item, when: str) -> str:
    """The operator's order, if any, and whether the worker has received it."""
    if not worker["wanted_at"]:
        return ""
    by = f" by {worker['wanted_by']}" if worker["wanted_by"] else ""
    unheard = "" if worker["doing"] == worker["wanted"] else "; not received yet"
    return f"to {worker['wanted']}{by}, {when}{unheard}"


def _seen_text(worker: Item) -> str:
    age = worker["age_seconds"]
    return "" if age is None else f"{took(timedelta(seconds=age))} ago"


def _queues(worker: Item) -> str:
    return ", ".join(worker["queues"]) or "all"


def _count(worker: Item) -> str:
    return counted(len(worker["definitions"]), "definition")


def _running_text(job: Item) -> str:
    ran = took(timedelta(seconds=job["elapsed_seconds"]))
    return f"{str(job['id'])[-8:]}  {job['definition']}  attempt {job['attempt']}, {ran}"
