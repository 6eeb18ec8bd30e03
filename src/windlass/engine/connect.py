"""Opens an engine on the database that settings name."""

from datetime import timedelta

from windlass.core.access.roles import ROLES, RoleTable
from windlass.engine.engine import Engine
from windlass.settings import Settings
from windlass.storage.storage import open_storage
from windlass.telemetry import Telemetry


def connect(
    settings: Settings,
    telemetry: Telemetry,
    *,
    url: str | None = None,
    roles: RoleTable = ROLES,
) -> Engine:
    """An engine that connects when it is first used; `url` is a database other than the settings'."""
    database = settings.database
    storage = open_storage(
        url or database.url,
        schema=database.schema,
        listen_url=database.listen_url,
        row_security=database.row_security,
        lease_time=timedelta(seconds=settings.worker.lease_seconds),
    )
    return Engine(storage, settings, telemetry, roles=roles)
