"""`windlass config`: show the settings and their origins, and change one in the file."""

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.installation.config_contexts import contexts, use
from windlass.cli.text.output import Column, cell
from windlass.errors import CommandInvalid
from windlass.errors.wording import nearest, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from windlass.settings import Origin

_FILE = "windlass.toml"
#: Flags that are not settings, and select the server or database.
_PLACE = ("context", "url", "token_file", "tenant")


@click.group(
    cls=Group,
    examples=[
        "windlass config show --origin",
        "windlass config get worker.concurrency",
        "windlass config set worker.concurrency 16",
        "windlass config use prod",
    ],
)
def config() -> None:
    """Show and change settings, and manage contexts.

    A flag wins over the environment, the environment over the context in use, the context over the
    file, and the file over the default.
    """


config.add_command(contexts)
config.add_command(use)


@config.command(
    examples=[
        "windlass config generate-key",
        "windlass config generate-key >> /etc/windlass.keys",
    ]
)
@with_call
def generate_key(call: Invocation) -> None:
    """Print a new random key for encryption.keys. Windlass does not store it."""
    from windlass.engine.jobs.payload_encryption import new_key

    call.out.data(new_key())


@config.command(
    examples=[
        "windlass config show",
        "windlass config show --origin",
        "windlass config show --json",
    ]
)
@click.option("--origin", is_flag=True, help="Show where each value comes from.")
@with_call
def show(call: Invocation, origin: bool) -> None:
    """Show every setting. Secrets are masked."""
    items = [*_flags(call), *(_item(one) for one in call.settings.origins())]
    columns = [
        Column("key", "KEY", lambda item: item["key"]),
        Column("value", "VALUE", lambda item: cell(item["value"]), wide=True),
    ]
    if origin:
        columns.append(Column("origin", "ORIGIN", lambda item: item["origin"], wide=True))
    call.out.list(items, columns)


@config.command(
    examples=["windlass config get worker.lease_seconds", "windlass config get database.url"]
)
@click.argument("key")
@with_call
def get(call: Invocation, key: str) -> None:
    """Print the value of the setting KEY."""
    known = {one.key: one for one in call.settings.origins()}
    if key not in known:
        near = nearest(key, known)
        raise CommandInvalid(
            f"no setting named {quoted(key)}.",
            hint=(f"Did you mean `{near}`? " if near else "")
            + "`windlass config show` lists them.",
        )
    item = _item(known[key])
    if call.out.format in ("people", "tsv", "id"):
        call.out.block(cell(item["value"]))
    else:
        call.out.one(item, lambda: None)


@config.command(
    "set",
    examples=[
        "windlass config set worker.concurrency 16",
        "windlass config set retention_days forever",
        "windlass config set modules shop.jobs,shop.mail --file deploy/windlass.toml",
    ],
)
@click.argument("key")
@click.argument("value")
@click.option("--file", metavar="FILE", help="Settings file; by default the one that is read.")
@click.option("--dry-run", is_flag=True, help="Check the value and write nothing.")
@with_call
def set_value(call: Invocation, key: str, value: str, file: str | None, dry_run: bool) -> None:
    """Set KEY to VALUE in the settings file; everything else in it stays.

    The value is checked first. The file is windlass.toml, or pyproject.toml where that has the
    settings.
    """
    from windlass.settings import set_in_file

    path = Path(file) if file else _file()
    set_in_file(path, key, value, dry_run=dry_run)
    call.out.say(f"{key} {'would be' if dry_run else 'is'} set in {path}.")


def _item(one: "Origin") -> dict[str, Any]:
    """A setting as JSON; its value is written as JSON, unless it is masked."""
    try:
        value = json.loads(one.shown)
    except ValueError:
        value = None if one.value is None else one.shown
    return {"key": one.key, "value": value, "origin": one.origin}


def _flags(call: Invocation) -> "Iterator[dict[str, Any]]":
    """The global flags that select a server or database, as far as they are set."""
    named, flags = call.context, call.flags
    of_context = {
        name for name in _PLACE if named and getattr(named, name, None) == getattr(flags, name)
    }
    for name in _PLACE:
        if value := getattr(flags, name):
            origin = f"environment, WINDLASS_{name.upper()}"
            if flags.typed(name):
                origin = "argument"
            elif named is not None and name in of_context:
                origin = f"context {named.name}"
            yield {"key": name, "value": value, "origin": origin}


def _file() -> Path:
    project = Path("pyproject.toml")
    if Path(_FILE).exists() or not project.exists():
        return Path(_FILE)
    try:
        table = tomllib.loads(project.read_text("utf-8"))
    except (OSError, ValueError):
        return Path(_FILE)
    return project if "windlass" in table.get("tool", {}) else Path(_FILE)
