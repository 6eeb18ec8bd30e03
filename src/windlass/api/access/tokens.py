"""`/tokens`: credentials of programs. A secret is shown once."""

from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.routing import Path, Query, Request, Routes, paged
from windlass.api.schema.paging import PageQuery
from windlass.core.wire import fields_of
from windlass.errors import TokenNotFound
from windlass.ids import TokenId, parse_job_id

if TYPE_CHECKING:
    from windlass.api.schema.requests import NewToken

routes = Routes("tokens")


@routes.get("", "tokens.read", paged("Token"), summary="List tokens")
async def find(
    caller: CurrentCaller,
    engine: ReadyEngine,
    paging: PageQuery,
    revoked: Annotated[bool, Query(description="Include revoked and expired tokens.")] = True,
) -> dict[str, Any]:
    """Newest first, never with their secrets; includes revoked and expired tokens by default."""
    before = None if paging.after is None else parse_job_id(paging.after)
    tokens = await engine.tokens.list(
        caller.effective_principal,
        tenant=caller.scope.tenant,
        ended=revoked,
        before=None if before is None else TokenId(before),
        limit=paging.limit + 1,
    )
    page = tokens[: paging.limit]
    more = len(tokens) > paging.limit
    return paging.page([fields_of(token) for token in page], str(page[-1].id) if more else None)


@routes.post(
    "",
    "tokens.write",
    "TokenWithSecret",
    status_code=201,
    summary="Create a token",
    audits=False,
    keys="refused",
)
async def create(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "NewToken"
) -> dict[str, Any]:
    """Only this response contains the secret."""
    token = await engine.tokens.create(
        caller.effective_principal,
        body.name,
        role=body.role,
        tenant=body.tenant or caller.scope.tenant,
        rights=body.rights,
        permissions=body.permissions,
        expires=None if body.expires_seconds is None else f"{body.expires_seconds}s",
        request_id=request.state.request_id,
    )
    return {**fields_of(token.token), "secret": token.secret}


@routes.delete("/{id}", "tokens.write", status_code=204, summary="Revoke a token", audits=False)
async def revoke(
    request: Request,
    caller: CurrentCaller,
    engine: ReadyEngine,
    id: Annotated[str, Path(max_length=64)],
) -> None:
    whole = parse_job_id(id)
    if whole is None:
        raise TokenNotFound(id)
    await engine.tokens.revoke(
        caller.effective_principal,
        TokenId(whole),
        tenant=caller.scope.tenant,
        request_id=request.state.request_id,
    )
