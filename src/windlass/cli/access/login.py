"""`windlass login|logout`: sign in to a server, so that commands need no token."""

from typing import TYPE_CHECKING

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.printing import prompt
from windlass.errors import ConfirmationNeeded, NotAuthenticated, WindlassError

if TYPE_CHECKING:
    from windlass.cli.connect.server_address import ServerAddress


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass login --url https://jobs.example.com",
        "windlass login --url https://jobs.example.com --token-file deploy.token",
    ],
)
@click.option("--name", metavar="TEXT", help="User name; asked for if it is not given.")
@with_call
def login(call: Invocation, name: str | None) -> None:
    """Sign in to the server at --url, by name and password or with a token.

    After that, commands with this --url need no token file. The credential is saved in a file that
    only you can read.
    """
    from windlass.cli.connect.saved_logins import save_login
    from windlass.cli.connect.server_address import ServerAddress

    at = _server(call)
    if call.flags.token_file is None:
        if call.flags.no_input or not call.out.can_ask:
            raise ConfirmationNeeded("signing in by a password")
        name = name or prompt("Name")
        password = prompt("Password", hide_input=True)
        at = ServerAddress(at.url, session=_open_session(call, at, name, password))
    call.server = at  # fails if the credential is not valid
    me = call.ask(lambda api: api.get("/whoami"))
    save_login(at.url, {"token": at.token} if at.token else {"session": at.session or ""})
    call.out.say(f"Signed in to {at.url} as {me['name']}.")


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass logout --url https://jobs.example.com",
        "WINDLASS_URL=https://jobs.example.com windlass logout",
    ],
)
@with_call
def logout(call: Invocation) -> None:
    """Sign out of the server at --url, and delete the saved login.

    A session ends; a token stays valid until it is revoked.
    """
    from windlass.cli.connect.saved_logins import kept, save_login

    at = _server(call)
    login = kept(at.url)
    save_login(at.url, None)
    if "session" in login:
        call.server = type(at)(at.url, session=login["session"])
        try:
            call.ask(lambda api: api.post("/logout"))
        except WindlassError as error:
            call.out.say(f"The server could not be told: {error}")
    call.out.say(f"Signed out of {at.url}." if login else f"You were not signed in to {at.url}.")


def _server(call: Invocation) -> "ServerAddress":
    if call.server is None:
        raise click.UsageError("name the server by --url")
    return call.server


def _open_session(call: Invocation, at: "ServerAddress", name: str, password: str) -> str:
    """Open a session with a name and a password."""
    import asyncio

    from windlass.cli.connect.remote_api import open_session

    session = asyncio.run(open_session(at, name, password))
    if session is None:
        raise NotAuthenticated
    return session
