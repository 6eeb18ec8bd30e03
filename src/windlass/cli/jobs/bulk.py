"""Bulk actions on jobs: preview, confirmation, progress, stop on Ctrl-C."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from windlass import clock
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column, Output
from windlass.cli.text.styles import one_line, state_of
from windlass.core.durations import words
from windlass.errors import OperationStateConflict, OperationTooLarge
from windlass.errors.wording import counted, sentence

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

#: Seconds between two polls of the progress.
_LOOK_SECONDS = 0.1
#: Time limit of a stop; the current batch is finished first.
_STOP_SECONDS = 30.0
_FAILURES_SHOWN = 3
_CELLS = 24
#: A rate before this would not be meaningful.
_RATED_SECONDS = 0.5
#: Fields of a dry run's row for programs; `skipped` is added, the reason if the job is skipped.
_ROW = ("id", "definition", "state", "tenant_id", "queue", "attempts", "max_attempts")


class BulkCommand(NamedTuple):
    """An action on jobs: its name in the API and its words in messages."""

    action: str
    doing: str
    done: str
    destroys: bool = False

    @property
    def verb(self) -> str:
        """The verb in the route's path."""
        return self.action.replace("_", "-")


def bulk(
    call: Invocation,
    command: BulkCommand,
    q: str,
    *,
    dry_run: bool,
    reason: str | None = None,
    changes: "JsonObject | None" = None,
    typed: str | None = None,
) -> int:
    """Apply the action to the jobs that match now, and return the exit code.

    `changes` is the change of an update. With a `typed` name the person confirms by typing it and
    so agrees to everything that matches; more jobs than one operation takes become several
    operations.
    """
    request: JsonObject = {"action": command.action, "q": q}
    if changes is not None:
        request["changes"] = changes
    preview = call.ask(lambda api: api.post("/operations/preview", request))
    changing = preview["total"] - sum(each["count"] for each in preview["skipped"])
    if dry_run:
        _dry_run(call, command, q, preview, changing)
        return Exit.OK
    if preview["more"] and typed is None:
        raise OperationTooLarge(most=preview["total"])
    for line in _preview_text(command, preview, changing):
        call.out.say(line)
    if not changing:
        return Exit.OK
    prefix = "more than " if preview["more"] else ""
    action = f"{command.doing} {prefix}{counted(changing, 'job')}"
    if typed is not None:
        call.confirm_typed(action, f"{sentence(action)} To go on, type {typed}", typed)
    elif changing > 1 or command.destroys:
        call.confirm(action, f"{sentence(action)} Go on?")
    return _in_rounds(call, command, request, reason, preview)


def _in_rounds(
    call: Invocation,
    command: BulkCommand,
    request: "JsonObject",
    reason: str | None,
    preview: "JsonObject",
) -> int:
    """Run one operation, or as many as needed until nothing matches."""
    limit, body = _limit(call), {**request, "reason": reason}
    if preview["more"]:
        body["partly"] = True
    code = Exit.OK
    while preview["total"] and code == Exit.OK:
        code = Exit(call.ask(lambda api: _operate(call, api, command, body, limit), limited=False))
        if not preview["more"]:
            break
        preview = call.ask(lambda api: api.post("/operations/preview", request))
    return code


def _dry_run(
    call: Invocation, command: BulkCommand, q: str, preview: "JsonObject", changing: int
) -> None:
    """Print the effect: counts and examples for a person, a row per job for a program."""
    summary = [*_preview_text(command, preview, changing)]
    if call.out.format == "people":
        call.out.block("\n".join(summary))
        return
    call.out.say(summary[0])
    found = call.ask(lambda api: api.page("/jobs", q=q, limit=preview["total"]))["items"]
    rows = [
        {name: job[name] for name in _ROW} | {"skipped": _skipped(command, job)} for job in found
    ]
    columns = [Column(name) for name in (*_ROW, "skipped")]
    call.out.list(rows, columns, body={**preview, "jobs": rows})


def _skipped(command: BulkCommand, job: "JsonObject") -> str | None:
    from windlass.core.jobs.operations import BulkAction, skip_reason
    from windlass.core.jobs.states import JobState

    return skip_reason(BulkAction(command.action), JobState(job["state"]))


def _preview_text(command: BulkCommand, preview: "JsonObject", changing: int) -> Iterator[str]:
    """The preview: the action, the number of jobs, and a few of them."""
    if not preview["total"]:
        yield "No jobs match."
        return
    prefix = "More than " if preview["more"] else ""
    yield f"{prefix}{counted(preview['total'], 'job')} found, {changing:,} can be {command.done}."
    yield f"  {', '.join(f'{count:,} {state}' for state, count in preview['by_state'].items())}"
    for each in preview["skipped"]:
        yield f"  {counted(each['count'], 'job')} skipped: {each['reason']}"
    for job in preview["sample"]:
        why = f"  {one_line(job['last_error'])}" if job["last_error"] else ""
        yield f"  {job['id'][-8:]}  {state_of(job)}  {job['definition']}{why}"
    if preview["total"] > len(preview["sample"]) > 0:
        yield "  …"


