"""Finds the definitions that modules no longer declare, so that their schedules stop firing."""

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from windlass.cli.run.load_modules import apps_in
from windlass.core.definitions.definition import Definition
from windlass.engine.leases.workers import liveness

if TYPE_CHECKING:
    from windlass.app.windlass import Windlass


def undeclared_keys(
    rows: Iterable[Definition], declared: Collection[str], *, everywhere: bool = True
) -> set[str]:
    """Keys that code declared before but not now, and that are not marked yet.

    `declared` has all keys that the modules declare. Unless the modules are all the code
    (`everywhere`), only definitions whose own module was just imported count.
    """
    return {
        row.key
        for row in rows
        if row.origin == "code"
        and not (row.system or row.missing_from_code)
        and row.key not in declared
        and (everywhere or _is_gone_from_its_module(row))
    }


async def mark_missing(apps: Sequence["Windlass"]) -> tuple[set[str], set[str]]:
    """Mark what none of these apps declares. Returns the keys marked, and the keys skipped because
    a worker elsewhere still runs them."""
    marked: set[str] = set()
    skipped: set[str] = set()
    for app in {each.url: each for each in apps}.values():
        declared = {key for each in apps if each.url == app.url for key in each.handlers}
        engine = await app.ready()
        undeclared = undeclared_keys(await engine.definitions.list(system=True), declared)
        known = {
            key
            for worker in await engine.workers.list()
            if worker.claims and liveness(worker) != "lost"
            for key in worker.definitions
        }
        skipped |= undeclared & known
        marked |= await engine.definitions.mark_missing(undeclared - known)
    return marked, skipped


def _is_gone_from_its_module(row: Definition) -> bool:
    module = sys.modules.get(row.handler.partition(":")[0]) if row.kind == "code" else None
    if module is None or module.__name__.split(".")[0] == "windlass":
        return False
    return not any(row.key in app.handlers for app in apps_in(module))
