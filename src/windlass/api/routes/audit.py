"""`/audit`: who changed what, in chains that cannot be edited unseen."""

from typing import Annotated, Any

from fastapi import Query

from windlass.api.callers import Calling, Ready
from windlass.api.paging import LAST_NUMBER
from windlass.api.routing import Routes
from windlass.core.wire import fields_of

routes = Routes("audit")


@routes.get("", "audit.read", summary="List entries")
async def find(
    caller: Calling,
    engine: Ready,
    before: Annotated[
        int | None, Query(ge=1, le=LAST_NUMBER, description="Go on before this number.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> dict[str, Any]:
    """A tenant's chain, or the installation's; newest first."""
    page = await engine.audit.list(
        caller.known_as, tenant=caller.scope.tenant, before=before, limit=limit
    )
    return {"items": [fields_of(entry) for entry in page.entries], "next": page.next}


@routes.get("/verify", "audit.read", summary="Is the chain whole?")
async def verify(caller: Calling, engine: Ready) -> dict[str, Any]:
    """How many entries were found whole, and where the chain is broken, if it is."""
    found = await engine.audit.verify(caller.scope.tenant)
    broken = None if found.broken is None else fields_of(found.broken)
    return {"entries": found.entries, "whole": found.whole, "broken": broken}
