"""`/audit`: who changed what, in chains that cannot be edited unseen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import Caller, CurrentCaller, ReadyEngine
from windlass.api.routing import Query, Routes
from windlass.api.schema.paging import LAST_NUMBER
from windlass.core.wire import fields_of
from windlass.engine.access.audit_verify import PinnedHead
from windlass.engine.engine import Engine

if TYPE_CHECKING:
    from windlass.api.schema.requests import PinnedHeads

routes = Routes("audit")


@routes.get("", "audit.read", "AuditEntries", summary="List entries")
async def find(
    caller: CurrentCaller,
    engine: ReadyEngine,
    before: Annotated[
        int | None, Query(ge=1, le=LAST_NUMBER, description="Go on before this number.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> dict[str, Any]:
    """A tenant's chain, or the installation's; newest first."""
    page = await engine.audit.list(
        caller.effective_principal, tenant=caller.scope.tenant, before=before, limit=limit
    )
    return {"items": [fields_of(entry) for entry in page.entries], "next": page.next}


@routes.get("/heads", "audit.read", "AuditHeads", summary="Where do the chains end?")
async def heads(caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """The last number and hash of each chain, with its signature if there is a key. Kept elsewhere,
    they show later that nothing was taken away."""
    found = await engine.audit.heads(caller.scope.tenant)
    return {
        "items": [
            {
                "tenant_id": head.tenant,
                "sequence": head.end.sequence,
                "hash": head.end.hash,
                "signature": head.signature,
            }
            for head in found
        ]
    }


@routes.get("/verify", "audit.read", "AuditReport", summary="Are the chains whole?")
async def verify(caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """Every chain that the caller may see: how many entries were found whole, what the signature of
    its end proves, and where it is broken, if it is."""
    return await _report(caller, engine, [])


@routes.post(
    "/verify",
    "audit.read",
    "AuditReport",
    summary="Are the chains whole, and do they hold these heads?",
)
async def verify_heads(
    caller: CurrentCaller, engine: ReadyEngine, body: "PinnedHeads"
) -> dict[str, Any]:
    """The same; each head that was kept elsewhere must still be part of its chain."""
    pinned = [
        PinnedHead(head.tenant_id, head.sequence, head.hash, head.signature) for head in body.heads
    ]
    return await _report(caller, engine, pinned)


async def _report(caller: Caller, engine: Engine, pinned: Sequence[PinnedHead]) -> dict[str, Any]:
    tenant = caller.scope.tenant
    report = await (
        engine.audit.verify_all(pinned)
        if tenant is None
        else engine.audit.verify_own(tenant, pinned)
    )
    return {
        "whole": report.whole,
        "signed": report.signed,
        "entries": sum(chain.entries for chain in report.chains),
        "problem": report.problem,
        "chains": [
            {
                "tenant_id": chain.tenant,
                "entries": chain.entries,
                "whole": chain.whole,
                "head": chain.head,
                "broken": None if chain.broken is None else fields_of(chain.broken),
            }
            for chain in report.chains
        ],
    }
