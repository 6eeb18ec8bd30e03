"""`windlass jobs show|reveal|attempts|history|logs|graph`: the record of one job."""

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.log_lines import print_line
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import (
    LEVELS,
    OUTCOMES,
    RUNNING,
    STATES,
    StateLabel,
    one_line,
    percent,
    state_of,
    tenant_of,
    took,
    value_of,
)
from windlass.errors.wording import with_type

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

_GONE = StateLabel("·", "Deleted", "bright_black")
_OPEN_BUT_RUNNING = ("pending", "queued")


@click.command(
    cls=CommandWithCall,
    examples=["windlass jobs show 8c1f42d7", "windlass jobs show 8c1f42d7 --json"],
)
@click.argument("job")
@with_call
def show(call: Invocation, job: str) -> None:
    """Show everything about JOB: state, times, payload, result, error."""

    from windlass.cli.connect.api_client import path

    async def read(api: "Client") -> "tuple[JsonObject, str]":
        found = await api.get(path("jobs", job))
        if call.out.format != "people" or found["state"] not in _OPEN_BUT_RUNNING:
            return found, ""
        return found, (await api.get(path("jobs", found["id"], "explain")))["sentence"]

    found, why = call.ask(read)
    call.out.one(found, lambda: _show(call, found, why))


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass jobs reveal 8c1f42d7 --reason 'ticket 4711'",
        "windlass jobs reveal 8c1f42d7 --yes --json | jq .payload",
    ],
)
@click.argument("job")
@click.option("--reason", metavar="TEXT", help="Reason, stored in the audit log.")
@with_call
def reveal(call: Invocation, job: str, reason: str | None) -> None:
    """Print the payload and result of JOB with their secrets. The access is recorded in the audit
    log."""
    from windlass.cli.connect.api_client import path

    call.confirm(f"revealing the secrets of {job}", f"Print the secrets of {job} here?")
    at = path("jobs", job, "reveal")
    found = call.ask(lambda api: api.post(at, {"reason": reason}))
    call.out.one(found, lambda: _show_revealed(call, found))


def _show_revealed(call: Invocation, found: "JsonObject") -> None:
    for name in ("payload", "result"):
        call.out.data(f"{name}: {value_of(found[name]) or 'none'}")


@click.command(
    cls=CommandWithCall,
    examples=["windlass jobs attempts 8c1f42d7", "windlass jobs attempts 8c1f42d7 --json"],
)
@click.argument("job")
@with_call
def attempts(call: Invocation, job: str) -> None:
    """List the attempts of JOB, oldest first."""
    from windlass.cli.connect.api_client import path

    found = call.ask(lambda api: api.get(path("jobs", job, "attempts")))
    call.out.list(
        found["items"],
        [
            Column("number", "TRY", lambda one: str(one["number"]), right=True),
            Column("outcome", "OUTCOME", _outcome),
            Column("started_at", "STARTED", lambda one: call.out.when(one["started_at"])),
            Column("finished_at"),
            Column("duration_ms", "TOOK", _duration_text, right=True),
            Column("worker_id", "WORKER", lambda one: one["worker_id"] or "", spare=1),
            Column("error_type"),
            Column("error", "ERROR", lambda one: one_line(one["error"]), wide=True),
        ],
        body=found,
    )
    if not found["items"]:
        call.out.say("Not tried yet.")


@click.command(
    cls=CommandWithCall,
    examples=["windlass jobs history 8c1f42d7", "windlass jobs history 8c1f42d7 -o csv"],
)
@click.argument("job")
@with_call
def history(call: Invocation, job: str) -> None:
    """List the state changes of JOB: when, from which state to which, by whom."""
    from windlass.cli.connect.api_client import path

    found = call.ask(lambda api: api.get(path("jobs", job, "history")))
    call.out.list(
        found["items"],
        [
            Column("at", "WHEN", lambda step: call.out.when(step["at"])),
            Column("from_state"),
            Column("to_state", "STEP", lambda step: _state_label(step["to_state"])),
            Column("attempt", "TRY", lambda step: str(step["attempt"] or ""), right=True),
            Column("actor", "BY", lambda step: step["actor"] or ""),
            Column("message", "MESSAGE", lambda step: one_line(step["message"]), wide=True),
        ],
        body=found,
    )


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass jobs logs 8c1f42d7",
        "windlass jobs logs 8c1f42d7 -f               # until it has ended",
        "windlass jobs logs 8c1f42d7 --level warn",
    ],
)
@click.argument("job")
@click.option("-f", "--follow", is_flag=True, help="Follow the log until the job has ended.")
@click.option(
    "--level", type=click.Choice(list(LEVELS)), default="debug", help="This level and above."
)
@with_call
def logs(call: Invocation, job: str, follow: bool, level: str) -> None:
    """Print the log lines of JOB."""
    from windlass.cli.jobs.follow_log import follow_lines

    levels = list(LEVELS)[list(LEVELS).index(level) :]
    listed = not follow and call.out.format in ("json", "jsonl", "csv")

    async def stream(api: "Client") -> "list[JsonObject]":
        lines = []
        async for line in follow_lines(api, job, follow=follow):
            if line["level"] in levels:
                lines.append(line) if listed else print_line(call, line)
        return lines

    lines = call.ask(stream, limited=not follow)
    if listed:
        keys = ["sequence", "at", "level", "message", "fields", "attempt"]
        call.out.list(lines, [Column(key) for key in keys], body={"items": lines})


