"""`windlass config contexts|use`: named servers and databases."""

import os
import shlex
from typing import Any

import click

from windlass.cli.connect.contexts import Context, absolute_url, read, write
from windlass.cli.framework.commands import CommandWithCall, Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column
from windlass.core.jobs.dedupe import check_name

_COLUMNS = [
    Column("name", "CONTEXT", lambda item: f"{'●' if item['current'] else ' '} {item['name']}"),
    Column("current"),
    Column("url", "PLACE", lambda item: item["url"] or item["db"], wide=True),
    Column("db"),
    Column("tenant", "TENANT", lambda item: item["tenant"] or ""),
    Column("token_file", "TOKEN FILE", lambda item: item["token_file"] or "", spare=1, wide=True),
]


@click.group(
    invoke_without_command=True,
    cls=Group,
    examples=[
        "windlass config contexts",
        "windlass config contexts add prod --url https://jobs.example.com --tenant acme",
        "windlass config contexts remove prod",
    ],
)
@click.pass_context
def contexts(ctx: click.Context) -> None:
    """List contexts: named servers and databases; ● marks the one in use.

    They are saved in a file of your own, and apply in every folder.
    """
    if ctx.invoked_subcommand is None:
        _list()


@contexts.command(
    examples=[
        "windlass config contexts add prod --url https://jobs.example.com --token-file ~/.wl-prod",
        "windlass config contexts add local --db sqlite:///windlass.db",
    ]
)
@click.argument("name")
@click.option("--dry-run", is_flag=True, help="Check it and keep nothing.")
@with_call
def add(call: Invocation, name: str, dry_run: bool) -> None:
    """Save the server or database of --url or --db as NAME, or change NAME.

    --tenant and --token-file are saved with it. A token itself never is: use `windlass login`.
    """
    given = call.typed("url", "db", "token_file", "tenant")
    if ("url" in given) == ("db" in given):
        raise click.UsageError("name the place: either --url or --db")
    if "db" in given:
        given["db"] = absolute_url(given["db"])
    if "token_file" in given:
        given["token_file"] = os.path.abspath(os.path.expanduser(given["token_file"]))
    changed = read().with_one(Context(name=check_name("context", name), **given))
    if not dry_run:
        write(changed)
    call.out.say(f"{name} {'would be' if dry_run else 'is'} {_place(changed.known[name])}.")
    call.out.hint(f"windlass config use {shlex.quote(name)}")


@contexts.command(
    examples=["windlass config contexts remove prod", "windlass config contexts remove old --quiet"]
)
@click.argument("chosen", metavar="NAME")
@click.option("--dry-run", is_flag=True, help="Show what would be forgotten, and forget nothing.")
@with_call
def remove(call: Invocation, chosen: str, dry_run: bool) -> None:
    """Remove the context NAME from your list. The server or database itself is not changed."""
    changed = read().without(chosen)
    if not dry_run:
        write(changed)
    call.out.say(f"{chosen} {'would be' if dry_run else 'is'} forgotten.")


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass config use prod",
        "windlass config use --none                # back to flags, variables and windlass.toml",
    ],
)
@click.argument("chosen", metavar="NAME", required=False)
@click.option("--none", "nowhere", is_flag=True, help="Use no context.")
@click.option("--dry-run", is_flag=True, help="Check it and choose nothing.")
@with_call
def use(call: Invocation, chosen: str | None, nowhere: bool, dry_run: bool) -> None:
    """Use the context NAME from now on, in every folder.

    --context NAME does so for one command. --url, --db, WINDLASS_URL and WINDLASS_DATABASE_URL win
    over it. `dev`, `serve`, `worker` and `scheduler` use a context only if --context names it.
    """
    if (chosen is None) != nowhere:
        raise click.UsageError("name a context, or give --none")
    changed = read().choosing(chosen)
    if not dry_run:
        write(changed)
    would = "would be" if dry_run else "is"
    if chosen is None:
        call.out.say(f"No context {would} in use.")
    else:
        call.out.say(f"{chosen} {would} in use: {_place(changed.known[chosen])}.")


@with_call
def _list(call: Invocation) -> None:
    found = read()
    items = [_item(one, current=one.name == found.current) for one in found.known.values()]
    call.out.list(items, _COLUMNS)
    if not items:
        call.out.hint("windlass config contexts add NAME --url URL")


def _item(one: Context, *, current: bool) -> dict[str, Any]:
    from windlass.settings.kinds import masked_url

    return {
        "name": one.name,
        "current": current,
        "url": one.url,
        "db": one.db and masked_url(one.db),
        "tenant": one.tenant,
        "token_file": one.token_file,
    }


def _place(one: Context) -> str:
    from windlass.settings.kinds import masked_url

    place = one.url or masked_url(one.db or "")
    return f"{place} for the tenant {one.tenant}" if one.tenant else place
