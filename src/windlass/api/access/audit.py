"""`/audit`: the record of changes, in hash chains that reveal any edit."""

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


@routes.get("", "audit.read", "AuditEntries", summary="List audit entries")
async def find(
    caller: CurrentCaller,
    engine: ReadyEngine,
    before: Annotated[
        int | None, Query(ge=1, le=LAST_NUMBER, description="Continue before this number.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> dict[str, Any]:
    """Entries of a tenant's chain, or of the installation's; newest first."""
    page = await engine.audit.list(
        caller.effective_principal, tenant=caller.scope.tenant, before=before, limit=limit
    )
    return {"items": [fields_of(entry) for entry in page.entries], "next": page.next}


@routes.get("/heads", "audit.read", "AuditHeads", summary="List the heads of the chains")
async def heads(caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """The last number and hash of each chain, with its signature if there is a key. Store them
    outside the database to prove later that no entry was removed."""
    heads = await engine.audit.heads(caller.scope.tenant)
    return {
        "items": [
            {
                "tenant_id": head.tenant,
                "sequence": head.end.sequence,
                "hash": head.end.hash,
                "signature": head.signature,
            }
            for head in heads
        ]
    }


@routes.get("/verify", "audit.read", "AuditReport", summary="Verify the chains")
async def verify(caller: CurrentCaller, engine: ReadyEngine) -> dict[str, Any]:
    """For each chain that the caller may see: the number of intact entries, the proof given by the
    signature of its head, and the first broken entry, if any."""
    return await _report(caller, engine, [])


@routes.post(
    "/verify",
    "audit.read",
    "AuditReport",
    summary="Verify the chains against saved heads",
)
async def verify_heads(
    caller: CurrentCaller, engine: ReadyEngine, body: "PinnedHeads"
) -> dict[str, Any]:
    """As above; in addition, each saved head must still be part of its chain."""
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
