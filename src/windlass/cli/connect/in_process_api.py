"""The API on the database itself, called in this process."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from windlass.api.access.callers import Caller
from windlass.api.local_calls import LocalApi
from windlass.cli.connect.api_client import Client
from windlass.cli.connect.local_app import LocalApp
from windlass.core.jobs.models import ALL_TENANTS
from windlass.errors import RequestRefused


def in_process_client(app: LocalApp, actor: str | None, tenant: str | None) -> Client:
    """A client of a database, for the caller who has it in hand and may do everything."""
    api = LocalApi(app, Caller(actor, ALL_TENANTS))

    async def send(method: str, path: str, query: Sequence[tuple[str, str]], body: object) -> Any:
        response = await api.send(method, path, query, body)
        if response.status_code >= 400:
            raise RequestRefused(response.status_code, said="it says no more")
        return json.loads(response.body) if response.body else {}

    @asynccontextmanager
    async def operating() -> AsyncIterator[None]:
        """Work on bulk operations: no other process may be there to do it."""
        from windlass.upkeep.bulk_operations import OperationRunner

        work = OperationRunner(await app.ready())
        work.start()
        try:
            yield
        finally:
            await work.stop()

    return Client(send, tenant=tenant, learn=app.learn, operating=operating)
