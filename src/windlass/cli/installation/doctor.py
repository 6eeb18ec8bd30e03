"""`windlass doctor`: checks the installation and suggests fixes."""

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from windlass.cli.framework.commands import CommandWithCall, with_call
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.framework.invocation import Invocation
from windlass.cli.text.output import Column
from windlass.cli.text.styles import CHECKS, DRAINING, worker_state

if TYPE_CHECKING:
    from windlass.cli.connect.api_client import Client
    from windlass.cli.connect.in_process_api import LocalApp
    from windlass.core.monitoring.checks import Check


@click.command(
    cls=CommandWithCall,
    examples=[
        "windlass doctor",
        "windlass doctor --json",
        "windlass --url https://jobs.example doctor       # a server's own health",
    ],
)
@with_call
def doctor(call: Invocation) -> int:
    """Check settings, database, workers and jobs, and suggest fixes.

    Reads only. Exits with 1 if something is broken; a warning alone does not. With --url it checks
    the server instead: is it alive, is it ready, which workers does it have.
    """
    found = _checks(call)
    broken = any(check.level == "broken" for check in found)
    items = [asdict(check) for check in found]
    if call.out.format == "people":
        for check in found:
            _print(call, check)
    else:
        columns = [Column(key) for key in ("code", "level", "sentence", "fix")]
        call.out.list(items, columns, body={"ok": not broken, "checks": items})
    return Exit.FAILED if broken else Exit.OK


def _checks(call: Invocation) -> "list[Check]":
    from windlass.core.monitoring.checks import failed, ok
    from windlass.errors import SettingsInvalid

    if call.server is not None:
        return call.ask(_server_checks)
    try:
        call.settings  # noqa: B018  read here, so that what is wrong with them is a finding
    except SettingsInvalid as error:
        return [failed("settings", error)]
    known = [ok("settings", "The settings are valid.")]
    if (missing := _missing_file(call.settings.database.url)) is not None:
        return [*known, missing]
    return [*known, *call.on_database(_database_checks)]


def _missing_file(url: str) -> "Check | None":
    """A finding for a missing SQLite file; connecting would create it."""
    from windlass.core.monitoring.checks import warning
    from windlass.errors.wording import address

    if not url.startswith("sqlite") or ":memory:" in url or os.path.exists(address(url)):
        return None
    return warning(
        "database",
        f"There is no database yet: {os.path.abspath(address(url))} does not exist.",
        "`windlass dev` or `windlass db migrate` creates it. For another one give --db or set "
        "WINDLASS_DATABASE_URL.",
    )


async def _database_checks(app: "LocalApp") -> "list[Check]":
    from windlass.core.monitoring.checks import failed
    from windlass.errors import WindlassError

    found: list[Check] = []
    try:
        async for check in app.engine.doctor.checks():
            found.append(check)  # noqa: PERF401  what came before an error is told too
    except WindlassError as error:
        found.append(failed("database", error))
    return found


async def _server_checks(api: "Client") -> "list[Check]":
    from windlass.core.monitoring.checks import failed, ok
    from windlass.core.monitoring.queue_checks import workers
    from windlass.errors import WindlassError

    found: list[Check] = []
    stage = "server"
    try:
        await api.probe("/healthz")
        found.append(ok(stage, "The server is alive."))
        stage = "ready"
        await api.probe("/readyz")
        found.append(ok(stage, "The server is ready: its database is reachable and migrated."))
        stage = "workers"
        listed = (await api.get("/workers"))["items"]
        queued = (await api.get("/jobs/summary"))["queued"]
        found += workers(
            {each["id"]: each["liveness"] for each in listed},
            queued=queued,
            draining=[each["id"] for each in listed if worker_state(each) in DRAINING.values()],
        )
    except WindlassError as error:
        found.append(failed(stage, error))
    return found


def _print(call: Invocation, check: "Check") -> None:
    look = CHECKS[check.level]
    call.out.data(f"{call.out.style(look.glyph, look.color)} {check.sentence}")
    if check.fix:
        call.out.data(f"  {call.out.style(f'→ {check.fix}', dim=True)}")
