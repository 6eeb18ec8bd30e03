"""`windlass definitions sync`: registers what code declares, without running any of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column, Item
from windlass.cli.text.styles import StateLabel

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass
    from windlass.core.definitions.definition import Definition

#: Labels of the changes to a definition's row.
_LOOKS = {
    "new": StateLabel("✓", "New", "green"),
    "changed": StateLabel("↻", "Changed", "yellow"),
    "missing": StateLabel("✕", "Missing", "red"),
    "unchanged": StateLabel("●", "Unchanged", ""),
}


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass definitions sync jobs.py",
        "windlass definitions sync shop.jobs shop.mail --mark-missing",
        "windlass definitions sync --dry-run        # the modules of the settings, or of this folder",
    ],
)
@click.argument("modules", nargs=-1, metavar="[MODULE]...")
@click.option(
    "--mark-missing",
    is_flag=True,
    help="These modules are all the code: mark as missing what none of them declares.",
)
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@with_call
def sync(call: Invocation, modules: tuple[str, ...], mark_missing: bool, dry_run: bool) -> None:
    """Register the definitions, schedules and triggers that modules declare.

    A definition that code no longer declares is marked as missing, and its schedules stop. Without
    MODULE, the modules of the settings (or of this folder) count as all the code. With MODULE, only
    definitions that these modules, or modules they import, declared before are marked, unless
    --mark-missing is given.

    A starting worker registers the same, but marks nothing: it may know only a part of the code.
    Edits by operators stay. Works on a database, not over --url.
    """
    from windlass.cli.run.module_flags import resolve_modules

    names = () if call.server else resolve_modules(call, modules, search_folder=True)
    found = call.on_database(
        lambda app: _sync(
            app.windlass, names, everywhere=mark_missing or not modules, dry_run=dry_run
        )
    )
    call.out.list(
        found,
        [
            Column("key", "DEFINITION", lambda one: str(one["key"]), wide=True),
            Column("change", "CHANGE", lambda one: _LOOKS[one["change"]]),
        ],
        body={"items": found},
    )
    changed = sum(one["change"] != "unchanged" for one in found)
    call.out.say(f"{changed} of {len(found)} {'would change' if dry_run else 'changed'}.")


async def _sync(
    app: "Windlass", modules: Sequence[str], *, everywhere: bool, dry_run: bool
) -> list[Item]:
    from windlass.app.declare import row_of
    from windlass.cli.definitions.missing_definitions import undeclared_keys
    from windlass.cli.run.load_modules import learn, load_apps

    rows = {row.key: row for row in await app.definitions.list(system=True)}
    apps = load_apps(modules)
    declared = {
        handler.definition.key: row_of(handler)
        for each in apps
        for handler in each.handlers.values()
    }
    undeclared = undeclared_keys(rows.values(), declared.keys(), everywhere=everywhere)
    if not dry_run:
        await learn(app, apps)
        await app.engine.definitions.mark_missing(undeclared)
    changes = {key: _change(rows.get(key), each) for key, each in declared.items()}
    changes |= {row.key: "missing" for row in rows.values() if row.key in undeclared}
    return [{"key": key, "change": changes[key]} for key in sorted(changes)]


def _change(row: "Definition | None", declared: "Definition") -> str:
    from windlass.core.definitions.merge import needs_sync

    if row is None:
        return "new"
    return "changed" if needs_sync(row, declared) else "unchanged"
