"""`/users`: people who sign in, managed by the installation's administrators."""

from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.routing import Path, Query, Request, Routes, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.core.wire import fields_of
from windlass.ids import UserId

if TYPE_CHECKING:
    from windlass.api.schema.requests import NewLink, NewSuperadmin, NewUser, UserEdit

routes = Routes("users")

Id = Annotated[str, Path(description="A user's id or name.", min_length=1, max_length=191)]


@routes.get("", "users.read", paged("User"), summary="List users")
async def find(caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery) -> dict[str, Any]:
    """Ordered by name."""
    users = await engine.users.list(
        caller.effective_principal, after=paging.after, limit=paging.limit + 1
    )
    page = [fields_of(user) for user in users[: paging.limit]]
    return paging.page(page, page[-1]["name"] if len(users) > paging.limit else None)


@routes.post("", "users.write", "User", status_code=201, summary="Create a user", audits=False)
async def create(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "NewUser"
) -> dict[str, Any]:
    """The user has no password until a one-time link sets it."""
    user = await engine.users.create(
        caller.effective_principal,
        body.name,
        superadmin=body.superadmin,
        request_id=request.state.request_id,
    )
    return fields_of(user)


@routes.get("/{id}", "users.read", "User", summary="Get a user")
async def get(caller: CurrentCaller, engine: ReadyEngine, id: Id) -> dict[str, Any]:
    return fields_of(await engine.users.get(caller.effective_principal, id))


@routes.patch("/{id}", "users.write", "User", summary="Change a user", audits=False)
async def change(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, id: Id, body: "UserEdit"
) -> dict[str, Any]:
    """Disabling a user ends its sessions at once; tokens it created stay valid. `superadmin` can
    only be taken away here; `/users/invite` grants it."""
    changed = await engine.users.change(
        caller.effective_principal, id, **body.given_fields(), request_id=request.state.request_id
    )
    return fields_of(changed)


@routes.post(
    "/invite",
    "users.write",
    "OneTimeLinkResponse",
    status_code=201,
    summary="Invite a superadmin",
    audits=False,
    keys="refused",
)
async def invite(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "NewSuperadmin"
) -> dict[str, Any]:
    """The invitee becomes superadmin by accepting this link, signed in to their account or by
    setting a password for a new one. The link is never shown again."""
    invitation = await engine.users.invite(
        caller.effective_principal, body.name, request_id=request.state.request_id
    )
    return render.link(request, invitation)


@routes.delete("/{id}", "users.write", status_code=204, summary="Delete a user", audits=False)
async def delete(
    request: Request,
    caller: CurrentCaller,
    engine: ReadyEngine,
    id: Id,
    keep_tokens: Annotated[bool, Query(description="Keep the tokens it created valid.")] = False,
) -> None:
    """Keeps what the user created; the id in `created_by` is never reused."""
    await engine.users.delete(
        caller.effective_principal, id, keep_tokens=keep_tokens, request_id=request.state.request_id
    )


@routes.post(
    "/{id}/link",
    "users.write",
    "OneTimeLinkResponse",
    status_code=201,
    summary="Create a one-time link",
    audits=False,
    keys="refused",
)
async def link(
    request: Request,
    caller: CurrentCaller,
    engine: ReadyEngine,
    id: Id,
    body: "NewLink | None" = None,
) -> dict[str, Any]:
    """A link to set a password or to sign in. Only this response contains its secret."""
    from windlass.api.schema.requests import NewLink

    options = body or NewLink()
    new_link = await engine.users.link(
        caller.effective_principal,
        id,
        options.purpose,
        expires=None if options.expires_seconds is None else f"{options.expires_seconds}s",
        request_id=request.state.request_id,
    )
    return render.link(request, new_link)


@routes.delete(
    "/{id}/sessions",
    "users.write",
    status_code=204,
    summary="Sign a user out everywhere",
    audits=False,
)
async def sign_out(request: Request, caller: CurrentCaller, engine: ReadyEngine, id: Id) -> None:
    user = await engine.users.get(caller.effective_principal, id)
    await engine.sessions.revoke_all(
        caller.effective_principal, user=UserId(user.id), request_id=request.state.request_id
    )
