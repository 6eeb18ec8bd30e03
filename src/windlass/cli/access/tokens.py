"""`windlass tokens`: credentials for programs."""

from typing import TYPE_CHECKING

import click

from windlass.cli.framework.commands import CommandWithCall, Group, with_call
from windlass.cli.framework.dry_run import with_dry_run
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import hint_at_more, with_paging
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import ago, moment
from windlass.clock import utcnow
from windlass.errors import CommandInvalid, TokenNotFound
from windlass.errors.wording import listed, quoted

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

_SHORTEST_ID = 6
_MOST = 10_000


@click.group(
    cls=Group,
    examples=[
        "windlass tokens create deploy --role superadmin",
        "windlass tokens create shop --role tenant_admin --tenant acme --expires 90d",
        "windlass tokens revoke shop",
    ],
)
def tokens() -> None:
    """Create, list and revoke tokens for programs that use the API."""


@tokens.command("list", examples=["windlass tokens list", "windlass tokens list -t acme --json"])
@click.option("--all", "everything", is_flag=True, help="Include revoked and expired tokens.")
@with_paging()
@with_call
def list_tokens(call: Invocation, everything: bool, limit: int, cursor: str | None) -> None:
    """List tokens, newest first, without their secrets."""
    page = call.ask(lambda api: api.page("/tokens", revoked=everything, limit=limit, cursor=cursor))
    now = utcnow()
    call.out.list(
        page["items"],
        [
            Column("id", "ID", lambda one: str(one["id"])[-8:]),
            Column("name", "NAME", lambda one: str(one["name"]), wide=True),
            Column("role", "ROLE", lambda one: str(one["role"])),
            Column("tenant_id", "TENANT", lambda one: str(one["tenant_id"] or "all")),
            Column("rights", "RIGHTS", lambda one: ", ".join(one["rights"] or ()), wide=True),
            Column(
                "created_at", "CREATED", lambda one: ago(moment(one["created_at"]), now), spare=2
            ),
            Column("last_used_at", "USED", lambda one: ago(moment(one["last_used_at"]), now)),
            Column("expires_at", "EXPIRES", lambda one: ago(moment(one["expires_at"]), now)),
            Column("revoked_at", "", _state if everything else None),
        ],
        body=page,
    )
    hint_at_more(call, page)
    if not page["items"]:
        call.out.say("No tokens.")


@tokens.command(
    cls=CommandWithCall,
    examples=[
        "windlass tokens create deploy --role superadmin",
        "windlass tokens create far --role worker > worker.token",
        "windlass tokens create reader -t acme --role tenant_admin --rights jobs.read,stats.read",
    ],
)
@click.argument("name")
@click.option(
    "--role",
    default="user",
    show_default=True,
    help="superadmin, tenant_admin, user or worker. tenant_admin and user belong to the tenant of -t.",
)
@click.option("--rights", metavar="A,B", help="Limit the token to these rights of its role.")
@click.option(
    "--expires",
    metavar="DURATION",
    help="Lifetime, such as 90d; without it the token does not expire.",
)
@with_dry_run("create the token {name} with the role {role}")
@with_call
def create(call: Invocation, name: str, role: str, rights: str | None, expires: str | None) -> int:
    """Create a token called NAME and print its secret, which is shown only once.

    With --db no token is needed to run this command.
    """
    from windlass.core.durations import duration

    lifetime = None if expires is None else duration(expires, option="expires").total_seconds()
    narrowed = None if rights is None else [word.strip() for word in rights.split(",")]
    body = {"name": name, "role": role, "rights": narrowed, "expires_seconds": lifetime}
    created = call.ask(lambda api: api.post("/tokens", body))
    if call.out.format in ("json", "jsonl"):
        call.out.json(created)
        return 0
    call.out.data(created["secret"])
    call.out.say("Store this token now; it is not shown again.")
    return 0


@tokens.command(
    examples=["windlass tokens revoke shop", "windlass tokens revoke 8c1f42d7 --yes"],
)
@click.argument("token")
@click.option("--dry-run", is_flag=True, help="Show which token, and change nothing.")
@with_call
def revoke(call: Invocation, token: str, dry_run: bool) -> None:
    """Revoke TOKEN, given by its id, the end of its id, or its name. It stops working at once."""
    from windlass.cli.connect.api_client import path

    found = call.ask(lambda api: _find(api, token))
    label = f"the token {found['name']} ({found['id'][-8:]})"
    if not dry_run:
        call.confirm(f"revoking {label}", f"Revoking {label}. Go on?")
        call.ask(lambda api: api.delete(path("tokens", found["id"])))
        call.out.say(f"Revoked {label}.")
    if dry_run or call.out.format != "people":
        call.out.data(found["id"])


async def _find(api: "Client", text: str) -> "JsonObject":
    valid = (await api.page("/tokens", revoked=False, limit=_MOST))["items"]
    fits = [
        one
        for one in valid
        if one["name"] == text or (len(text) >= _SHORTEST_ID and one["id"].endswith(text))
    ]
    if not fits:
        raise TokenNotFound(text, known=[one["name"] for one in valid])
    if len(fits) > 1:
        raise CommandInvalid(
            f"several tokens fit {quoted(text)}.",
            hint=f"Give the id of one: {listed([one['id'] for one in fits])}.",
        )
    return dict(fits[0])


def _state(token: Item) -> str:
    if token["revoked_at"]:
        return "revoked"
    expires = moment(token["expires_at"])
    return "expired" if expires and expires <= utcnow() else "valid"
