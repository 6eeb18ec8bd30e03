"""`windlass db`: migrate the database, and check its data."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from windlass.cli.framework.commands import Group, with_call
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column
from windlass.errors import CommandInvalid
from windlass.errors.wording import address, counted

if TYPE_CHECKING:
    from windlass.cli.connect.in_process_api import LocalApp
    from windlass.engine.migrations import Migration, SchemaStatus


@click.group(
    cls=Group,
    examples=[
        "windlass db migrate",
        "windlass db sql > pending.sql        # what migrate would run",
        "windlass db check",
        "windlass db new-epoch                # after a restore or a promotion",
    ],
)
def db() -> None:
    """Migrate and check the database; start a new epoch after a restore."""


@db.command(examples=["windlass db migrate", "windlass db migrate --to 3"])
@click.option("--to", type=click.IntRange(0), metavar="N", help="Not further than this migration.")
@click.option("--dry-run", is_flag=True, help="Say which, and apply none; their SQL: `db sql`.")
@with_call
def migrate(call: Invocation, to: int | None, dry_run: bool) -> None:
    """Apply pending migrations, each in a transaction, under a lock. Safe to repeat."""
    if dry_run:
        pending = [m for m in call.on_database(_status).pending if to is None or m.number <= to]
        _print_migrations(call, pending, "Would be applied", "Nothing is pending.")
        return
    done = call.on_database(lambda app: app.engine.schema.migrate(to=to))
    _print_migrations(call, done, "Applied", "Nothing to do: the database is up to date.")


@db.command(examples=["windlass db status", "windlass db status --json"])
@with_call
def status(call: Invocation) -> None:
    """Show which migrations were applied and which are pending."""
    found = call.on_database(_status)
    place = address(call.settings.database.url)
    body = {
        "database": place,
        "version": found.version,
        "needed": max(m.number for m in (*found.applied, *found.pending)),
        "pending": [_name(m) for m in found.pending],
        "applied": [_name(m) for m in found.applied],
    }

    def show() -> None:
        call.out.facts(
            [
                ("Database", place),
                ("Version", f"{body['version']} of {body['needed']}"),
                ("Applied", "\n".join(map(_name, found.applied))),
                ("Pending", "\n".join(map(_name, found.pending)) or "none"),
            ]
        )
        if found.pending:
            call.out.hint("windlass db migrate")

    call.out.one(body, show, key="version")


@db.command(examples=["windlass db sql", "windlass db sql --to 3 > pending.sql"])
@click.option("--to", type=click.IntRange(0), metavar="N", help="Not further than this migration.")
@with_call
def sql(call: Invocation, to: int | None) -> None:
    """Print the SQL of pending migrations without running it."""
    pending = [m for m in call.on_database(_status).pending if to is None or m.number <= to]
    for migration in pending:
        call.out.data(f"-- {_name(migration)}")
        call.out.block(migration.up.strip())
    if not pending:
        call.out.say("Nothing is pending.")


@db.command(
    examples=[
        "windlass db secure --role windlass_api",
        "windlass db secure --dry-run         # the SQL, and run none of it",
        "windlass db secure --off",
    ]
)
@click.option("--role", metavar="NAME", help="Grant this role what the server needs.")
@click.option("--off", is_flag=True, help="Take the policies away.")
@click.option("--dry-run", is_flag=True, help="Print the SQL, and run none of it.")
@with_call
def secure(call: Invocation, role: str | None, off: bool, dry_run: bool) -> None:
    """Enable row security on all tables of tenants (PostgreSQL). Safe to repeat.

    Run it as the owner of the tables, again after each migration. It restricts roles that do not
    own the tables, such as those of servers with `database.row_security`.
    """
    if off and role is not None:
        raise CommandInvalid("--role and --off do not go together.", hint="Leave one out.")

    async def shown(app: "LocalApp") -> str:
        return app.engine.schema.policies(role=role, off=off)

    if dry_run:
        call.out.block(call.on_database(shown).strip())
        return
    call.on_database(lambda app: app.engine.schema.secure(role=role, off=off))
    call.out.say("Row security is off." if off else "Row security is on.")


@db.command(
    examples=[
        "windlass db downgrade --to 3",
        "windlass db downgrade --to 0 --yes   # everything goes",
    ]
)
@click.option(
    "--to", type=click.IntRange(0), metavar="N", required=True, help="The last migration to keep."
)
@click.option("--dry-run", is_flag=True, help="Say which would be taken back, and take back none.")
@with_call
def downgrade(call: Invocation, to: int, dry_run: bool) -> None:
    """Revert migrations, newest first. The data in their tables and columns is lost."""
    found = call.on_database(_status)
    reverted = [m for m in reversed(found.applied) if m.number > to]
    if to > found.version:
        raise CommandInvalid(
            f"the database is at version {found.version}, below {to}.",
            hint="`windlass db migrate` goes up.",
        )
    if dry_run or not reverted:
        _print_migrations(call, reverted, "Would be taken back", "Nothing to take back.")
        return
    what = f"taking back {counted(len(reverted), 'migration')}"
    place = address(call.settings.database.url)
    call.confirm(
        what, f"This deletes what {', '.join(map(_name, reverted))} stored at {place}. Go on?"
    )
    done = call.on_database(lambda app: app.engine.schema.downgrade(to=to))
    _print_migrations(call, done, "Taken back", "Nothing to take back.")


@db.command(examples=["windlass db check", "windlass db check --tenant acme --json"])
@with_call
def check(call: Invocation) -> int:
    """Check for damage: rows that contradict each other, and counts that differ from a recount.

    Reads every job, in steps, and changes nothing. Prints the first rows of each problem and what
    to do. Exits with 1 if something is wrong.
    """

    found = call.on_database(lambda app: _damage(app, call.flags.tenant))
    if call.out.human:
        for each in found:
            ids = ", ".join(each["ids"]) + (
                ", …" if len(each["ids"]) < each["found"] and each["rule"] != "count" else ""
            )
            call.out.data(
                f"{each['found']} {each['what']} ({each['rule']}, {each['table']}): {ids}"
            )
            call.out.say(f"  {each['advice']}")
    else:
        call.out.list(found, [Column(key) for key in ("rule", "table", "found", "what", "ids")])
    rules = {each["rule"] for each in found}
    call.out.say("Damage was found." if rules - {"count"} else "No damage was found.")
    call.out.say("Some counts are wrong." if "count" in rules else "All counts are right.")
    return Exit.FAILED if found else Exit.OK


async def _damage(app: "LocalApp", tenant: str | None) -> list[dict[str, Any]]:
    from windlass.core.jobs.models import ALL_TENANTS, Scope

    engine = await app.ready()
    damage = [asdict(each) for each in await engine.integrity.check(tenant)]
    counts = await engine.counts.check(Scope.of(tenant) if tenant else ALL_TENANTS)
    return damage + [
        {
            "rule": "count",
            "table": "windlass_counts",
            "what": f"{one.state} jobs counted, and {one.counted} there",
            "advice": "The job system.recount corrects it; `windlass definitions run` starts it.",
            "found": one.kept,
            "ids": [f"{one.tenant}/{one.queue}/{one.definition}"],
            "tenant_id": one.tenant,
            "queue": one.queue,
            "definition": one.definition,
            "state": one.state,
            "kept": one.kept,
            "counted": one.counted,
        }
        for one in counts
    ]


@db.command("new-epoch", examples=["windlass db new-epoch", "windlass db new-epoch --yes --json"])
@click.option("--dry-run", is_flag=True, help="Count the jobs that would be handed back.")
@with_call
def new_epoch(call: Invocation, dry_run: bool) -> None:
    """Start a new epoch, after a restore or the promotion of a replica.

    Hands back every job that is running in the database, without counting its attempt, and
    invalidates all leases given before. Running workers end with exit code 12. On PostgreSQL a
    promotion is detected automatically.
    """
    place = address(call.settings.database.url)
    if not dry_run:
        call.confirm(
            "beginning an epoch",
            f"Every running job at {place} is handed back and runs again; workers there end. Go on?",
        )

    async def begin(app: "LocalApp") -> dict[str, Any]:
        engine = await app.ready()
        handed_back = await (engine.epochs.running() if dry_run else engine.epochs.begin())
        return {"epoch": (await engine.epochs.current()).epoch, "handed_back": handed_back}

    done = call.on_database(begin)

    def show() -> None:
        what = counted(done["handed_back"], "running job")
        would = "A new epoch would begin; " if dry_run else "A new epoch began; "
        call.out.say(f"{would}{what} handed back.")

    call.out.one(done, show, key="epoch")


@db.command(examples=["windlass db reencrypt", "windlass db reencrypt --dry-run --json"])
@click.option("--dry-run", is_flag=True, help="Count the payloads, and change none.")
@with_call
def reencrypt(call: Invocation, dry_run: bool) -> int:
    """Re-encrypt payloads of older keys with the first of encryption.keys.

    Reads every job, in batches; safe to repeat and to interrupt. Exits with 1 if a payload could
    not be decrypted. When it finds no more, the older keys can be removed.
    """

    async def renew(app: "LocalApp") -> dict[str, Any]:
        engine = await app.ready()
        if engine.sealer.first_key_id is None:
            raise CommandInvalid(
                "there is no encryption key.",
                hint="Set encryption.keys; `windlass config generate-key` makes one.",
            )
        done = await engine.reencrypt(dry_run=dry_run)
        return {
            "key_id": engine.sealer.first_key_id,
            "changed": done.changed,
            "failed": dict(done.failed),
        }

    done = call.on_database(renew)

    def show() -> None:
        what = counted(done["changed"], "payload")
        would = "would be encrypted" if dry_run else "encrypted"
        call.out.say(f"{what} {would} anew with the key {done['key_id']}.")
        for why, count in done["failed"].items():
            call.out.say(f"{counted(count, 'payload')} left as they are: {why}.")

    call.out.one(done, show, key="key_id")
    return Exit.FAILED if done["failed"] else Exit.OK


async def _status(app: "LocalApp") -> "SchemaStatus":
    return await app.engine.schema.status()


def _name(migration: "Migration") -> str:
    return f"{migration.number:04}_{migration.name}"


def _print_migrations(
    call: Invocation, migrations: "Sequence[Migration]", done: str, none: str
) -> None:
    names = [_name(migration) for migration in migrations]
    if call.out.format in ("json", "jsonl"):
        call.out.json({"migrations": names})
    elif names:
        for name in names:
            call.out.data(f"{done}: {name}" if call.out.format == "people" else name)
    else:
        call.out.say(none)
