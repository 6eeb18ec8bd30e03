"""`windlass whoami`: the current identity and its rights."""

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Item


@click.command(
    cls=CommandWithCall,
    examples=["windlass whoami", "windlass whoami --url https://jobs.example.com --json"],
)
@with_call
def whoami(call: Invocation) -> None:
    """Show the current identity, its tenants and its rights."""
    me = call.ask(lambda api: api.get("/whoami"))
    call.out.one(me, lambda: _show(call, me), key="name")


def _show(call: Invocation, me: Item) -> None:
    rights = "everything" if me["rights"] is None else ", ".join(me["rights"])
    places = [
        f"{each['role']} in {each['tenant_id'] or 'the installation'}" for each in me["memberships"]
    ]
    call.out.facts(
        [
            ("Name", str(me["name"])),
            ("By", _KINDS.get(me["kind"], str(me["kind"]))),
            ("Context", call.context.name if call.context else ""),
            ("Tenant", str(me["tenant_id"] or "all")),
            ("Roles", "\n".join(places)),
            ("May", rights),
        ]
    )


_KINDS = {
    "session": "a session",
    "token": "a token",
    "none": "direct database access",
}
