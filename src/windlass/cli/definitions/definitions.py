"""`windlass definitions`: list, show and limit what may run."""

import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from windlass.cli.definitions.definition_edits import create, definition_line, delete, edit, reset
from windlass.cli.definitions.definition_sync import sync
from windlass.cli.framework.change_many import change_each, post_change
from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.dry_run import with_dry_run
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import hint_at_more, with_paging
from windlass.cli.jobs.enqueue import enqueue
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import ago, enabled_of, moment, one_line, percent, took, value_of
from windlass.clock import utcnow

KINDS = ("code", "path", "command", "remote")
#: Limits that are whole numbers; the others are rates.
_WHOLE = ("max_concurrency", "max_per_key", "max_attempts")


@click.group(
    cls=Group,
    examples=[
        "windlass definitions list",
        "windlass definitions schema mail.send",
        "windlass definitions limits mail.send --rate-limit 100/min",
        "windlass definitions sync jobs.py",
    ],
)
def definitions() -> None:
    """List what may run, and change how it runs without a deploy."""


definitions.add_command(enqueue, "run")
definitions.add_command(sync)
definitions.add_command(create)
definitions.add_command(edit)
definitions.add_command(delete)
definitions.add_command(reset)


@definitions.command(
    "list",
    examples=[
        "windlass definitions list",
        "windlass definitions list --queue mail --disabled",
        "windlass definitions list --missing --json",
    ],
)
@click.option("--queue", metavar="NAME", help="Only definitions of this queue.")
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of handler.")
@click.option("--enabled/--disabled", default=None, help="Only enabled, or only disabled ones.")
@click.option(
    "--missing/--not-missing",
    default=None,
    help="Only those missing from the code, or only the others.",
)
@click.option("--edited/--not-edited", default=None, help="Only edited ones, or only the others.")
@click.option("--tag", metavar="TAG", help="Only those with this tag.")
@click.option("--search", metavar="TEXT", help="Text in key, title, description, handler or tags.")
@click.option("--system", is_flag=True, help="Include those of Windlass itself.")
@with_paging()
@with_call
def list_definitions(call: Invocation, /, limit: int, cursor: str | None, **wanted: Any) -> None:
    """List definitions, by key: all, or those that match every given flag."""
    page = call.ask(lambda api: api.page("/definitions", limit=limit, cursor=cursor, **wanted))
    call.out.list(page["items"], _columns(page["items"]), body=page)
    hint_at_more(call, page)
    if page["items"]:
        return
    if any(value is not None for name, value in wanted.items() if name != "system"):
        call.out.say("No definitions match.")
    else:
        call.out.say("No definitions yet.")
        call.out.hint("windlass definitions sync MODULE registers those of a module")


@definitions.command(
    examples=["windlass definitions show mail.send", "windlass definitions show mail.send --json"],
)
@click.argument("definition")
@with_call
def show(call: Invocation, definition: str) -> None:
    """Show everything about DEFINITION, and which options operators edited."""
    found = _read(call, definition)
    call.out.one(found, lambda: _show(call, found), key="key")


@definitions.command(
    examples=[
        "windlass definitions schema mail.send",
        "windlass definitions schema mail.send | jq .properties",
    ],
)
@click.argument("definition")
@with_call
def schema(call: Invocation, definition: str) -> None:
    """Print the JSON Schema of DEFINITION's payload."""
    call.out.json(_read(call, definition)["payload_schema"])


@definitions.command(
    examples=["windlass definitions enable mail.send", "windlass definitions enable a b --yes"],
)
@click.argument("keys", nargs=-1, required=True, metavar="DEFINITION...")
@click.option("--dry-run", is_flag=True, help="Show which, and change nothing.")
@with_call
def enable(call: Invocation, keys: Sequence[str], dry_run: bool) -> int:
    """Enable definitions: they accept and run jobs again."""
    return _switch(call, keys, "enable", doing="enabling", dry_run=dry_run)


@definitions.command(
    examples=["windlass definitions disable mail.send", "windlass definitions disable a b --yes"],
)
@click.argument("keys", nargs=-1, required=True, metavar="DEFINITION...")
@click.option("--dry-run", is_flag=True, help="Show which, and change nothing.")
@with_call
def disable(call: Invocation, keys: Sequence[str], dry_run: bool) -> int:
    """Disable definitions: new jobs are refused, queued jobs wait."""
    return _switch(call, keys, "disable", doing="disabling", dry_run=dry_run)


@definitions.command(
    examples=[
        "windlass definitions limits mail.send",
        "windlass definitions limits mail.send --max-concurrency 8 --rate-limit 100/min",
        "windlass definitions limits mail.send --rate-limit none",
    ],
)
@click.argument("definition")
@click.option("--max-concurrency", metavar="N", help="Jobs at once on all workers, or none.")
@click.option("--max-per-key", metavar="N", help="Jobs at once with one key, or none.")
@click.option("--rate-limit", metavar="RATE", help="Rate of starts, such as 100/min, or none.")
@click.option("--rate-per-key", metavar="RATE", help="The same for each key.")
@click.option("--max-attempts", metavar="N", help="Attempts, the first included.")
@with_dry_run("change the limits of {definition}")
@with_call
def limits(call: Invocation, /, definition: str, **given: Any) -> None:
    """Show the limits of DEFINITION, or set some. They win over the code until reset."""
    from windlass.cli.connect.api_client import path

    changes = _changes(given)
    found = (
        call.ask(lambda api: api.patch(path("definitions", definition), changes))
        if changes
        else _read(call, definition)
    )
    call.out.one(found, lambda: _show_limits(call, found), key="key")