async def _operate(
    call: Invocation, api: "Client", command: BulkCommand, body: "JsonObject", limit: float | None
) -> int:
    import asyncio

    from windlass.cli.connect.api_client import path

    early: Exit | None = None
    async with api.operating():
        # A separate task: an interrupt needs the operation's id, to stop it.
        begun = asyncio.create_task(api.post("/operations", body))
        try:
            operation = await asyncio.shield(begun)
            operation = await _watch(call, api, command, operation["id"], limit)
            early = Exit.TIMED_OUT if operation["state"] == "running" else None
        except asyncio.CancelledError:
            early, operation = Exit.INTERRUPTED, await begun
        if early is not None:
            operation = await _stop(api, operation["id"])
    failures: list[JsonObject] = []
    if operation["failed"]:
        items = path("operations", operation["id"], "items")
        failures = (await api.get(items, state="failed", limit=_FAILURES_SHOWN))["items"]
    _report(call, command, operation, failures)
    return early if early is not None else _exit_code(operation)


async def _watch(
    call: Invocation, api: "Client", command: BulkCommand, id: str, limit: float | None
) -> "JsonObject":
    """Return the operation once it has ended, or its current state when the timeout is over."""
    import asyncio

    from windlass.cli.connect.api_client import path

    progress = Progress(call.out, command.doing)
    until = None if limit is None else clock.monotonic() + limit
    try:
        while True:
            operation = await api.get(path("operations", id))
            progress.show(operation["total"] - operation["left"], operation["total"])
            if operation["state"] != "running" or (until and clock.monotonic() > until):
                return operation
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        progress.end()


async def _stop(api: "Client", id: str) -> "JsonObject":
    import asyncio

    from windlass.cli.connect.api_client import path

    with suppress(OperationStateConflict):  # it has ended meanwhile
        await api.post(path("operations", id, "stop"))
    until = clock.monotonic() + _STOP_SECONDS
    while True:
        operation = await api.get(path("operations", id))
        if operation["state"] != "running" or clock.monotonic() > until:
            return operation
        await asyncio.sleep(_LOOK_SECONDS)


def _report(
    call: Invocation, command: BulkCommand, operation: "JsonObject", failures: "list[JsonObject]"
) -> None:
    counts = [f"{counted(operation['done'], 'job')} {command.done}"]
    counts += [
        f"{operation[name]:,} {word}"
        for name, word in (("skipped", "skipped"), ("failed", "failed"), ("left", "left alone"))
        if operation[name]
    ]
    stopped = "" if operation["state"] == "completed" else "Stopped: "
    call.out.say(f"{stopped}{', '.join(counts)}.")
    for item in failures:
        call.out.say(f"  {item['job_id'][-8:]}  {one_line(item['note'])}")
    if call.out.format != "people":
        call.out.one(operation, lambda: None)


def _exit_code(operation: "JsonObject") -> int:
    if operation["state"] == "stopped":
        return Exit.PARTLY
    if operation["failed"]:
        return Exit.PARTLY if operation["done"] else Exit.FAILED
    return Exit.OK


def _limit(call: Invocation) -> float | None:
    from windlass.core.durations import duration

    limit = call.flags.timeout
    return None if limit is None else duration(limit, option="timeout").total_seconds()


class Progress:
    """Progress of bulk work: a bar at a terminal, else one line per 10 %. `doing` is the activity,
    such as "retrying"."""

    def __init__(self, out: Output, doing: str) -> None:
        self._out = out
        self._doing = doing[:1].upper() + doing[1:]
        self._began = clock.monotonic()
        self._tenth = 0

    def show(self, settled: int, total: int) -> None:
        if self._out.draws:
            self._out.draw(
                f"{self._doing}  {_bar(settled, total)}  {self._numbers(settled, total)}"
            )
            return
        tenth = 10 if not total else settled * 10 // total
        if tenth > self._tenth:
            self._tenth = tenth
            self._out.say(f"{self._doing}: {tenth * 10} %, {self._numbers(settled, total)}")

    def end(self) -> None:
        """Clear the bar."""
        if self._out.draws:
            self._out.draw("")

    def _numbers(self, settled: int, total: int) -> str:
        count = f"{settled:,} of {total:,}"
        seconds = clock.monotonic() - self._began
        if not settled or seconds < _RATED_SECONDS:
            return count
        rate = settled / seconds
        left = timedelta(seconds=round((total - settled) / rate))
        return f"{count}, {rate:,.0f}/s" + (f", {words(left)} left" if left else "")


def _bar(settled: int, total: int) -> str:
    full = _CELLS if not total else settled * _CELLS // total
    return "━" * full + "╌" * (_CELLS - full)
