"""`windlass tokens`: credentials of programs."""

import click

from windlass.cli.call import Call
from windlass.cli.commands import Command, Group, with_call


@click.group(
    cls=Group,
    examples=[
        "windlass tokens create deploy --role superadmin",
        "windlass tokens create shop --role tenant_admin --tenant acme --expires 90d",
    ],
)
def tokens() -> None:
    """Make tokens for programs that use the API."""


@tokens.command(
    cls=Command,
    examples=[
        "windlass tokens create deploy --role superadmin",
        "windlass tokens create far --role worker > worker.token",
    ],
)
@click.argument("name")
@click.option(
    "--role",
    default="user",
    show_default=True,
    help="superadmin, tenant_admin, user or worker.",
)
@click.option("--expires", metavar="DURATION", help="When it ends, such as 90d; never without.")
@with_call
def create(call: Call, name: str, role: str, expires: str | None) -> int:
    """Make a token called NAME and print its secret, which is never shown again.

    Whoever can run this has the database in hand: it needs no token itself.
    """
    from windlass.core.durations import duration

    lasts = None if expires is None else duration(expires, option="expires").total_seconds()
    body = {"name": name, "role": role, "expires_seconds": lasts}
    made = call.ask(lambda api: api.post("/tokens", body))
    if call.out.format in ("json", "jsonl"):
        call.out.json(made)
        return 0
    click.echo(made["secret"])
    call.out.say("Keep it: it is never shown again.")
    return 0
