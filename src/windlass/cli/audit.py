"""`windlass audit`: who changed what, and whether the record is whole."""

import json
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.call import Call
from windlass.cli.commands import Group, with_call
from windlass.cli.exits import Exit
from windlass.cli.look import safe
from windlass.cli.output import Column, Item

if TYPE_CHECKING:
    from windlass.cli.client import Client, Shown

_PAGE = 1_000


@click.group(
    cls=Group,
    examples=["windlass audit list --limit 20", "windlass audit verify -t acme"],
)
def audit() -> None:
    """Read who changed what, and check that nobody has edited the record.

    Each tenant has a record of its own, the installation another: name a tenant by -t.
    """


@audit.command(
    "list",
    examples=[
        "windlass audit list",
        "windlass audit list -t acme --limit 500 -o csv",
        "windlass audit list --before 1204",
    ],
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, help="How many. [50]")
@click.option("--before", type=int, metavar="NUMBER", help="Go on before this number.")
@with_call
def list_entries(call: Call, limit: int, before: int | None) -> None:
    """List entries, newest first."""
    page = call.ask(lambda api: _entries(api, limit, before))
    call.out.list(
        page["items"],
        [
            Column("sequence", "NO", lambda one: str(one["sequence"]), right=True),
            Column("at", "WHEN", lambda one: call.out.when(one["at"])),
            Column("actor_name", "BY", lambda one: safe(str(one["actor_name"])), wide=True),
            Column("actor"),
            Column("action", "ACTION", lambda one: str(one["action"])),
            Column("target_kind"),
            Column("target_id", "TARGET", lambda one: safe(f"{one['target_id']}"), wide=True),
            Column("outcome", "", lambda one: "" if one["outcome"] == "allowed" else "refused"),
            Column("after", "CHANGE", _change, wide=True, spare=1),
            Column("before"),
            Column("tenant_id"),
            Column("request_id"),
            Column("hash"),
        ],
        body=page,
    )
    if not page["items"]:
        call.out.say("Nothing is on record.")
    elif page["next"] is not None:
        call.out.hint(f"There are more: add --before {page['next']}")


@audit.command(examples=["windlass audit verify", "windlass audit verify -t acme --json"])
@with_call
def verify(call: Call) -> int:
    """Check that no entry was changed, dropped, added or moved. Exits with 1 if one was."""
    found = call.ask(lambda api: api.get("/audit/verify"))
    if call.out.format in ("json", "jsonl"):
        call.out.json(found)
    elif found["whole"]:
        call.out.data(f"The record is whole; entries: {found['entries']:,}.")
    else:
        broken = found["broken"]
        call.out.data(f"The record is broken at entry {broken['sequence']}: {broken['problem']}.")
    return Exit.OK if found["whole"] else Exit.FAILED


async def _entries(api: "Client", limit: int, before: int | None) -> "Shown":
    items: list[Any] = []
    while True:
        page = await api.get("/audit", limit=min(limit - len(items), _PAGE), before=before)
        items += page["items"]
        before = page["next"]
        if before is None or len(items) >= limit:
            return {"items": items, "next": before}


def _change(entry: Item) -> str:
    return safe(json.dumps(entry["after"], ensure_ascii=False)) if entry["after"] else ""
