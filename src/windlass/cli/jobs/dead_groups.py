"""`windlass dead groups|mute|unmute`: failures by cause, and muted causes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.change_many import change_each
from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import ago, moment, one_line
from windlass.clock import utcnow
from windlass.errors import AmbiguousId, DeadGroupNotFound

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

#: Text of an unknown cause.
UNKNOWN = "none"
NOTHING_DEAD = "The dead letter is empty."
_MOST = 500
_MORE = "Type more of the cause, or DEFINITION/CAUSE."


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass dead groups",
        "windlass dead groups --definition mail.send --json",
        "windlass dead groups --all                # muted ones too",
    ],
)
@click.option("--definition", metavar="KEY", help="Only jobs of this definition.")
@click.option("--all", "muted", is_flag=True, help="Include muted groups.")
@click.option("--recovered/--unrecovered", default=None, help="Only groups that have recovered.")
@click.option("--limit", type=click.IntRange(1, _MOST), default=50, help="At most this many. [50]")
@with_call
def groups(
    call: Invocation, definition: str | None, muted: bool, recovered: bool | None, limit: int
) -> None:
    """Group dead-lettered jobs by cause, the most recent first.

    A group has recovered if a job of its definition completed after its last failure.
    """
    params = {"definition": definition, "muted": muted or None, "recovered": recovered}
    found = call.ask(lambda api: api.get("/dead/groups", limit=limit, **params))
    now = utcnow()
    call.out.list(
        found["items"],
        [
            Column("fingerprint", "CAUSE", lambda one: cause_of(one["fingerprint"])),
            Column("definition", "DEFINITION", lambda one: str(one["definition"]), wide=True),
            Column("count", "JOBS", lambda one: f"{one['count']:,}", right=True),
            Column("tenants", "TENANTS", lambda one: str(one["tenants"]), right=True, spare=2),
            Column("first_at", "FIRST", lambda one: ago(moment(one["first_at"]), now), spare=1),
            Column("last_at", "LAST", lambda one: ago(moment(one["last_at"]), now)),
            Column("sample_id", "SAMPLE", lambda one: str(one["sample_id"])[-8:]),
            Column("sentence", "ERROR", lambda one: one_line(one["sentence"]), wide=True),
            Column("recovered", "RECOVERED", _recovered_text, spare=3),
            Column("trend_24h"),
            Column("runbook_url"),
            Column("muted_at", "MUTED", _mute_text if muted else None, wide=True),
            Column("muted_by"),
            Column("muted_until"),
            Column("reason"),
        ],
        body=found,
    )
    if found["items"]:
        call.out.hint("windlass dead retry --definition KEY --cause CAUSE")
        return
    if recovered is not None:
        call.out.say("No group has recovered." if recovered else "No group is unrecovered.")
        return
    params["muted"] = True
    hidden = not muted and call.ask(lambda api: api.get("/dead/groups", limit=1, **params))["items"]
    call.out.say("Every group is muted; --all shows them." if hidden else NOTHING_DEAD)


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass dead mute 9f86d081 --for 7d --reason 'the relay moves'",
        "windlass dead mute mail.send/9f86d081",
        "windlass --tenant acme dead mute 9f86d081   # for one tenant only",
    ],
)
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@click.option("--definition", metavar="KEY", help="Definition of the cause, if several have it.")
@click.option("--for", "lasts", metavar="DURATION", help="Duration of the mute, such as 7d.")
@click.option("--reason", metavar="TEXT", help="Reason, shown with the muted group.")
@click.option("--dry-run", is_flag=True, help="Show which groups, and change nothing.")
@with_call
def mute(
    call: Invocation,
    names: Sequence[str],
    definition: str | None,
    lasts: str | None,
    reason: str | None,
    dry_run: bool,
) -> int:
    """Mute groups: hide them from `groups` and from `doctor`.

    Give a group as a cause that `groups` shows, or as DEFINITION/CAUSE. Its jobs stay where they
    are.
    """
    from windlass.core.durations import duration

    seconds = None if lasts is None else duration(lasts, option="for").total_seconds()
    about = {"for_seconds": seconds, "reason": reason}
    return _change(call, "mute", "muting", names, definition, about, dry_run=dry_run)


@click.command(
    cls=CommandWithCall,
    examples=["windlass dead unmute 9f86d081", "windlass dead unmute mail.send/9f86d081"],
)
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@click.option("--definition", metavar="KEY", help="Definition of the cause, if several have it.")
@click.option("--dry-run", is_flag=True, help="Show which groups, and change nothing.")
@with_call
def unmute(call: Invocation, names: Sequence[str], definition: str | None, dry_run: bool) -> int:
    """Unmute groups: list them again.

    A group that an operator muted for all tenants stays muted for each of them.
    """
    return _change(call, "unmute", "unmuting", names, definition, {}, dry_run=dry_run)


def cause_of(fingerprint: str | None) -> str:
    """Shorten a fingerprint to the cause that tables show."""
    return fingerprint[:8] if fingerprint else UNKNOWN


def _change(
    call: Invocation,
    verb: str,
    doing: str,
    names: Sequence[str],
    definition: str | None,
    about: dict[str, Any],
    *,
    dry_run: bool,
) -> int:
    async def look(api: "Client", name: str) -> "JsonObject":
        return await _find(api, name, definition)

    async def change(api: "Client", name: str) -> "JsonObject":
        group = await look(api, name)
        group_key = {key: group[key] for key in ("definition", "fingerprint")}
        return await api.post(f"/dead/groups/{verb}", {**group_key, **about})

    return change_each(
        call,
        "groups",
        names,
        change,
        look=look,
        doing=doing,
        show=_line,
        dry_run=dry_run,
        key="fingerprint",
    )


async def _find(api: "Client", name: str, definition: str | None) -> "JsonObject":
    """Find the group. A full fingerprint without jobs is accepted: its mute may still exist."""
    named, _, cause = name.rpartition("/")
    definition = named or definition
    listed = await api.get("/dead/groups", definition=definition, muted=True, limit=_MOST)
    found: list[JsonObject] = [group for group in listed["items"] if _has_cause(group, cause)]
    if len(found) > 1:
        names = [f"{one['definition']}/{cause_of(one['fingerprint'])}" for one in found]
        raise AmbiguousId(cause, names, said="groups begin with", hint=_MORE)
    if found:
        return found[0]
    if definition is None:
        raise DeadGroupNotFound("any definition", cause)
    fingerprint = "" if cause == UNKNOWN else cause
    return {"definition": definition, "fingerprint": fingerprint, "muted_at": None}


def _has_cause(group: Item, cause: str) -> bool:
    # Tables show the start of a fingerprint, which is enough to distinguish causes.
    if cause == UNKNOWN or not cause:
        return bool(cause) and not group["fingerprint"]
    return str(group["fingerprint"]).startswith(cause)


def _line(group: Item) -> str:
    return (
        f"{cause_of(group['fingerprint'])}  {group['definition']}  "
        f"{'muted ' + _mute_text(group) if group['muted_at'] else 'not muted'}"
    )


def _mute_text(group: Item) -> str:
    if not group["muted_at"]:
        return ""
    until = moment(group["muted_until"])
    when = f"for {ago(until, utcnow()).removeprefix('in ')}" if until else "until unmuted"
    by = f" by {group['muted_by']}" if group["muted_by"] else ""
    everybody = " for all tenants" if group.get("tenant_id", "") is None else ""
    return f"{when}{by}{everybody}{': ' + group['reason'] if group['reason'] else ''}"


def _recovered_text(group: Item) -> str:
    return ago(moment(group["recovered_at"]), utcnow()) if group["recovered"] else ""
