"""Commands that `schedules` and `triggers` share: a schedule is a trigger by time."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, get_args

import click

from windlass.cli.framework.change_many import change_each, post_change, print_item
from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import (
    ago,
    enabled_of,
    moment,
    one_line,
    tenant_of,
    value_of,
)
from windlass.cli.triggers.trigger_fields import when
from windlass.clock import utcnow
from windlass.core.jobs.models import Origin
from windlass.core.triggers.trigger import TriggerType

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject


def add_verbs(group: Group, noun: str, *, example: str) -> None:
    """Give a group the verbs `list`, `show`, `enable`, `disable`, `reset` and `delete`."""
    one = noun.removesuffix("s")
    dry = click.option("--dry-run", is_flag=True, help="Show which, and change nothing.")
    named = click.argument("names", nargs=-1, required=True, metavar=f"{one.upper()}...")

    @group.command(
        "list",
        help=f"List {noun}, by tenant and name.",
        examples=[f"windlass {noun} list", f"windlass {noun} list --failing --json"],
    )
    @click.option("--type", type=click.Choice(_types(noun)), help="Only this type.")
    @click.option("--definition", metavar="KEY", help="Only those for this definition.")
    @_event_filter(noun)
    @click.option(
        "--enabled",
        type=click.Choice(["true", "false"]),
        help="Only enabled, or only disabled ones.",
    )
    @click.option(
        "--origin", type=click.Choice(get_args(Origin)), help="Only those with this source."
    )
    @click.option(
        "--failing", is_flag=True, help="Only those that could not create their last job."
    )
    @click.option(
        "--limit", type=click.IntRange(1, 10_000), default=100, help="At most this many. [100]"
    )
    @click.option("--cursor", metavar="TEXT", help="Continue from this cursor.")
    @with_call
    def list_them(
        call: Invocation, /, limit: int, cursor: str | None, failing: bool, **chosen: str | None
    ) -> None:
        filters = {name: value for name, value in chosen.items() if value is not None}
        filters |= {"event_name": filters.pop("event")} if "event" in filters else {}
        filters |= {"failing": "true"} if failing else {}
        page = call.ask(lambda api: api.page(f"/{noun}", limit=limit, cursor=cursor, **filters))
        call.out.list(page["items"], _columns(page["items"]), body=page)
        if not page["items"] and filters:
            call.out.say(f"No {noun} match.")
        elif not page["items"]:
            call.out.say(f"No {noun} yet.")
            call.out.hint(f"windlass {noun} create --help shows how to create one")
        elif page["next_cursor"]:
            call.out.hint(f"There are more: add --cursor {page['next_cursor']}")

    @group.command(
        help=f"Show everything about {one.upper()}, given by its name or id.",
        examples=[f"windlass {noun} show {example}", f"windlass {noun} show 8c1f42d7 --json"],
    )
    @click.argument("name", metavar=one.upper())
    @with_call
    def show(call: Invocation, name: str) -> None:
        from windlass.cli.connect.api_client import path

        found = call.ask(lambda api: api.get(path(noun, name)))
        call.out.one(found, lambda: _show(call, found, noun))

    def switch(verb: str, doing: str, help: str) -> None:
        @group.command(
            verb,
            help=help,
            examples=[f"windlass {noun} {verb} {example}", f"windlass {noun} {verb} 8c1f42d7"],
        )
        @named
        @dry
        @with_call
        def switched(call: Invocation, names: Sequence[str], dry_run: bool) -> int:
            change = post_change(noun, verb)
            return change_each(call, noun, names, change, doing=doing, show=line, dry_run=dry_run)

    switch("enable", "enabling", f"Enable {noun}: they create jobs again, from now on.")
    switch("disable", "disabling", f"Disable {noun}; their last run times stay.")
    switch("reset", "resetting", f"Reset {noun} declared in code to the code.")

    @group.command(
        help=f"Delete {noun}; their jobs stay.",
        examples=[f"windlass {noun} delete {example}", f"windlass {noun} delete 8c1f42d7 --yes"],
    )
    @named
    @dry
    @with_call
    def delete(call: Invocation, names: Sequence[str], dry_run: bool) -> int:
        from windlass.cli.connect.api_client import path

        async def drop(api: "Client", name: str) -> "JsonObject":
            found = await api.get(path(noun, name))
            await api.delete(path(noun, found["id"]))
            return found

        return change_each(
            call, noun, names, drop, doing="deleting", show=line, dry_run=dry_run, ask=True
        )


def _types(noun: str) -> list[str]:
    return [kind for kind in get_args(TriggerType) if noun == "triggers" or kind != "event"]


def _event_filter(noun: str) -> Callable[[Any], Any]:
    """The flag --event of `triggers`; schedules wait for no event."""
    if noun == "schedules":
        return lambda command: command
    return click.option("--event", metavar="NAME", help="Only those for this event.")


def line(trigger: Item) -> str:
    """One line that describes a trigger."""
    due = moment(trigger["next_run_at"])
    coming = f", next {ago(due, utcnow())}" if due else ""
    return f"{enabled_of(trigger)}  {trigger['name']}  {when(trigger)}{coming}"


def print_trigger(call: Invocation, trigger: Item, *, dry_run: bool, noun: str) -> None:
    """Print a created or changed trigger, and warnings about it."""
    print_item(call, trigger, line)
    for warning in trigger["warnings"] if trigger["enabled"] else ():
        call.out.say(f"Note: {warning}")
    if dry_run:
        call.out.say("Nothing was kept.")
    else:
        call.out.hint(f"windlass {noun} show {trigger['id'][-8:]}")


def _columns(items: list[Item]) -> list[Column]:
    now = utcnow()
    tenants = any(tenant_of(item) for item in items)
    errors = any(item["last_error"] for item in items)
    return [
        Column("id", "ID", lambda trigger: trigger["id"][-8:], spare=3),
        Column("name", "NAME", lambda trigger: str(trigger["name"]), wide=True),
        Column("enabled", "STATE", enabled_of),
        Column("type", "WHEN", when, wide=True),
        Column("definition", "DEFINITION", lambda trigger: str(trigger["definition"]), wide=True),
        Column("tenant_id", "TENANT", (lambda trigger: trigger["tenant_id"]) if tenants else None),
        Column("next_run_at", "NEXT", lambda trigger: ago(moment(trigger["next_run_at"]), now)),
        Column(
            "last_run_at", "LAST", lambda trigger: ago(moment(trigger["last_run_at"]), now), spare=2
        ),
        Column("cron"),
        Column("timezone"),
        Column("interval_seconds"),
        Column("at"),
        Column("event_name"),
        Column("last_job_id"),
        Column("last_error", "LAST ERROR", _error if errors else None, wide=True, spare=1),
    ]


def _error(trigger: Item) -> str:
    return one_line(trigger["last_error"])


def _show(call: Invocation, trigger: Item, noun: str) -> None:
    out = call.out
    name = out.style(trigger["name"], bold=True)
    out.data(f"{out.look(enabled_of(trigger))}  {name}  {trigger['id']}")
    out.data("")
    out.facts(
        [
            ("When", when(trigger)),
            ("Condition", _condition(trigger["condition"])),
            ("Next run", out.when(trigger["next_run_at"])),
            ("Last run", out.when(trigger["last_run_at"])),
            ("Last job", trigger["last_job_id"] or ""),
            ("Last error", trigger["last_error"] or ""),
            ("Definition", trigger["definition"]),
            ("Payload", value_of(trigger["payload"] or None)),
            ("Missed times", "" if trigger["type"] == "event" else trigger["misfire"]),
            ("Overlap", "" if trigger["type"] == "event" else trigger["overlap"]),
            ("Delay", _length(trigger["delay_seconds"])),
            ("Dedupe window", _length(trigger["dedupe_window_seconds"])),
            ("Dedupe key", trigger["dedupe_key"] or ""),
            ("Attempts", str(trigger["max_attempts"] or "")),
            ("Tenant", tenant_of(trigger)),
            ("Declared", _origin(trigger)),
            ("Created", f"{out.when(trigger['created_at'])}{_maker(trigger)}"),
            ("Saved by", trigger["saved_by"] or ""),
        ]
    )
    for warning in trigger["warnings"]:
        out.say(f"Note: {warning}")
    verb = "disable" if trigger["enabled"] else "enable"
    out.hint(f"windlass {noun} {verb} {trigger['id'][-8:]}")


def _condition(condition: Any) -> str:
    from windlass.core.triggers.condition import parse

    return "" if condition is None else parse(condition).words()


def _length(seconds: float | None) -> str:
    from windlass.core.durations import words

    return "" if seconds is None else words(timedelta(seconds=seconds))


def _origin(trigger: Item) -> str:
    if trigger["origin"] != "code":
        return ""
    edited = f", edited: {', '.join(trigger['edited'])}" if trigger["edited"] else ""
    return f"in code{', no longer declared' if trigger['missing_from_code'] else ''}{edited}"


def _maker(trigger: Item) -> str:
    return f" by {trigger['created_by']}" if trigger["created_by"] else ""
