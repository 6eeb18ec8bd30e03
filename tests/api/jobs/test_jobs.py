"""`/jobs`: enqueueing, reading and changing jobs over HTTP."""

import pytest

from windlass import Permanent


@pytest.fixture
def hello(wl):
    @wl.job(max_attempts=1)
    def hello(name: str) -> str:
        if name == "nobody":
            raise Permanent("there is nobody")
        return f"Hello, {name}"

    return hello


async def enqueued(api, **job):
    response = await api.post(
        "/jobs", json={"definition": "hello", "payload": {"name": "Ada"}, **job}
    )
    return response.json()["job"]


async def test_a_job_is_enqueued_and_read_back(api, hello):
    response = await api.post("/jobs", json={"definition": "hello", "payload": {"name": "Ada"}})
    body = response.json()
    job = (await api.get(f"/jobs/{body['job']['id']}")).json()

    assert response.status_code == 201
    assert body["receipt"]["status"] == "created"
    assert (job["state"], job["payload"], job["tenant_id"]) == (
        "queued",
        {"name": "Ada"},
        "default",
    )


async def test_hostile_text_in_a_payload_is_returned_unchanged(api, hello):
    job = await enqueued(api, payload={"name": "-eyJ" * 61_440})

    response = await api.get(f"/jobs/{job['id']}")

    assert response.json()["payload"] == {"name": "-eyJ" * 61_440}


async def test_a_duplicate_job_returns_the_existing_one(api, hello):
    first = await enqueued(api, dedupe_key="x")
    again = await api.post(
        "/jobs", json={"definition": "hello", "payload": {"name": "B"}, "dedupe_key": "x"}
    )

    assert again.status_code == 200
    assert again.json()["receipt"]["status"] == "existing"
    assert again.json()["job"]["id"] == first["id"]


async def test_the_header_sets_the_jobs_idempotency_key(api, hello):
    body = {"definition": "hello", "payload": {"name": "Ada"}}
    first = await api.post("/jobs", json=body, headers={"Idempotency-Key": "once"})
    again = await api.post("/jobs", json=body, headers={"Idempotency-Key": "once"})

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["idempotency-replayed"] == "true"
    assert first.json()["job"]["idempotency_key"] == "once"
    assert again.json() == first.json()


async def test_an_invalid_payload_names_its_fields(api, hello):
    response = await api.post("/jobs", json={"definition": "hello", "payload": {"nmae": "Ada"}})

    problem = response.json()
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["code"] == "WL2004"
    assert {error["pointer"] for error in problem["errors"]} == {"/payload/name", "/payload/nmae"}
    assert problem["request_id"] == response.headers["x-request-id"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"definition": "hello", "colour": "red"}, "/colour"),
        ({"payload": {}}, "/definition"),
        ({"definition": "hello", "max_attempts": "3"}, "/max_attempts"),
        ({"definition": "hello", "delay_seconds": -1}, "/delay_seconds"),
        ({"definition": "hello", "state": "completed"}, "/state"),
    ],
)
async def test_an_unknown_or_wrong_field_is_refused(api, hello, body, pointer):
    response = await api.post("/jobs", json=body)

    assert response.status_code == 422
    assert pointer in {error["pointer"] for error in response.json()["errors"]}


