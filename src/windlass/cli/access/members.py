"""`windlass members`: the members of a tenant and their roles."""

from typing import TYPE_CHECKING, Any

import click

from windlass.cli.access.login_link import AT, print_link
from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.dry_run import with_dry_run
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import hint_at_more, with_paging
from windlass.cli.framework.suggestions import suggest_names
from windlass.cli.text.output import Column, Item

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

_PERMISSIONS = click.option(
    "--permission",
    "permissions",
    multiple=True,
    metavar="WORD",
    help="A permission that definitions require; may be repeated.",
)


@click.group(
    cls=Group,
    examples=[
        "windlass members list -t acme",
        "windlass members invite ada@example.com --role tenant_admin -t acme",
    ],
)
def members() -> None:
    """Invite people into a tenant and give them roles. Name the tenant with -t."""


@members.command("list", examples=["windlass members list -t acme", "windlass members list --json"])
@with_paging()
@with_call
def list_members(call: Invocation, limit: int, cursor: str | None) -> None:
    """List members, by tenant and name. Those who have not accepted yet are pending."""
    page = call.ask(lambda api: api.page("/members", limit=limit, cursor=cursor))
    call.out.list(
        page["items"],
        [
            Column("name", "NAME", lambda one: str(one["name"])),
            Column("tenant_id", "TENANT", lambda one: str(one["tenant_id"])),
            Column("role", "ROLE", lambda one: str(one["role"])),
            Column("pending", "", lambda one: "pending" if one["pending"] else ""),
            Column("permissions", "PERMISSIONS", lambda one: ", ".join(one["permissions"])),
            Column("user_id"),
            Column("created_at"),
        ],
        body=page,
    )
    hint_at_more(call, page)
    if not page["items"]:
        call.out.say("No members.")


@members.command(
    examples=[
        "windlass members invite ada@example.com -t acme",
        "windlass members invite ada --role tenant_admin -t acme --at https://jobs.example.com",
    ]
)
@click.argument("user")
@click.option("--role", default="user", show_default=True, help="user or tenant_admin.")
@_PERMISSIONS
@AT
@with_dry_run("invite {user} as {role} in the tenant")
@with_call
def invite(call: Invocation, user: str, role: str, permissions: tuple[str, ...], at: str) -> None:
    """Invite USER into the tenant, and print the link to accept the invitation.

    A pending invitation gives no rights. Inviting again creates a new link.
    """
    body = {"name": user, "role": role, "permissions": list(permissions)}
    invited = call.ask(lambda api: api.post("/members", body))
    if call.out.format in ("json", "jsonl"):
        call.out.json(invited)
        return
    member = invited["member"]
    call.out.say(
        f"{member['name']} is invited as {member['role']} in {member['tenant_id']}: send this link."
    )
    print_link(call, at, invited["link"])


@members.command(
    examples=[
        "windlass members role ada@example.com tenant_admin -t acme",
        "windlass members role ada user --permission billing -t acme",
    ]
)
@click.argument("user")
@click.argument("role")
@_PERMISSIONS
@with_dry_run("give {user} the role {role} in the tenant")
@with_call
def role(call: Invocation, user: str, role: str, permissions: tuple[str, ...]) -> None:
    """Change the ROLE of the member USER, and the permissions if any are given."""
    from windlass.cli.connect.api_client import path

    body: dict[str, Any] = {"role": role}
    if permissions:
        body["permissions"] = list(permissions)

    async def change(api: "Client") -> "JsonObject":
        async with suggest_names(api, "members", user):
            return await api.patch(path("members", user), body)

    changed = call.ask(change)
    _print(call, changed)


@members.command(
    examples=[
        "windlass members remove ada@example.com -t acme",
        "windlass members remove ada -t acme --yes",
    ]
)
@click.argument("user")
@with_dry_run("remove {user} from the tenant")
@with_call
def remove(call: Invocation, user: str) -> None:
    """Remove USER from the tenant, or withdraw an invitation. The account stays."""
    from windlass.cli.connect.api_client import path

    call.confirm(f"removing the member {user}", f"Removing the member {user}. Go on?")

    async def drop(api: "Client") -> "JsonObject":
        async with suggest_names(api, "members", user):
            return await api.delete(path("members", user))

    call.ask(drop)
    call.out.say(f"{user} is removed.")


def _print(call: Invocation, member: Item) -> None:
    call.out.one(
        member,
        lambda: call.out.data(f"{member['name']}  {member['role']} in {member['tenant_id']}"),
        key="user_id",
    )
