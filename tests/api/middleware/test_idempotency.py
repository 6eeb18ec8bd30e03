"""Writes with an Idempotency-Key: run once, with the same response for each repeat."""

import asyncio

import pytest

from tests.api.authenticated_api import guarding
from windlass.engine.engine import Engine


@pytest.fixture
async def guarded(wl):
    @wl.job
    def hello(name: str) -> str:
        return name

    async with guarding(wl) as guarded:
        yield guarded


NIGHTLY = {
    "name": "nightly",
    "type": "cron",
    "definition": "hello",
    "cron": "0 2 * * *",
    "payload": {"name": "Ada"},
}


async def test_a_repeated_request_gets_the_same_response_and_runs_once(guarded):
    headers = {**await guarded.token("tenant_admin", "acme"), "idempotency-key": "k-1"}

    first = await guarded.client.post("/api/v1/schedules", json=NIGHTLY, headers=headers)
    again = await guarded.client.post("/api/v1/schedules", json=NIGHTLY, headers=headers)

    listed = (await guarded.client.get("/api/v1/schedules", headers=headers)).json()["items"]
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["content-type"] == "application/json"
    assert len(listed) == 1


async def test_a_repeated_request_without_a_response_body_runs_once(guarded):
    admin = await guarded.token("tenant_admin", "acme")
    created = await guarded.client.post("/api/v1/schedules", json=NIGHTLY, headers=admin)
    one, keyed = f"/api/v1/schedules/{created.json()['id']}", {**admin, "idempotency-key": "k-1"}

    statuses = [
        (await guarded.client.delete(one, headers=headers)).status_code
        for headers in (keyed, keyed, admin)
    ]

    assert statuses == [204, 204, 404]


async def test_another_body_with_the_same_key_is_refused(guarded):
    headers = {**await guarded.token("tenant_admin", "acme"), "idempotency-key": "k-1"}
    await guarded.client.post("/api/v1/schedules", json=NIGHTLY, headers=headers)

    other = await guarded.client.post(
        "/api/v1/schedules", json={**NIGHTLY, "name": "daily"}, headers=headers
    )

    assert (other.status_code, other.json()["code"]) == (422, "WL2105")


HELLO = {"definition": "hello", "payload": {"name": "Ada"}}


@pytest.mark.parametrize(
    "other", [{"payload": {"name": "Grace"}}, {"queue": "mail"}, {"delay_seconds": 60}]
)
async def test_an_enqueue_with_another_body_and_the_same_key_is_refused(guarded, other):
    headers = {**await guarded.token("user", "acme"), "idempotency-key": "k-1"}
    first = await guarded.client.post("/api/v1/jobs", json=HELLO, headers=headers)

    refused = await guarded.client.post("/api/v1/jobs", json={**HELLO, **other}, headers=headers)
    spaced = b'{"payload" : {"name": "Ada"},  "definition": "hello"}'
    again = await guarded.client.post(
        "/api/v1/jobs", content=spaced, headers={**headers, "content-type": "application/json"}
    )

    assert (first.status_code, refused.status_code) == (201, 422)
    assert refused.json()["code"] == "WL2105"
    assert again.json() == first.json()
    assert len((await guarded.client.get("/api/v1/jobs", headers=headers)).json()["items"]) == 1


async def test_the_key_of_a_job_matches_an_equal_job_and_refuses_another_payload(guarded):
    key = {"idempotency-key": "k-1"}
    ada, grace = await guarded.token("user", "acme"), await guarded.token("user", "acme")
    await guarded.client.post("/api/v1/jobs", json=HELLO, headers={**ada, **key})

    equal = await guarded.client.post("/api/v1/jobs", json=HELLO, headers={**grace, **key})
    other = await guarded.client.post(
        "/api/v1/jobs", json={**HELLO, "payload": {"name": "Grace"}}, headers={**grace, **key}
    )

    assert (equal.status_code, equal.json()["receipt"]["status"]) == (200, "existing")
    assert (other.status_code, other.json()["code"]) == (422, "WL2105")


async def test_a_dry_run_takes_no_key(guarded):
    headers = {**await guarded.token("tenant_admin", "acme"), "idempotency-key": "k-1"}

    tried = [
        await guarded.client.post(f"/api/v1/{path}?dry_run=true", json=body, headers=headers)
        for path, body in (("jobs", HELLO), ("schedules", NIGHTLY))
    ]
    created = [
        await guarded.client.post(f"/api/v1/{path}", json=body, headers=headers)
        for path, body in (("jobs", HELLO), ("schedules", NIGHTLY))
    ]

    assert [each.status_code for each in tried] == [200, 200]
    assert [each.status_code for each in created] == [201, 201]


