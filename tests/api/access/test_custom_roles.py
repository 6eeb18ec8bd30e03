"""Custom roles and custom authentication of an embedding program."""

import httpx2
import pytest
from fastapi import FastAPI

from windlass import Settings, Windlass
from windlass.api.access.credentials import by_credentials, speaking_for
from windlass.api.app import create_api
from windlass.core.access.principal import Membership, Principal, local
from windlass.core.access.roles import ROLES, Reach, Right
from windlass.errors import NotAuthenticated
from windlass.ids import TenantId

SUPPORT = {Right.JOBS_READ: Reach.TENANT, Right.JOBS_RETRY: Reach.TENANT}


async def who(request):
    name = request.headers.get("x-user")
    if name is None:
        raise NotAuthenticated
    place = Membership(TenantId("acme"), "support")
    return speaking_for(request, Principal(kind="none", id=None, name=name, memberships=(place,)))


@pytest.fixture
async def shop(database):
    wl = Windlass(database.url, settings=Settings(), roles={**ROLES, "support": SUPPORT})

    @wl.job
    def hello(name: str) -> str:
        return name

    await wl.ready()
    await wl.tenants.create("acme")
    await wl.tenants.create("globex")
    yield wl
    await wl.close()


async def test_an_application_authenticates_callers_and_defines_its_own_roles(shop):
    host = FastAPI()
    host.mount("/windlass", create_api(shop, authenticate=who))
    own = await shop.enqueue("hello", {"name": "Ada"}, tenant="acme")
    other = await shop.enqueue("hello", {"name": "Ada"}, tenant="globex")
    await shop.jobs.cancel(own.job_id)
    jobs, bob = "/windlass/api/v1/jobs", {"x-user": "bob@shop.example"}

    transport = httpx2.ASGITransport(host, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://host") as client:
        nobody = await client.get(jobs)
        listed = (await client.get(jobs, headers=bob)).json()["items"]
        retried = await client.post(f"{jobs}/{own.job_id}/retry", headers=bob)
        canceled = await client.post(f"{jobs}/{own.job_id}/cancel", headers=bob)
        foreign = await client.get(f"{jobs}/{other.job_id}", headers=bob)
        me = (await client.get("/windlass/api/v1/whoami", headers=bob)).json()

    entries = (await (await shop.ready()).audit.list(local(), tenant="acme")).entries
    assert nobody.status_code == 401
    assert [each["id"] for each in listed] == [str(own.job_id)]
    assert (retried.status_code, canceled.status_code, foreign.status_code) == (200, 403, 404)
    assert (me["name"], me["rights"]) == ("bob@shop.example", ["jobs.read", "jobs.retry"])
    assert [(each.actor, each.action, each.outcome) for each in entries] == [
        ("bob@shop.example", "jobs.cancel", "refused"),
        ("bob@shop.example", "jobs.retry", "allowed"),
    ]


async def test_a_custom_role_can_be_given_to_members_and_tokens(shop):
    engine = await shop.ready()
    created = await engine.tokens.create(local(), "desk", role="support", tenant="acme")
    app = create_api(shop, authenticate=by_credentials)

    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        me = await client.get(
            "/api/v1/whoami", headers={"authorization": f"Bearer {created.secret}"}
        )

    assert me.json()["rights"] == ["jobs.read", "jobs.retry"]