def _show(call: Invocation, job: Item, why: str) -> None:
    out = call.out
    out.data(f"{out.look(state_of(job))}  {out.style(job['definition'], bold=True)}  {job['id']}")
    out.data("")
    doing = f"{percent(job['progress'])} {job['progress_note'] or ''}".rstrip()
    out.facts(
        [
            ("Why", why),
            ("Progress", doing if job["progress"] else ""),
            ("Result", value_of(job["result"])),
            ("Warnings", "\n".join(job["warnings"])),
            ("Error", with_type(job["error_type"], job["last_error"])),
            ("Reason", job["reason"] or ""),
            ("Payload", value_of(job["payload"])),
            ("Tenant", tenant_of(job)),
            ("Queue", f"{job['queue']}, priority {_priority(job['priority'])}"),
            ("Attempts", f"{job['attempts']} of {job['max_attempts']}"),
            (
                "Created",
                out.when(job["created_at"])
                + (f" by {job['created_by']}" if job["created_by"] else ""),
            ),
            ("Due", out.when(job["due_at"]) if job["state"] in _OPEN_BUT_RUNNING else ""),
            ("Started", out.when(job["last_started_at"])),
            ("Finished", out.when(job["finished_at"])),
            ("Worker", job["worker_id"] or ""),
            ("Dedupe key", job["dedupe_key"] or ""),
            ("Correlation", job["correlation_id"] or ""),
            ("Metadata", value_of(job["metadata"] or None)),
        ]
    )
    if job["error_trace"] and call.flags.verbose:
        out.data("")
        out.block(job["error_trace"].rstrip(), indent="  ")
    out.hint(_next(job))


def _next(job: Item) -> str:
    id = job["id"][-8:]
    match job["state"]:
        case "dead_letter":
            return f"windlass jobs retry {id} · windlass jobs show {id} -v for the traceback"
        case "canceled":
            return f"windlass jobs retry {id}"
        case "completed":
            return f"windlass jobs logs {id}"
        case _:
            return f"windlass jobs logs {id} -f · windlass jobs cancel {id}"


def _priority(value: int) -> str:
    from windlass.core.jobs.priority import name_of

    return name_of(value) or str(value)


def _outcome(attempt: Item) -> StateLabel:
    return OUTCOMES[attempt["outcome"]] if attempt["outcome"] else RUNNING


def _state_label(name: str) -> StateLabel:
    return STATES[name] if name in STATES else OUTCOMES.get(name, STATES["waiting"])


def _duration_text(attempt: Item) -> str:
    took_ms = attempt["duration_ms"]
    return "" if took_ms is None else took(timedelta(milliseconds=took_ms))


@click.command(
    cls=CommandWithCall,
    examples=["windlass jobs graph 8c1f42d7", "windlass jobs graph 8c1f42d7 --json"],
)
@click.argument("job")
@with_call
def graph(call: Invocation, job: str) -> None:
    """List the jobs that JOB waits for, and those that wait for it."""
    from windlass.cli.connect.api_client import path

    async def read(api: "Client") -> "tuple[str, JsonObject]":
        id = (await api.get(path("jobs", job)))["id"]
        return id, await api.get(path("jobs", id, "graph"))

    id, found = call.ask(read)

    def other(edge: Item) -> str:
        return "parent" if edge["child_id"] == id else "child"

    call.out.list(
        found["edges"],
        [
            Column("parent_id", f"JOB {id[-8:]}", lambda edge: _RELATIONS[other(edge)]),
            Column("child_id", "ID", lambda edge: str(edge[f"{other(edge)}_id"])[-8:]),
            Column("parent_state", "STATE", lambda edge: _edge_state(edge[f"{other(edge)}_state"])),
            Column("child_state"),
            Column("policy", "ON PARENT FAILURE", lambda edge: _POLICIES[edge["policy"]]),
            Column("settled"),
        ],
        body=found,
    )
    if not found["edges"]:
        call.out.say("It has no parents and no children.")


_RELATIONS = {"parent": "waits for", "child": "is waited for by"}
_POLICIES = {"cancel": "the child is canceled", "run": "the child runs", "wait": "the child waits"}


def _edge_state(state: str | None) -> StateLabel:
    if state is None:
        return _GONE
    return STATES["waiting" if state == "pending" else state]
