"""`windlass tenants`: the owners of jobs, their limits and their state."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.dry_run import with_dry_run
from windlass.cli.framework.invocation import Invocation
from windlass.cli.framework.list_flags import hint_at_more, with_paging
from windlass.cli.text.output import Column, Item
from windlass.errors import CommandInvalid

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject

_DRY = click.option("--dry-run", is_flag=True, help="Show the tenant, and change nothing.")


@click.group(
    cls=Group,
    examples=[
        "windlass tenants list",
        "windlass tenants create acme --name 'Acme Corp' --max-running 20",
        "windlass tenants suspend acme",
    ],
)
def tenants() -> None:
    """Create tenants, suspend them, and set their limits."""


@tenants.command("list", examples=["windlass tenants list", "windlass tenants list --json"])
@with_paging()
@with_call
def list_tenants(call: Invocation, limit: int, cursor: str | None) -> None:
    """List tenants."""
    page = call.ask(lambda api: api.page("/tenants", limit=limit, cursor=cursor))
    call.out.list(
        page["items"],
        [
            Column("id", "ID", lambda one: str(one["id"])),
            Column("name", "NAME", lambda one: str(one["name"]), wide=True),
            Column("state", "STATE", lambda one: str(one["state"])),
            Column("weight", "WEIGHT", lambda one: str(one["weight"]), right=True),
            Column("max_running", "RUNNING", lambda one: _limit(one["max_running"]), right=True),
            Column("max_open", "OPEN", lambda one: _limit(one["max_open"]), right=True),
            Column("timezone", "ZONE", lambda one: str(one["timezone"]), spare=1),
        ],
        body=page,
    )
    hint_at_more(call, page)


@tenants.command(examples=["windlass tenants show acme", "windlass tenants show acme --json"])
@click.argument("tenant_id", metavar="TENANT")
@with_call
def show(call: Invocation, tenant_id: str) -> None:
    """Show everything about TENANT."""
    from windlass.cli.connect.api_client import path

    _print(call, call.ask(lambda api: api.get(path("tenants", tenant_id))))


@tenants.command(
    examples=[
        "windlass tenants create acme",
        "windlass tenants create acme --name 'Acme Corp' --weight 2 --zone Europe/Berlin",
    ]
)
@click.argument("tenant_id", metavar="TENANT")
@click.option("--name", metavar="TEXT", help="Display name. [the id]")
@click.option("--weight", type=int, metavar="N", help="Its share of the workers. [1]")
@click.option("--max-running", type=int, metavar="N", help="Limit of its running jobs.")
@click.option("--max-open", type=int, metavar="N", help="Limit of its open jobs.")
@click.option("--zone", metavar="ZONE", help="The time zone of its schedules. [UTC]")
@with_dry_run("create the tenant {tenant_id}")
@with_call
def create(call: Invocation, /, tenant_id: str, zone: str | None, **about: Any) -> None:
    """Create a tenant with the id TENANT. Ids of deleted tenants cannot be used again."""
    given = {"id": tenant_id, "timezone": zone, **about}
    body = {name: value for name, value in given.items() if value is not None}
    created = call.ask(lambda api: api.post("/tenants", body))
    _print(call, created)


@tenants.command(
    examples=[
        "windlass tenants change acme --name 'Acme Corp'",
        "windlass tenants change acme --zone Europe/Berlin",
    ]
)
@click.argument("tenant_id", metavar="TENANT")
@click.option("--name", metavar="TEXT", help="Display name.")
@click.option("--zone", metavar="ZONE", help="The time zone of its schedules from now on.")
@with_dry_run("change the tenant {tenant_id}")
@with_call
def change(call: Invocation, tenant_id: str, name: str | None, zone: str | None) -> None:
    """Change the name or the time zone of TENANT; `limits` changes its limits."""
    from windlass.cli.connect.api_client import path

    given = {"name": name, "timezone": zone}
    body = {field: value for field, value in given.items() if value is not None}
    if not body:
        raise CommandInvalid("nothing to change.", hint="Give --name or --zone.")
    _print(call, call.ask(lambda api: api.patch(path("tenants", tenant_id), body)))


@tenants.command(
    examples=["windlass tenants suspend acme", "windlass tenants suspend acme --yes"],
)
@click.argument("tenant_id", metavar="TENANT")
@_DRY
@with_call
def suspend(call: Invocation, tenant_id: str, dry_run: bool) -> None:
    """Suspend TENANT: no new jobs, none started; running jobs finish."""
    _change(call, tenant_id, "suspend", dry_run=dry_run, asks=True)


@tenants.command(examples=["windlass tenants resume acme", "windlass tenants resume acme --json"])
@click.argument("tenant_id", metavar="TENANT")
@_DRY
@with_call
def resume(call: Invocation, tenant_id: str, dry_run: bool) -> None:
    """Resume a suspended TENANT."""
    _change(call, tenant_id, "resume", dry_run=dry_run, asks=False)


@tenants.command(
    examples=[
        "windlass tenants limits acme --max-running 20 --max-open 10000",
        "windlass tenants limits acme --max-running none",
        "windlass tenants limits acme --weight 3",
    ]
)
@click.argument("tenant_id", metavar="TENANT")
@click.option("--weight", metavar="N", help="Its share of the workers.")
@click.option("--max-running", metavar="N", help="Limit of its running jobs, or none.")
@click.option("--max-open", metavar="N", help="Limit of its open jobs, or none.")
@with_dry_run("change the limits of the tenant {tenant_id}")
@with_call
def limits(call: Invocation, /, tenant_id: str, **given: str | None) -> None:
    """Set limits of TENANT; `none` removes a limit. Without flags, show them."""
    from windlass.cli.connect.api_client import path

    body = {name: _count(name, text) for name, text in given.items() if text is not None}
    at = path("tenants", tenant_id)
    _print(call, call.ask(lambda api: api.patch(at, body) if body else api.get(at)))


@tenants.command(
    examples=[
        "windlass tenants delete acme",
        "windlass tenants delete acme --dry-run",
        "windlass tenants delete acme --purge",
    ],
)
@click.argument("tenant_id", metavar="TENANT")
@click.option("--purge", is_flag=True, help="Also remove all its rows; only the audit log stays.")
@_DRY
@with_call
def delete(call: Invocation, tenant_id: str, purge: bool, dry_run: bool) -> None:
    """Delete TENANT: its open jobs end in the dead letter, its tokens and members are removed.

    Without --purge its history stays. Its id cannot be used again. A deleted tenant can be purged
    later.
    """
    from windlass.cli.connect.api_client import path

    at = path("tenants", tenant_id)
    called = tenant_id
    if dry_run or not purge:  # a deleted tenant can still be purged
        found = call.ask(lambda api: api.get(at))
        called = f"{found['id']} ({found['name']})"
        if dry_run:
            _print(call, found)
            return
    ends = "its open jobs end, and all its rows are removed" if purge else "its open jobs end"
    call.confirm(
        f"deleting the tenant {tenant_id}", f"Deleting the tenant {called}: {ends}. Go on?"
    )
    done = call.ask(lambda api: _purge(api, at) if purge else api.delete(at))
    if call.out.format in ("json", "jsonl"):
        call.out.json(done)
    call.out.say(f"Tenant {tenant_id} is deleted; open jobs that ended: {done['closed']:,}.")
    if purge:
        call.out.say(f"Rows that were removed: {sum(done['rows'].values()):,}.")
        if done["open"]:
            call.out.say(
                f"Jobs that still run: {done['open']:,}. Purge again when they have stopped."
            )


async def _purge(api: "Client", at: str) -> "JsonObject":
    """Purge until nothing more can be removed; a request removes a bounded number of rows."""
    closed, rows = 0, Counter[str]()
    while True:
        done = await api.delete(at, purge="true")
        closed += done["closed"]
        rows.update(done["rows"])
        if not done["more"]:
            return {**done, "closed": closed, "rows": dict(sorted(rows.items()))}


def _change(call: Invocation, tenant_id: str, verb: str, *, dry_run: bool, asks: bool) -> None:
    from windlass.cli.connect.api_client import path

    if asks and not dry_run:
        what = f"{verb}ing the tenant {tenant_id}"
        call.confirm(what, f"{what[:1].upper()}{what[1:]}: none of its jobs will start. Go on?")
    at = path("tenants", tenant_id)
    _print(call, call.ask(lambda api: api.get(at) if dry_run else api.post(f"{at}/{verb}")))


def _print(call: Invocation, tenant: Item) -> None:
    call.out.one(
        tenant,
        lambda: call.out.facts(
            [
                ("Tenant", str(tenant["id"])),
                ("Name", str(tenant["name"])),
                ("State", str(tenant["state"])),
                ("Weight", str(tenant["weight"])),
                ("Running at most", _limit(tenant["max_running"])),
                ("Open at most", _limit(tenant["max_open"])),
                ("Time zone", str(tenant["timezone"])),
            ]
        ),
    )


def _limit(value: int | None) -> str:
    return "no limit" if value is None else f"{value:,}"


def _count(name: str, text: str) -> int | None:
    if text == "none" and name != "weight":
        return None
    if not text.isdecimal():
        allowed = "a whole number" + ("" if name == "weight" else ", or none")
        flag = name.replace("_", "-")
        raise CommandInvalid(f"--{flag} is {text!r}.", hint=f"Give {allowed}.")
    return int(text)
