"""`windlass definitions create`, `edit`, `delete` and `reset`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.definitions.definition_fields import definition_fields, definition_flags
from windlass.cli.framework.change_many import change_each, print_item
from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.dry_run import with_dry_run
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Item
from windlass.cli.text.styles import enabled_of
from windlass.errors import CommandInvalid

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

#: The API's values; repeated here, so that parsing a command line does not load the engine.
_IF_EXISTS = ("error", "keep", "update")


def definition_line(one: Item) -> str:
    """One line that describes a definition."""
    edited = f"edited: {', '.join(one['edited'])}" if one["edited"] else ""
    origin = "made here" if one["origin"] == "operator" else "as in code"
    return f"{enabled_of(one)}  {one['key']}  {edited or origin}"


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass definitions create report.daily --path shop.jobs.report --queue reports",
        "windlass definitions create sync.acme --command sync --if-exists update "
        '--payload-schema \'{"properties": {"folder": {"const": "/acme"}}, "required": ["folder"]}\'',
        "windlass definitions create resize --remote --attempt-timeout 2m",
    ],
)
@click.argument("definition")
@click.option("--remote", is_flag=True, help="Its handler runs in a worker over HTTP.")
@click.option("--if-exists", type=click.Choice(_IF_EXISTS), help="Action if it exists. [error]")
@definition_flags
@with_dry_run("create the definition {definition}")
@with_call
def create(
    call: Invocation, /, definition: str, remote: bool, if_exists: str | None, **given: Any
) -> None:
    """Create DEFINITION, which no code declares, and print its key.

    Give its handler by --path, --command or --remote.
    """
    body = {"key": definition, **definition_fields(given)}
    body |= {"kind": "remote"} if remote else {}
    body |= {"if_exists": if_exists} if if_exists else {}
    created = call.ask(lambda api: api.post("/definitions", body))
    print_item(call, created, definition_line, key="key")


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass definitions edit mail.send --max-attempts 8 --attempt-timeout 2m --rate-limit 50/s",
        "windlass definitions edit mail.send --queue bulk --tag slow --tag mail",
        "windlass definitions edit mail.send --default-payload @defaults.json",
    ],
)
@click.argument("definition")
@definition_flags
@with_dry_run("change the definition {definition}")
@with_call
def edit(call: Invocation, /, definition: str, **given: Any) -> None:
    """Change the given options of DEFINITION; the others stay. An edit wins over the code until
    reset.

    Path, command and payload schema can be changed only for definitions that were created here.
    """
    from windlass.cli.connect.api_client import path

    body = definition_fields(given)
    if not body:
        raise CommandInvalid("there is nothing to change.", hint="Give a flag, such as --queue.")
    changed = call.ask(lambda api: api.patch(path("definitions", definition), body))
    print_item(call, changed, definition_line, key="key")


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass definitions delete report.daily",
        "windlass definitions delete old.one old.two --yes",
    ],
)
@click.argument("keys", nargs=-1, required=True, metavar="DEFINITION...")
@click.option("--dry-run", is_flag=True, help="Show which, and delete none.")
@with_call
def delete(call: Invocation, keys: Sequence[str], dry_run: bool) -> int:
    """Delete definitions that no trigger and no job, ended ones included, refers to."""
    from windlass.cli.connect.api_client import path

    async def drop(api: "Client", key: str) -> "JsonObject":
        found = await api.get(path("definitions", key))
        await api.delete(path("definitions", key))
        return found

    return change_each(
        call,
        "definitions",
        keys,
        drop,
        doing="deleting",
        show=definition_line,
        dry_run=dry_run,
        key="key",
        ask=True,
    )


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass definitions reset mail.send",
        "windlass definitions reset mail.send max_attempts rate_limit",
        "windlass definitions reset --all --yes",
    ],
)
@click.argument("definition", required=False)
@click.argument("options", nargs=-1, metavar="[OPTION]...")
@click.option("--all", "every", is_flag=True, help="All edited definitions.")
@click.option("--dry-run", is_flag=True, help="Show what is edited, and change nothing.")
@with_call
def reset(
    call: Invocation, definition: str | None, options: tuple[str, ...], every: bool, dry_run: bool
) -> int:
    """Reset edited options of DEFINITION, or of --all definitions, to the code: the given options,
    or all of them."""
    from windlass.cli.connect.api_client import path

    if every and definition is not None:
        options, definition = (definition, *options), None
    if definition is None and not every:
        raise CommandInvalid("no definition is named.", hint="Give a definition's key, or --all.")

    async def back(api: "Client", key: str) -> "JsonObject":
        return await api.post(path("definitions", key, "reset"), names=options)

    if definition is not None:
        keys: Sequence[str] = [definition]
    else:
        page = call.ask(lambda api: api.page("/definitions", limit=10_000, edited=True))
        keys = [one["key"] for one in page["items"]]
        if not keys:
            call.out.say("No definition is edited.")
            return 0
    return change_each(
        call,
        "definitions",
        keys,
        back,
        doing="resetting",
        show=definition_line,
        dry_run=dry_run,
        key="key",
        ask=every,
    )
