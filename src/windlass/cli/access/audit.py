"""`windlass audit`: read the audit log and verify its chains."""

import json
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column, Item
from windlass.core.access.principal import local
from windlass.errors import CommandInvalid
from windlass.errors.wording import counted

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client, JsonObject
    from windlass.cli.connect.in_process_api import LocalApp
    from windlass.engine.access.audit_verify import SigningResult

_PAGE = 1_000


@click.group(
    cls=Group,
    examples=["windlass audit list --limit 20", "windlass audit verify -t acme"],
)
def audit() -> None:
    """Read the audit log, and verify that it was not altered.

    Each tenant has its own chain, and so has the installation. Choose a tenant with -t.
    """


@audit.command(
    "list",
    examples=[
        "windlass audit list",
        "windlass audit list -t acme --limit 500 -o csv",
        "windlass audit list --before 1204",
    ],
)
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, help="Number of entries. [50]"
)
@click.option("--before", type=int, metavar="NUMBER", help="Entries before this number.")
@with_call
def list_entries(call: Invocation, limit: int, before: int | None) -> None:
    """List entries, newest first."""
    page = call.ask(lambda api: _entries(api, limit, before))
    call.out.list(
        page["items"],
        [
            Column("sequence", "NO", lambda one: str(one["sequence"]), right=True),
            Column("at", "WHEN", lambda one: call.out.when(one["at"])),
            Column("actor_name", "BY", lambda one: str(one["actor_name"]), wide=True),
            Column("actor"),
            Column("action", "ACTION", lambda one: str(one["action"])),
            Column("target_kind"),
            Column("target_id", "TARGET", lambda one: f"{one['target_id']}", wide=True),
            Column("outcome", "", lambda one: "" if one["outcome"] == "allowed" else "refused"),
            Column("after", "CHANGE", _change, wide=True, spare=1),
            Column("before"),
            Column("tenant_id"),
            Column("request_id"),
            Column("hash"),
        ],
        body=page,
    )
    if not page["items"]:
        call.out.say("No entries.")
    elif page["next"] is not None:
        call.out.hint(f"There are more: add --before {page['next']}")


@audit.command(
    examples=[
        "windlass audit verify",
        "windlass audit verify -t acme --json",
        "windlass audit verify --heads heads.json",
    ]
)
@click.option(
    "--heads",
    type=click.File("rb"),
    metavar="FILE",
    help="Heads kept elsewhere, as `audit head --json` printed them; each must still be there.",
)
@with_call
def verify(call: Invocation, heads: BinaryIO | None) -> int:
    """Check every chain: no entry may be changed, missing, added or moved.

    Exits with 1 if a chain is broken. With -t only that tenant's chain is checked.
    """
    pinned = None if heads is None else _parse_heads(heads.read())

    async def asked(api: "Client") -> "JsonObject":
        if pinned is None:
            return await api.get("/audit/verify")
        return await api.post("/audit/verify", {"heads": pinned})

    found = call.ask(asked, limited=False)  # the time depends on the number of entries
    if call.out.format in ("json", "jsonl"):
        call.out.json(found)
    else:
        for chain in found["chains"]:
            call.out.data(_chain_text(chain))
        if found["problem"] is not None:
            call.out.data(f"list of chains: broken: {found['problem']}")
        if not found["signed"]:
            call.out.say(
                "The ends of the chains were not checked against signatures: audit.key is not set."
            )
    return Exit.OK if found["whole"] else Exit.FAILED


@audit.command(
    "head",
    examples=["windlass audit head", "windlass audit head --json > heads.json"],
)
@with_call
def show_heads(call: Invocation) -> None:
    """Print the last entry of each chain, with its signature.

    Keep the output where database accounts cannot write: `audit verify --heads` then detects a
    chain that was reset to an earlier state.
    """
    page = call.ask(lambda api: api.get("/audit/heads"))
    call.out.list(
        page["items"],
        [
            Column("tenant_id", "CHAIN", _chain),
            Column("sequence", "NO", lambda one: str(one["sequence"]), right=True),
            Column("hash", "HASH", lambda one: str(one["hash"]), wide=True),
            Column(
                "signature", "SIGNATURE", lambda one: str(one["signature"] or "none"), wide=True
            ),
        ],
        body=page,
    )


@audit.command(examples=["windlass audit sign", "windlass audit sign --accept"])
@click.option("--accept", is_flag=True, help="Also sign what does not verify, as it is now.")
@click.option("--dry-run", is_flag=True, help="Say which chains would be signed, and sign none.")
@with_call
def sign(call: Invocation, accept: bool, dry_run: bool) -> int:
    """Sign the ends of all chains with audit.key. Run it after audit.key is set or changed.

    A chain that does not verify is not signed until an operator has checked and accepted it.
    """
    from windlass.cli.framework.invocation import actor

    async def signed(app: "LocalApp") -> "SigningResult":
        engine = await app.ready()
        return await engine.audit.sign(
            local(name=actor() or "local"), accept=accept, dry_run=dry_run
        )

    signing = call.on_database(signed)
    done = "Would be signed" if dry_run else "Signed"
    call.out.say(f"{done}: {counted(len(signing.signed), 'chain')}.")
    for name, problem in signing.refused.items():
        subject = "list of chains" if name == "*" else _chain({"tenant_id": name})
        call.out.data(f"{subject}: not signed: {problem}")
    return Exit.FAILED if signing.refused else Exit.OK


def _chain(one: Item) -> str:
    return str(one["tenant_id"] or "") or "(installation)"


def _chain_text(chain: Item) -> str:
    head = {"valid": "signed", "unsigned": "not signed"}.get(chain["head"], chain["head"])
    if chain["whole"]:
        return f"{_chain(chain)}: whole, entries: {chain['entries']:,}, end {head}"
    broken = chain["broken"]
    return f"{_chain(chain)}: broken at entry {broken['sequence']}: {broken['problem']}"


def _parse_heads(text: bytes) -> list[Any]:
    """Parse heads as `audit head` prints them: one JSON document, or one object per line."""
    try:
        try:
            pages = [json.loads(text)]
        except ValueError:
            pages = [json.loads(line) for line in text.splitlines() if line.strip()]
        return [head for page in pages for head in page.get("items", [page])]
    except (ValueError, AttributeError, TypeError):
        raise CommandInvalid(
            "the file of --heads has no heads in it.",
            hint="Write it with `windlass audit head --json`.",
        ) from None


async def _entries(api: "Client", limit: int, before: int | None) -> "JsonObject":
    items: list[Any] = []
    while True:
        page = await api.get("/audit", limit=min(limit - len(items), _PAGE), before=before)
        items += page["items"]
        before = page["next"]
        if before is None or len(items) >= limit:
            return {"items": items, "next": before}


def _change(entry: Item) -> str:
    return json.dumps(entry["after"], ensure_ascii=False) if entry["after"] else ""
