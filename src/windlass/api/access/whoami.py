"""`/whoami`: the current identity and its rights."""

from typing import Any

from windlass.api.access.callers import NOWHERE, CurrentCaller, ReadyEngine
from windlass.api.routing import NO_RIGHT, Routes
from windlass.core.access.roles import Right, membership_reach

routes = Routes("whoami", tag="account")


@routes.get("", NO_RIGHT, "CallerIdentity", summary="Get the current identity")
async def whoami(caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """The owner of this request's credential, with tenants and rights. `rights` null means all, as
    on a server without authentication."""
    who, table = caller.effective_principal, engine.access.table
    return {
        "name": who.name,
        "kind": who.kind,
        "id": None if who.id is None else str(who.id),
        "tenant_id": None if caller.scope == NOWHERE else caller.scope.tenant,
        "rights": None if caller.rights is None else sorted(caller.rights),
        "memberships": [
            {
                "tenant_id": each.tenant,
                "role": each.role,
                "permissions": sorted(each.permissions),
                "rights": [
                    right
                    for right in Right
                    if membership_reach(each, right, each.tenant, table) is not None
                    and (who.rights is None or right in who.rights)
                ],
            }
            for each in who.memberships
        ],
    }
