"""`windlass users`: administrators and sign-in links."""

from typing import TYPE_CHECKING

import click

from windlass.cli.access.login_link import AT, print_link
from windlass.cli.framework.commands import CommandWithCall, Group, with_call
from windlass.cli.framework.dry_run import with_dry_run
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import hint_at_more, with_paging
from windlass.cli.framework.suggestions import suggest_names
from windlass.cli.text.output import Column

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject


@click.group(
    cls=Group,
    examples=[
        "windlass users create ada@example.com    # an administrator, and a link to set a password",
        "windlass users link ada@example.com --login",
    ],
)
def users() -> None:
    """Create administrators, and one-time sign-in links."""


@users.command("list", examples=["windlass users list", "windlass users list --json"])
@with_paging()
@with_call
def list_users(call: Invocation, limit: int, cursor: str | None) -> None:
    """List users, by name."""
    page = call.ask(lambda api: api.page("/users", limit=limit, cursor=cursor))
    call.out.list(
        page["items"],
        [
            Column("name", "NAME", lambda user: str(user["name"])),
            Column("id"),
            Column("superadmin", "ROLE", lambda user: "superadmin" if user["superadmin"] else ""),
            Column("disabled", "", lambda user: "disabled" if user["disabled"] else ""),
            Column("last_login_at", "SIGNED IN", lambda user: user["last_login_at"] or "never"),
        ],
        body=page,
    )
    hint_at_more(call, page)


@users.command(
    cls=CommandWithCall,
    examples=[
        "windlass users create ada@example.com",
        "windlass users create ada --at https://jobs.example.com",
    ],
)
@click.argument("name")
@AT
@with_dry_run("create the superadmin {name}")
@with_call
def create(call: Invocation, name: str, at: str) -> int:
    """Create the superadmin NAME, and print a link to set a password.

    To add a member of a tenant, use `windlass members invite`.
    """
    return _print(call, name, at, "password", make=True)


@users.command(
    cls=CommandWithCall,
    examples=[
        "windlass users link ada@example.com          # to set a password, within three days",
        "windlass users link admin --login            # to sign in, within 15 minutes",
    ],
)
@click.argument("name")
@click.option("--login", is_flag=True, help="A link to sign in, instead of one to set a password.")
@AT
@with_dry_run("create a link for the user {name}")
@with_call
def link(call: Invocation, name: str, login: bool, at: str) -> int:
    """Print a one-time link for the user NAME."""
    return _print(call, name, at, "login" if login else "password", make=False)


@users.command(
    cls=CommandWithCall,
    examples=[
        "windlass users invite ada@example.com",
        "windlass users invite ada --at https://jobs.example.com",
    ],
)
@click.argument("name")
@AT
@with_dry_run("invite {name} to administer everything")
@with_call
def invite(call: Invocation, name: str, at: str) -> int:
    """Invite NAME as superadmin, and print the link to accept it.

    A person with an account accepts while signed in to it; anyone else sets a password through the
    link.
    """
    print_link(call, at, call.ask(lambda api: api.post("/users/invite", {"name": name})))
    return 0


def _print(call: Invocation, name: str, at: str, purpose: str, *, make: bool) -> int:
    from windlass.cli.connect.api_client import path

    async def new_link(api: "Client") -> "JsonObject":
        if make:
            await api.post("/users", {"name": name, "superadmin": True})
        async with suggest_names(api, "users", name):
            return await api.post(path("users", name, "link"), {"purpose": purpose})

    print_link(call, at, call.ask(new_link))
    return 0
