"""`windlass events`: emit, list, show and replay events."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from windlass.cli.framework.change_many import change_each, post_change, print_item
from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import ago, moment, one_line, tenant_of, value_of
from windlass.clock import utcnow
from windlass.errors import OptionInvalid
from windlass.errors.wording import counted

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject


@click.group(
    cls=Group,
    examples=[
        "windlass events emit folder.changed path=/in",
        "windlass events list",
        "windlass events tail",
    ],
)
def events() -> None:
    """Emit, list and replay events.

    An id may be shortened to its last six or more characters.
    """


@events.command(
    "list",
    examples=[
        "windlass events list",
        "windlass events list --name folder.changed --since -2h",
        "windlass events list --limit 500 -o csv",
    ],
)
@click.option("--name", metavar="NAME", help="Only events with this name.")
@click.option("--correlation-id", metavar="ID", help="Only events with this correlation id.")
@click.option("--since", metavar="INSTANT", help="Not before: -2h, 2027-03-01 or a whole instant.")
@click.option("--until", metavar="INSTANT", help="Before that instant.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, help="At most this many. [50]")
@click.option("--cursor", metavar="TEXT", help="Continue from this cursor.")
@with_call
def list_events(
    call: Invocation,
    limit: int,
    cursor: str | None,
    name: str | None,
    correlation_id: str | None,
    since: str | None,
    until: str | None,
) -> None:
    """List events, newest first."""
    filters = {
        "name": name,
        "correlation_id": correlation_id,
        "created_after": _instant("since", since),
        "created_before": _instant("until", until),
    }
    page = call.ask(lambda api: api.page("/events", limit=limit, cursor=cursor, **filters))
    call.out.list(page["items"], _columns(page["items"]), body=page)
    if not page["items"] and any(filters.values()):
        call.out.say("No events match.")
    elif not page["items"]:
        call.out.say("No events yet.")
        call.out.hint("windlass events emit NAME key=value emits one")
    elif page["next_cursor"]:
        call.out.hint(f"There are more: add --cursor {page['next_cursor']}")


@events.command(examples=["windlass events show 8c1f42d7", "windlass events show 8c1f42d7 --json"])
@click.argument("event")
@with_call
def show(call: Invocation, event: str) -> None:
    """Show everything about EVENT: its data, and the result of each trigger with its reason."""
    from windlass.cli.connect.api_client import path

    found = call.ask(lambda api: api.get(path("events", event)))
    call.out.one(found, lambda: _show(call, found))


@events.command(
    examples=[
        "windlass events emit folder.changed path=/in",
        "windlass events emit order.paid --payload '{\"order\": 4711}'",
        "windlass events emit folder.changed path=/in --dry-run",
        "export-orders | windlass events emit orders.exported -",
    ],
)
@click.argument("name")
@click.argument("values", nargs=-1, metavar="[KEY=VALUE]... | -")
@click.option("--payload", metavar="JSON", help="The data as a JSON object.")
@click.option("--file", metavar="FILE", help="A file with the data as JSON; - is standard input.")
@click.option("--correlation-id", metavar="ID", help="Stored with the event and its jobs.")
@click.option("--dry-run", is_flag=True, help="Show what its triggers would do; emit nothing.")
@with_call
def emit(
    call: Invocation,
    name: str,
    values: tuple[str, ...],
    payload: str | None,
    file: str | None,
    correlation_id: str | None,
    dry_run: bool,
) -> None:
    """Emit the event NAME and print its id. Matching triggers create their jobs.

    A value that is valid JSON is read as JSON, any other as text.
    """
    from windlass.cli.text.parse_payload import event_data

    data = event_data(values, payload, file)
    if dry_run:
        _try(call, name, data)
        return
    body = {"name": name, "data": data, "correlation_id": correlation_id}
    emitted = call.ask(lambda api: api.post("/events", body))
    print_item(call, emitted, lambda event: str(event["id"]))
    call.out.say(f"{counted(emitted['jobs'], 'job')} made.")
    call.out.hint(
        f"windlass jobs list --where source:event · windlass events show {_short(emitted)}"
    )


@events.command(
    examples=["windlass events tail", "windlass events tail -n 0 --json | jq -r .name"],
)
@click.option(
    "-n", "--lines", type=click.IntRange(0, 100), default=10, help="Number of earlier events. [10]"
)
@with_call
def tail(call: Invocation, lines: int) -> None:
    """Print events as they arrive, until Ctrl-C."""
    from windlass.cli.jobs.tail import TailedList
    from windlass.cli.jobs.tail import tail as tailed

    async def follow(api: "Client") -> None:
        async for event in tailed(api, TailedList("/events", ("id",), {}), last=lines):
            _print(call, event)

    call.ask(follow, limited=False)


@events.command(
    examples=["windlass events replay 8c1f42d7", "windlass events replay 8c1f42d7 41a09b3e --yes"],
)
@click.argument("ids", nargs=-1, required=True, metavar="EVENT...")
@click.option("--dry-run", is_flag=True, help="Show which events, and emit nothing.")
@with_call
def replay(call: Invocation, ids: Sequence[str], dry_run: bool) -> int:
    """Emit copies of events: the current triggers create their jobs.

    The ids of the copies are printed.
    """
    again = post_change("events", "replay")
    return change_each(call, "events", ids, again, doing="replaying", show=_line, dry_run=dry_run)


def _try(call: Invocation, name: str, data: dict[str, object]) -> None:
    """Show the effect that each matching trigger would have."""
    from windlass.cli.connect.api_client import path

    async def tried(api: "Client") -> "list[JsonObject]":
        page = await api.page("/triggers", limit=10_000)
        return [
            {
                "trigger": trigger["name"],
                "definition": trigger["definition"],
                **await api.post(path("triggers", trigger["id"], "test"), {"data": data}),
            }
            for trigger in page["items"]
            if trigger["event_name"] == name
        ]

    found = call.ask(tried)
    call.out.list(
        found,
        [
            Column("trigger", "TRIGGER", lambda one: str(one["trigger"]), wide=True),
            Column("matches", "JOB", lambda one: "✓ yes" if one["matches"] else "⊘ no"),
            Column("definition", "DEFINITION", lambda one: str(one["definition"])),
            Column("because", "BECAUSE", lambda one: one["error"] or one["because"], wide=True),
            Column("payload"),
            Column("error"),
        ],
    )
    call.out.say("Nothing was emitted." if found else f"No trigger waits for {name}.")


def _print(call: Invocation, event: "JsonObject") -> None:
    out = call.out
    if out.format == "people":
        at = moment(event["created_at"])
        out.data(f"{out.style(out.clock_time(at) if at else '', dim=True)}  {_line(event)}")
    elif out.format == "tsv":
        out.row([event["created_at"], event["id"], event["name"], _data(event)])
    elif out.format == "id":
        out.data(event["id"])
    else:
        out.json_line(event)


def _columns(items: list[Item]) -> list[Column]:
    now = utcnow()
    tenants = any(tenant_of(item) for item in items)
    return [
        Column("id", "ID", _short),
        Column("name", "NAME", lambda event: str(event["name"]), wide=True),
        Column("jobs", "JOBS", _jobs, right=True),
        Column("tenant_id", "TENANT", (lambda event: event["tenant_id"]) if tenants else None),
        Column("created_at", "EMITTED", lambda event: ago(moment(event["created_at"]), now)),
        Column("matched_at"),
        Column("created_by", "BY", lambda event: event["created_by"] or "", spare=1),
        Column("correlation_id"),
        Column("depth"),
        Column("data", "DATA", lambda event: one_line(_data(event)), wide=True),
    ]


def _show(call: Invocation, event: Item) -> None:
    out = call.out
    out.data(f"{out.style(event['name'], bold=True)}  {event['id']}")
    out.data("")
    out.facts(
        [
            ("Data", value_of(event["data"])),
            ("Jobs", _jobs(event)),
            ("Emitted", out.when(event["created_at"])),
            ("By", event["created_by"] or ""),
            ("Tenant", tenant_of(event)),
            ("Correlation", event["correlation_id"] or ""),
            ("In a chain", f"behind {counted(event['depth'], 'event')}" if event["depth"] else ""),
        ]
    )
    if event["matches"]:
        out.data("")
        out.list(event["matches"], _MATCH_COLUMNS)
    elif event["matched_at"] and not event["jobs"]:
        out.say(f"No trigger waited for {event['name']}.")
    out.hint(f"windlass events replay {_short(event)}")


_OUTCOMES = {
    "created": "✓ created",
    "existing": "= existing",
    "unmatched": "⊘ unmatched",
    "failed": "✕ failed",
}
_MATCH_COLUMNS = [
    Column("trigger", "TRIGGER", lambda match: match["trigger"] or "on_dead_letter", wide=True),
    Column("outcome", "OUTCOME", lambda match: _OUTCOMES[match["outcome"]]),
    Column("job_id", "JOB", lambda match: (match["job_id"] or "")[-8:]),
    Column("definition", "DEFINITION", lambda match: str(match["definition"]), spare=1),
    Column("because", "BECAUSE", lambda match: one_line(match["because"] or ""), wide=True),
]


def _instant(option: str, text: str | None) -> str | None:
    """Parse an instant of a filter; a duration means that long ago."""
    from windlass.cli.text.parse_time import instant
    from windlass.core.durations import duration

    if text is None:
        return None
    try:
        return (utcnow() - duration(text.removeprefix("-"), option=option)).isoformat()
    except OptionInvalid:
        return instant(text, option=option).isoformat()


def _line(event: Item) -> str:
    return f"{_short(event)}  {event['name']}  {_data(event)}"


def _short(event: Item) -> str:
    return str(event["id"][-8:])


def _jobs(event: Item) -> str:
    return str(event["jobs"]) if event["matched_at"] else "not yet"


def _data(event: Item) -> str:
    return json.dumps(event["data"], ensure_ascii=False)