async def test_a_job_rejected_by_a_cap_may_be_retried_with_its_key(guarded):
    headers = {**await guarded.token("user", "acme"), "idempotency-key": "k-1"}
    await guarded.wl.tenants.change("acme", max_open=0)
    rejected = await guarded.client.post("/api/v1/jobs", json=HELLO, headers=headers)
    await guarded.wl.tenants.change("acme", max_open=None)

    created = await guarded.client.post("/api/v1/jobs", json=HELLO, headers=headers)

    assert (rejected.status_code, created.status_code) == (409, 201)


async def test_a_key_is_scoped_to_caller_tenant_method_and_path(guarded):
    root = {**await guarded.token("superadmin"), "idempotency-key": "k-1"}
    acme = {**await guarded.token("tenant_admin", "acme"), "idempotency-key": "k-1"}
    globex = {**await guarded.token("tenant_admin", "globex"), "idempotency-key": "k-1"}

    created = [
        await guarded.client.post("/api/v1/schedules", json=NIGHTLY, headers=headers)
        for headers in (acme, globex, root)
    ]
    tried = await guarded.client.post("/api/v1/queues/default/pause", headers=root)
    resumed = await guarded.client.post("/api/v1/queues/default/resume", headers=root)

    assert len({each.json()["id"] for each in created}) == 3
    assert (tried.json()["paused_at"] is not None, resumed.json()["paused_at"]) == (True, None)


async def test_a_problem_response_is_not_stored(guarded):
    headers = {**await guarded.token("superadmin"), "idempotency-key": "k-1"}
    early = await guarded.client.patch("/api/v1/tenants/initech", json={}, headers=headers)
    unreadable = await guarded.client.post("/api/v1/tenants", json={"no": 1}, headers=headers)

    created = await guarded.client.post("/api/v1/tenants", json={"id": "initech"}, headers=headers)
    later = await guarded.client.patch(
        "/api/v1/tenants/initech", json={"weight": 2}, headers=headers
    )

    assert (early.status_code, unreadable.status_code) == (404, 422)
    assert (created.status_code, later.json()["weight"]) == (201, 2)


async def test_of_two_concurrent_requests_one_runs_and_the_other_gets_retry_later(
    guarded, monkeypatch
):
    headers = {**await guarded.token("tenant_admin", "acme"), "idempotency-key": "k-1"}
    engine: Engine = await guarded.wl.ready()
    begun, go_on = asyncio.Event(), asyncio.Event()
    create = engine.triggers.create

    async def slowly(*args, **options):
        begun.set()
        await go_on.wait()
        return await create(*args, **options)

    monkeypatch.setattr(engine.triggers, "create", slowly)
    first = asyncio.create_task(
        guarded.client.post("/api/v1/schedules", json=NIGHTLY, headers=headers)
    )
    await begun.wait()
    meanwhile = await guarded.client.post("/api/v1/schedules", json=NIGHTLY, headers=headers)
    go_on.set()
    done = await first
    after = await guarded.client.post("/api/v1/schedules", json=NIGHTLY, headers=headers)

    assert (meanwhile.status_code, meanwhile.json()["code"]) == (409, "WL2106")
    assert meanwhile.headers["retry-after"] == "1"
    assert (done.status_code, after.json()) == (201, done.json())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("tokens", {"name": "shop", "tenant": "acme"}),
        ("members", {"name": "ada", "tenant": "acme"}),
        ("users/admin/link", {}),
    ],
)
async def test_a_route_that_returns_a_secret_takes_no_key(guarded, path, body):
    headers = {**await guarded.token("superadmin"), "idempotency-key": "k-1"}

    refused = await guarded.client.post(f"/api/v1/{path}", json=body, headers=headers)

    assert (refused.status_code, refused.json()["code"]) == (422, "WL2101")
    assert refused.json()["errors"][0]["pointer"] == "/idempotency-key"


async def test_an_unauthorized_repeat_does_not_get_the_stored_response(guarded):
    created = await guarded.token("superadmin", rights=["tenants.write", "tokens.write"])
    keyed = {**created, "idempotency-key": "k-1"}
    await guarded.client.post("/api/v1/tenants", json={"id": "initech"}, headers=keyed)

    unknown = await guarded.client.post(
        "/api/v1/tenants", json={"id": "initech"}, headers={"idempotency-key": "k-1"}
    )

    assert unknown.status_code == 401
