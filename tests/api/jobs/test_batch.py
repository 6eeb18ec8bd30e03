"""`POST /jobs/batch`: many jobs in one transaction, each with its own receipt or error."""

import pytest

from tests.api.authenticated_api import guarding


@pytest.fixture(autouse=True)
def hello(wl):
    @wl.job
    def hello(name: str) -> str:
        return name

    return hello


def hi(name="Ada", **about):
    return {"definition": "hello", "payload": {"name": name}, **about}


async def send(api, *jobs, **how):
    return await api.post("/jobs/batch", json={"jobs": jobs}, **how)


async def stored(api):
    return len((await api.get("/jobs")).json()["items"])


async def test_each_job_of_a_batch_has_its_own_receipt(api):
    first = await send(api, hi(dedupe_key="a"))
    response = await send(api, hi("Grace"), hi(dedupe_key="a"), hi("Edsger", queue="mail"))

    receipts = response.json()["items"]
    assert (first.status_code, response.status_code) == (201, 201)
    assert [each["status"] for each in receipts] == ["created", "existing", "created"]
    assert receipts[1]["job_id"] == first.json()["items"][0]["job_id"]
    last = (await api.get(f"/jobs/{receipts[2]['job_id']}")).json()
    assert (last["payload"], last["queue"]) == ({"name": "Edsger"}, "mail")


async def test_a_batch_with_invalid_jobs_stores_none_and_points_at_each(api):
    response = await send(
        api,
        hi(),
        hi(payload={"nmae": "Ada"}),
        hi(timeout_seconds=0),
        {"definition": "helo"},
        hi(tenant="nobody"),
        hi(due_at="2020-01-01T00:00:00Z"),
    )

    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, "WL3307")
    assert [each["pointer"] for each in problem["errors"]] == [
        "/jobs/1/payload/name",
        "/jobs/1/payload/nmae",
        "/jobs/2/timeout_seconds",
        "/jobs/3/definition",
    ]
    assert "did you mean name?" in problem["errors"][1]["message"]
    assert await stored(api) == 0


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"tenant": "nobody"}, "/jobs/1/tenant"),
        ({"due_at": "2020-01-01T00:00:00Z"}, "/jobs/1/due_at"),
        ({"after": ["0190a5d0-0000-7000-8000-000000000000"]}, "/jobs/1/after"),
        ({"dedupe_key": "a", "on_duplicate": "error"}, "/jobs/1"),
    ],
)
async def test_jobs_refused_by_the_database_are_pointed_at(api, wrong, pointer):
    await send(api, hi(dedupe_key="a"))

    response = await send(api, hi("Grace"), hi(**wrong))

    assert response.status_code == 422, response.text
    assert [each["pointer"] for each in response.json()["errors"]] == [pointer]
    assert await stored(api) == 1


async def test_an_unreadable_batch_names_the_field(api):
    wrong = await send(api, hi(), hi(priority="hgh"))
    empty = await send(api)
    many = await send(api, *[hi()] * 1_001)

    assert wrong.json()["errors"][0]["pointer"] == "/jobs/1/priority"
    assert {empty.status_code, many.status_code} == {422}
    assert empty.json()["errors"][0]["pointer"] == "/jobs"


async def test_a_batch_is_idempotent_by_key_and_dry_runs_store_nothing(api):
    key = {"headers": {"Idempotency-Key": "batch-1"}}

    tried = await send(api, hi(), hi("Grace"), params={"dry_run": True}, **key)
    created = await send(api, hi(), hi("Grace"), **key)
    again = await send(api, hi(), hi("Grace"), **key)
    other = await send(api, hi(), **key)

    assert [each["status"] for each in tried.json()["items"]] == ["valid", "valid"]
    assert created.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (422, "WL2105")
    assert await stored(api) == 2


async def test_a_batch_is_refused_if_one_job_may_not_be_enqueued(wl):
    @wl.job(requires_permission="pay")
    def pay() -> None: ...

    async with guarding(wl) as guarded:
        user = await guarded.token("user", "acme")

        refused = await guarded.client.post(
            "/api/v1/jobs/batch", json={"jobs": [hi(), {"definition": "pay"}]}, headers=user
        )
        foreign = await guarded.client.post(
            "/api/v1/jobs/batch", json={"jobs": [hi(tenant="globex")]}, headers=user
        )

        assert (refused.status_code, foreign.status_code) == (403, 404)
        assert (await guarded.client.get("/api/v1/jobs", headers=user)).json()["items"] == []


async def test_a_job_above_the_tenants_cap_is_rejected_individually(api, wl):
    await wl.tenants.create("acme", max_open=1)

    response = await send(api, hi(tenant="acme"), hi(tenant="acme"), hi())

    assert [each["status"] for each in response.json()["items"]] == [
        "created",
        "rejected",
        "created",
    ]