async def test_a_list_pages_by_cursor_and_omits_payloads(api, hello):
    ids = [(await enqueued(api))["id"] for _ in range(5)]

    first = (await api.get("/jobs", params={"limit": 3})).json()
    rest = (await api.get("/jobs", params={"limit": 3, "cursor": first["next_cursor"]})).json()

    assert [job["id"] for job in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next_cursor"] is None
    assert "payload" not in first["items"][0]


async def test_a_cursor_is_valid_for_its_own_list_only(api, hello):
    for _ in range(3):
        await enqueued(api)
    cursor = (await api.get("/jobs", params={"limit": 1})).json()["next_cursor"]

    for params in ({"state": "queued"}, {"tenant": "default"}):
        refused = await api.get("/jobs", params={"limit": 1, "cursor": cursor, **params})
        assert (refused.status_code, refused.json()["code"]) == (422, "WL2007")
    forged = await api.get("/jobs", params={"cursor": cursor[:-2] + "xx"})
    assert forged.status_code == 422


async def test_a_second_cancel_is_a_conflict(api, hello):
    job = await enqueued(api)

    canceled = await api.post(f"/jobs/{job['id']}/cancel", json={"reason": "not needed"})
    again = await api.post(f"/jobs/{job['id']}/cancel")
    retried = await api.post(f"/jobs/{job['id']}/retry")

    assert (canceled.json()["state"], canceled.json()["reason"]) == ("canceled", "not needed")
    assert (again.status_code, again.json()["code"]) == (409, "WL3302")
    assert retried.json()["state"] == "queued"


async def test_the_attempts_and_history_of_a_job_are_returned(api, wl, hello):
    job = await enqueued(api, payload={"name": "nobody"})
    async with wl.running():
        while (await api.get(f"/jobs/{job['id']}")).json()["state"] != "dead_letter":
            pass

    attempts = (await api.get(f"/jobs/{job['id']}/attempts")).json()["items"]
    history = (await api.get(f"/jobs/{job['id']}/history")).json()["items"]
    groups = (await api.get("/dead/groups")).json()["items"]
    summary = (await api.get("/jobs/summary")).json()

    assert [attempt["outcome"] for attempt in attempts] == ["failed"]
    assert history[-1]["to_state"] == "dead_letter"
    assert (groups[0]["definition"], groups[0]["count"]) == ("hello", 1)
    assert summary["dead_letter"] == 1


async def test_explain_gives_the_reason_a_job_waits(api, hello):
    job = await enqueued(api, delay_seconds=3600)

    explanation = (await api.get(f"/jobs/{job['id']}/explain")).json()

    assert explanation["code"] == "due_later"


async def test_unknown_and_foreign_ids_get_equal_responses(api, wl, hello):
    await wl.tenants.create("acme")
    job = await enqueued(api)

    foreign = await api.get(f"/jobs/{job['id']}", params={"tenant": "acme"})
    unknown = await api.get("/jobs/0190a5d0-0000-7000-8000-000000000000")

    assert (foreign.status_code, unknown.status_code) == (404, 404)
    assert foreign.json()["code"] == unknown.json()["code"] == "WL3301"


@pytest.mark.parametrize(
    "path", ["/jobs?definition=%00", "/stats?queue=a%00", "/logs?words=a&level=%00", "/queues/a%00"]
)
async def test_a_path_that_no_database_can_look_up_is_refused(api, wl, path):
    refused = await api.get(path)

    assert (refused.status_code, refused.json()["code"]) == (422, "WL2101")
    assert "NUL" in refused.json()["errors"][0]["message"]


async def test_an_unknown_path_is_a_problem_response(api):
    nowhere = await api.get("/nothing")
    method = await api.put("/jobs", json={})

    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "WL2102")
    assert (method.status_code, method.json()["code"]) == (405, "WL2103")


async def test_a_clone_is_due_at_once_without_the_keys(api, hello):
    first = await enqueued(
        api, dedupe_key="x", idempotency_key="y", queue="mail", delay_seconds=3600,
        metadata={"order": 7}, timeout_seconds=5,
    )  # fmt: skip

    response = await api.post(f"/jobs/{first['id']}/clone")
    clone = response.json()["job"]

    assert (response.status_code, response.json()["receipt"]["status"]) == (201, "created")
    assert clone["id"] != first["id"]
    for name in ("definition", "payload", "queue", "metadata", "timeout_seconds"):
        assert clone[name] == first[name]
    assert (clone["dedupe_key"], clone["idempotency_key"]) == (None, None)
    assert clone["view"] == "queued"


async def test_a_dry_run_clone_is_not_stored(api, hello):
    first = await enqueued(api)

    response = await api.post(f"/jobs/{first['id']}/clone", params={"dry_run": True})

    assert (response.status_code, response.json()["receipt"]["status"]) == (200, "valid")
    assert len((await api.get("/jobs")).json()["items"]) == 1