def _read(call: Invocation, definition: str) -> dict[str, Any]:
    from windlass.cli.connect.api_client import path

    return call.ask(lambda api: api.get(path("definitions", definition)))


def _switch(call: Invocation, keys: Sequence[str], verb: str, *, doing: str, dry_run: bool) -> int:
    change = post_change("definitions", verb)
    return change_each(
        call,
        "definitions",
        keys,
        change,
        doing=doing,
        show=definition_line,
        dry_run=dry_run,
        key="key",
    )


def _changes(given: dict[str, str | None]) -> dict[str, Any]:
    from windlass.cli.text.parse_limit import NONE, limit_of

    changes = {name: text for name, text in given.items() if text is not None}
    return {
        name: limit_of(name, text) if name in _WHOLE else None if text == NONE else text
        for name, text in changes.items()
    }


def _columns(items: list[Item]) -> list[Column]:
    now = utcnow()
    running = any(one["running"] for one in items)
    due = any(one["next_run_at"] for one in items)
    limited = any(_limits(one) for one in items)
    edited = any(one["edited"] for one in items)
    missing = any(one["missing_from_code"] for one in items)
    return [
        Column("key", "DEFINITION", lambda one: str(one["key"]), wide=True),
        Column("enabled", "STATE", enabled_of),
        Column("queue", "QUEUE", lambda one: str(one["queue"]), spare=1),
        Column("strategy", "STRATEGY", lambda one: one["strategy"].replace("_", " "), spare=2),
        Column("max_attempts", "ATTEMPTS", lambda one: str(one["max_attempts"]), right=True),
        Column("timeout_seconds"),
        Column(
            "running", "NOW", (lambda one: str(one["running"])) if running else None, right=True
        ),
        Column("next_run_at", "NEXT", (lambda one: _next(one, now)) if due else None, spare=5),
        Column("max_concurrency", "LIMITS", _limits if limited else None, wide=True, spare=3),
        Column("rate_limit"),
        Column("kind"),
        Column("edited", "EDITED", _edited_fields if edited else None, wide=True, spare=4),
        Column("missing_from_code", "", _missing_mark if missing else None),
        Column("title"),
    ]


def _show(call: Invocation, one: Item) -> None:
    out = call.out
    out.data(f"{out.look(enabled_of(one))}  {out.style(one['key'], bold=True)}  {one['title']}")
    out.data("")
    out.facts(
        [
            ("About", one["description"]),
            ("Runs", f"{one['kind']} {one['handler']}".rstrip()),
            ("Jobs made", one["strategy"].replace("_", " ")),
            ("Queue", f"{one['queue']}, priority {one['priority']}"),
            *_limit_facts(one),
            ("Backoff", value_of(one["backoff"])),
            ("Retention", _retention(one)),
            ("Idempotent", "yes" if one["idempotent"] else "no"),
            ("Tags", ", ".join(one["tags"])),
            ("Runbook", one["runbook_url"] or ""),
            ("Metadata", value_of(one["metadata"] or None)),
            ("Edited", _edited_fields(one)),
            ("Code", "no module declares it any more" if one["missing_from_code"] else ""),
            ("Created", out.when(one["created_at"])),
            ("Updated", out.when(one["updated_at"])),
            *_activity_facts(call, one),
        ]
    )
    key = shlex.quote(one["key"])
    out.hint(f"windlass definitions schema {key} · windlass enqueue {key} key=value")


def _activity_facts(call: Invocation, one: Item) -> list[tuple[str, str]]:
    """The activity of a definition's jobs. Success rate and percentile cover the last 24 hours."""
    out, rate, p95 = call.out, one["success_rate"], one["p95_seconds"]
    workers, errors = one["workers"], one["import_errors"] or {}
    return [
        ("Running now", str(one["running"])),
        ("Last run", out.when(one["last_run_at"])),
        ("Next run", out.when(one["next_run_at"])),
        ("Succeeded", "" if rate is None else f"{percent(rate)} of the last 24 h"),
        ("Run time", "" if p95 is None else f"p95 {took(timedelta(seconds=p95))}"),
        ("Workers", "" if workers is None else ", ".join(workers) or "no live worker knows it"),
        *[("Import error", f"{one_line(error)} ({worker})") for worker, error in errors.items()],
    ]


def _next(one: Item, now: datetime) -> str:
    return ago(moment(one["next_run_at"]), now)


def _show_limits(call: Invocation, one: Item) -> None:
    call.out.facts([("Definition", one["key"]), *_limit_facts(one, none="none")])


def _limit_facts(one: Item, none: str = "") -> list[tuple[str, str]]:
    seconds = one["timeout_seconds"]
    return [
        ("Attempts", str(one["max_attempts"])),
        ("Timeout", "the settings'" if seconds is None else took(timedelta(seconds=seconds))),
        ("At once", str(one["max_concurrency"] or none)),
        ("Rate", one["rate_limit"] or none),
        ("At once per key", str(one["max_per_key"] or none) if one["limit_key"] else ""),
        ("Rate per key", (one["rate_per_key"] or none) if one["limit_key"] else ""),
        ("Key", one["limit_key"] or ""),
    ]


def _limits(one: Item) -> str:
    most = f"{one['max_concurrency']} at once" if one["max_concurrency"] else ""
    return ", ".join(filter(None, [most, one["rate_limit"]]))


def _edited_fields(one: Item) -> str:
    return ", ".join(one["edited"])


def _retention(one: Item) -> str:
    days = one["retention_days"]
    if days is None:
        return ""
    return "forever" if days < 0 else f"{days:g} days"


def _missing_mark(one: Item) -> str:
    return "✕ not in code" if one["missing_from_code"] else ""
