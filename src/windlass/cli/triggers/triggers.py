"""`windlass triggers`: rules that create jobs, by event or by time."""

import json
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.triggers.shared_commands import add_verbs, print_trigger
from windlass.cli.triggers.trigger_fields import BY_EVENT, BY_TIME, COMMON, fields, flags
from windlass.errors import CommandInvalid

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import JsonObject


@click.group(
    cls=Group,
    examples=[
        "windlass triggers list",
        "windlass triggers create --name greet --event member.joined --definition hello "
        '--payload \'{"name": "{{event.name}}"}\'',
        "windlass triggers test greet name=Ada",
    ],
)
def triggers() -> None:
    """Create, change and test triggers; those by time are also schedules.

    Give a trigger by its name, its id, or the last six or more characters of the id.
    """


add_verbs(triggers, "triggers", example="greet")


@triggers.command(
    examples=[
        "windlass triggers create --name greet --event member.joined --definition hello "
        '--payload \'{"name": "{{event.name}}"}\'',
        "windlass triggers create --name thumbs --event file.added --definition resize "
        '--condition \'{"type": {"starts_with": "image/"}}\'',
    ],
)
@click.option("--name", required=True, metavar="NAME", help="Unique within the tenant.")
@click.option("--definition", required=True, metavar="KEY", help="What its jobs are of.")
@click.option("--event", required=True, metavar="NAME", help="The event that sets it off.")
@flags(BY_EVENT, COMMON)
@with_call
def create(call: Invocation, /, dry_run: bool, **given: Any) -> None:
    """Create a trigger for an event. Its id is printed.

    For a trigger by time use `windlass schedules create`.
    """
    body = {**fields(given), "type": "event"}
    created = call.ask(lambda api: api.post("/triggers", body, dry_run=dry_run or None))
    print_trigger(call, created, dry_run=dry_run, noun="triggers")


@triggers.command(
    examples=[
        "windlass triggers update greet --event member.confirmed",
        "windlass triggers update greet --max-attempts 5 --dry-run",
    ],
)
@click.argument("trigger")
@click.option("--name", metavar="NAME", help="Another name.")
@click.option("--event", metavar="NAME", help="Another event.")
@flags(BY_EVENT, BY_TIME, COMMON)
@with_call
def update(call: Invocation, /, trigger: str, dry_run: bool, **given: Any) -> None:
    """Change the given options of TRIGGER; the others stay."""
    from windlass.cli.connect.api_client import path

    body = fields(given)
    if not body:
        raise CommandInvalid("there is nothing to change.", hint="Give a flag, such as --event.")
    changed = call.ask(
        lambda api: api.patch(path("triggers", trigger), body, dry_run=dry_run or None)
    )
    print_trigger(call, changed, dry_run=dry_run, noun="triggers")


@triggers.command(
    examples=[
        "windlass triggers test greet name=Ada",
        'windlass triggers test greet --payload \'{"name": "Ada"}\' --json',
        "windlass triggers test greet --event 8c1f42d7",
    ],
)
@click.argument("trigger")
@click.argument("values", nargs=-1, metavar="[KEY=VALUE]... | -")
@click.option("--payload", metavar="JSON", help="The event's data as a JSON object.")
@click.option("--file", metavar="FILE", help="A file with the data as JSON; - is standard input.")
@click.option("--event", metavar="ID", help="An event that was emitted, in place of data.")
@with_call
def test(
    call: Invocation,
    trigger: str,
    values: tuple[str, ...],
    payload: str | None,
    file: str | None,
    event: str | None,
) -> None:
    """Show what TRIGGER would do with an event: the job it would enqueue, or why none. Nothing is
    stored."""
    from windlass.cli.connect.api_client import path
    from windlass.cli.text.parse_payload import event_data

    if event is not None and (values or payload is not None or file is not None):
        raise CommandInvalid("--event and data exclude each other.", hint="Give one of them.")
    body = {"event_id": event} if event else {"data": event_data(values, payload, file)}
    tried = call.ask(lambda api: api.post(path("triggers", trigger, "test"), body))
    call.out.one(tried, lambda: _show(call, tried), key="matches")


def _show(call: Invocation, tried: "JsonObject") -> None:
    if tried["error"]:
        call.out.data(f"✕ It matches, but {tried['because']}: {tried['error']}")
    elif tried["matches"]:
        payload = json.dumps(tried["payload"], ensure_ascii=False)
        call.out.data(f"✓ It would make a job with {payload}")
    else:
        call.out.data(f"⊘ It would make no job: {tried['because']}.")
