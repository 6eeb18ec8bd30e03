"""Jobs over HTTP: the request that created them, and the user it acted for."""

from dataclasses import dataclass

import pytest

from tests.api.authenticated_api import Guarded, guarding
from tests.support.principals import join
from windlass.core.access.principal import local


@dataclass
class Shop:
    """A tenant with a member who signs in, and a backend with one token."""

    guarded: Guarded
    backend: dict
    ada: str  # the member's id

    async def enqueue(self, who=None, query="", **body):
        return await self.guarded.client.post(
            f"/api/v1/jobs{query}",
            json={"definition": "hello", **body},
            headers=self.backend if who is None else who,
        )

    async def audited(self):
        response = await self.guarded.client.get(
            "/api/v1/audit?tenant=acme", headers=await self.guarded.token("superadmin")
        )
        return [each for each in response.json()["items"] if each["action"] == "jobs.enqueue_for"]


@pytest.fixture
async def shop(wl):
    @wl.job
    def hello() -> None: ...

    async with guarding(wl) as guarded:
        engine = await wl.ready()
        await engine.users.create(local(), "ada")
        ada = await join(engine, "acme", "ada")
        backend = await guarded.token("tenant_admin", "acme")
        yield Shop(guarded, backend, str(ada.id))


async def test_a_job_records_the_request_that_created_it(shop):
    created = await shop.enqueue()
    cloned = await shop.guarded.client.post(
        f"/api/v1/jobs/{created.json()['job']['id']}/clone", headers=shop.backend
    )

    for response in (created, cloned):
        assert response.status_code == 201, response.text
        assert response.json()["job"]["source_ref"] == response.headers["x-request-id"]


async def test_a_member_sees_a_job_enqueued_on_their_behalf(shop):
    created = await shop.enqueue(created_by=f"user:{shop.ada}")
    await shop.enqueue()
    engine = await shop.guarded.wl.ready()
    link = await engine.users.link(local(), "ada", "login")
    async with shop.guarded.browser() as ada:
        await ada.post("/api/v1/login/link", json={"link": link.secret})
        own = (await ada.get("/api/v1/jobs")).json()["items"]
        one = await ada.get(f"/api/v1/jobs/{created.json()['job']['id']}")

    assert created.json()["job"]["created_by"] == f"user:{shop.ada}"
    assert [each["id"] for each in own] == [created.json()["job"]["id"]]
    assert one.status_code == 200


async def test_a_backend_filters_jobs_by_its_own_user_ids(shop):
    first = await shop.enqueue(created_by="ada@example.com")
    again = await shop.enqueue(created_by="for:ada@example.com")
    await shop.enqueue(created_by="bob@example.com")

    found = await shop.guarded.client.get(
        "/api/v1/jobs", params={"q": "by:for:ada@example.com"}, headers=shop.backend
    )

    ids = {each.json()["job"]["id"] for each in (first, again)}
    assert {each["id"] for each in found.json()["items"]} == ids
    assert {each["created_by"] for each in found.json()["items"]} == {"for:ada@example.com"}


async def test_enqueueing_on_behalf_is_audited(shop):
    created = await shop.enqueue(created_by="ada@example.com")
    await shop.enqueue()
    await shop.enqueue(query="?dry_run=true", created_by="ada@example.com")

    [entry] = await shop.audited()
    assert (entry["outcome"], entry["actor_name"]) == ("allowed", "tenant_admin of acme")
    assert (entry["target_kind"], entry["target_id"]) == ("job", created.json()["job"]["id"])
    assert entry["after"] == {"created_by": "for:ada@example.com", "definition": "hello"}
    assert entry["request_id"] == created.headers["x-request-id"]


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
async def test_enqueueing_on_behalf_needs_its_right(shop, query):
    user = await shop.guarded.token("user", "acme")
    narrowed = await shop.guarded.token(
        "tenant_admin", "acme", rights=["jobs.enqueue", "jobs.read"]
    )

    for who in (user, narrowed):
        refused = await shop.enqueue(who, query, created_by=f"user:{shop.ada}")

        assert (refused.status_code, refused.json()["code"]) == (403, "WL5102")
    assert [entry["outcome"] for entry in await shop.audited()] == ["refused", "refused"]
    listed = await shop.guarded.client.get("/api/v1/jobs", headers=shop.backend)
    assert listed.json()["items"] == []


@pytest.mark.parametrize(
    "name",
    [
        "token:0190a5d0-0000-7000-8000-000000000000",
        "user:0190a5d0-0000-7000-8000-000000000000",  # nobody
        "user:ada",
        "user:",
        "USER:0190a5d0-0000-7000-8000-000000000000",
        "for:",
        "for:user:0190a5d0-0000-7000-8000-000000000000",
        " ada",
        "ada ",
        "a\nb",
        "a\x1b[2Jb",
        "a\u202eb",
        "x" * 181,
    ],
)
async def test_names_on_behalf_cannot_impersonate_and_are_bounded(shop, name):
    refused = await shop.enqueue(created_by=name)

    assert (refused.status_code, refused.json()["code"]) == (422, "WL2007"), refused.text
    assert refused.json()["errors"][0]["pointer"] == "/created_by"
    assert await shop.audited() == []


async def test_a_member_of_another_tenant_is_unknown(shop, wl):
    engine = await wl.ready()
    await engine.users.create(local(), "gus")
    gus = await join(engine, "globex", "gus")

    foreign = await shop.enqueue(created_by=f"user:{gus.id}")
    unknown = await shop.enqueue(created_by="user:0190a5d0-0000-7000-8000-000000000000")

    assert foreign.status_code == unknown.status_code == 422
    details = [each.json()["detail"].replace(str(gus.id), "") for each in (foreign, unknown)]
    assert details[0] == details[1].replace("0190a5d0-0000-7000-8000-000000000000", "")
