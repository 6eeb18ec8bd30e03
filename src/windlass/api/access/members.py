"""`/members`: users and their roles in a tenant."""

from typing import TYPE_CHECKING, Annotated, Any

from windlass.api.access.callers import CurrentCaller, ReadyEngine
from windlass.api.jobs.jobs import target_tenant
from windlass.api.routing import Path, Request, Routes, paged
from windlass.api.schema import render
from windlass.api.schema.paging import PageQuery
from windlass.core.access.accounts import Member

if TYPE_CHECKING:
    from windlass.api.schema.requests import MemberEdit, NewMember

routes = Routes("members")

Id = Annotated[
    str,
    Path(description="A user's id or name; a pending member's name.", min_length=1, max_length=191),
]


@routes.get("", "members.read", paged("Member"), summary="List members")
async def find(caller: CurrentCaller, engine: ReadyEngine, paging: PageQuery) -> dict[str, Any]:
    """Ordered by tenant and name. Members who have not accepted their invitation are `pending`, and
    have neither rights nor a `user_id`."""
    members = await engine.members.list(caller.effective_principal, tenant=caller.scope.tenant)
    page = paging.cut(sorted(members, key=_sort_key), _sort_key)
    return {**page, "items": [render.member(each) for each in page["items"]]}


@routes.post(
    "",
    "members.write",
    "PendingInvitation",
    status_code=201,
    summary="Invite a member",
    audits=False,
    keys="refused",
)
async def invite(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, body: "NewMember"
) -> dict[str, Any]:
    """Offers a role in a tenant. The role takes effect when the invitee accepts it by `link`, which
    is never shown again. The response does not reveal if an account of that name exists. Inviting
    again creates a new link and voids the previous one."""
    invited = await engine.members.invite(
        caller.effective_principal,
        target_tenant(caller, body.tenant),
        body.name,
        role=body.role,
        permissions=body.permissions,
        request_id=request.state.request_id,
    )
    return {
        "member": render.member(invited.member),
        "link": render.link(request, invited.link),
    }


@routes.patch("/{id}", "members.write", "Member", summary="Change a role", audits=False)
async def change(
    request: Request, caller: CurrentCaller, engine: ReadyEngine, id: Id, body: "MemberEdit"
) -> dict[str, Any]:
    """Changes role or permissions; omitted fields stay. For a pending member it changes the offer.
    Callers cannot grant or change more than they hold."""
    changed = await engine.members.change(
        caller.effective_principal,
        caller.tenant,
        id,
        **body.given_fields(),
        request_id=request.state.request_id,
    )
    return render.member(changed)


@routes.delete("/{id}", "members.write", status_code=204, summary="Remove a member", audits=False)
async def remove(request: Request, caller: CurrentCaller, engine: ReadyEngine, id: Id) -> None:
    """The user account stays. The link of a pending member becomes void."""
    await engine.members.remove(
        caller.effective_principal, caller.tenant, id, request_id=request.state.request_id
    )


def _sort_key(member: Member) -> str:
    return f"{member.tenant}\0{member.name}"
