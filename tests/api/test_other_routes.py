"""The other nouns: read and changed over HTTP as in Python."""

import json

import pytest

from windlass.api.app import create_api
from windlass.errors.wording import printable


@pytest.fixture
async def ingest(wl):
    @wl.job(max_attempts=3)
    def ingest(path: str) -> str:
        return path

    await wl.ready()
    return ingest


async def test_a_definition_is_edited_shown_as_such_and_reset(api, ingest):
    edited = await api.patch("/definitions/ingest", json={"max_attempts": 7, "rate_limit": "5/s"})
    reset = await api.post("/definitions/ingest/reset")
    wrong = await api.patch("/definitions/ingest", json={"max_attempts": 0})

    assert edited.json()["edited"] == ["max_attempts", "rate_count", "rate_seconds"]
    assert (edited.json()["rate_limit"], edited.json()["code"]["max_attempts"]) == ("5/s", 3)
    assert (reset.json()["edited"], reset.json()["strategy"]) == ([], "on_demand")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "WL2007")


async def test_a_disabled_definition_refuses_jobs(api, ingest):
    await api.post("/definitions/ingest/disable")

    refused = await api.post("/jobs", json={"definition": "ingest", "payload": {"path": "/"}})

    assert (refused.status_code, refused.json()["code"]) == (409, "WL2108")
    assert (await api.post("/definitions/ingest/enable")).json()["enabled"] is True


async def test_a_schedule_is_created_changed_run_and_deleted(api, ingest):
    created = await api.post(
        "/schedules",
        json={
            "name": "nightly",
            "type": "cron",
            "definition": "ingest",
            "cron": "0 2 * * *",
            "timezone": "Europe/Berlin",
            "payload": {"path": "/in"},
        },
    )
    id = created.json()["id"]
    moved = await api.patch(f"/schedules/{id}", json={"cron": "30 3 * * *"})
    off = await api.post(f"/schedules/{id}/disable")
    ran = await api.post(f"/schedules/{id}/run")
    gone = await api.delete(f"/schedules/{id}")

    assert created.status_code == 201
    assert moved.json()["next_run_at"] != created.json()["next_run_at"]
    assert (moved.json()["timezone"], off.json()["next_run_at"]) == ("Europe/Berlin", None)
    assert (ran.status_code, ran.json()["status"]) == (201, "created")
    assert (gone.status_code, (await api.get(f"/schedules/{id}")).status_code) == (204, 404)


async def test_an_invalid_schedule_is_refused(api, ingest):
    body = {"name": "x", "type": "cron", "definition": "ingest", "payload": {"path": "/"}}
    bad = await api.post("/schedules", json={**body, "cron": "61 * * * *"})
    zone = await api.post("/schedules", json={**body, "cron": "0 2 * * *", "timezone": "Mars/X"})

    assert (bad.status_code, bad.json()["code"]) == (422, "WL4401")
    assert (zone.status_code, zone.json()["code"]) == (422, "WL4402")


async def test_a_dry_run_shows_a_schedule_and_stores_nothing(api, ingest):
    body = {"name": "x", "type": "interval", "definition": "ingest", "payload": {"path": "/"}}

    tried = await api.post("/schedules?dry_run=true", json={**body, "interval_seconds": 60})

    assert (tried.status_code, tried.json()["interval_seconds"]) == (200, 60)
    assert (await api.get("/schedules")).json()["items"] == []


async def test_an_unknown_worker_is_not_found(api, ingest):
    response = await api.get("/workers/web-2:411")

    assert (response.status_code, response.json()["code"]) == (404, "WL3601")


async def test_an_event_creates_the_jobs_of_its_triggers(api, ingest):
    await api.post(
        "/triggers",
        json={
            "name": "in",
            "type": "event",
            "definition": "ingest",
            "event_name": "folder.changed",
            "payload": {"path": "{{event.path}}"},
        },
    )
    tried = await api.post("/triggers/in/test", json={"data": {"path": "/tried"}})
    emitted = await api.post("/events", json={"name": "folder.changed", "data": {"path": "/in"}})
    again = await api.post(f"/events/{emitted.json()['id']}/replay")

    jobs = (await api.get("/jobs", params={"source": "event"})).json()["items"]
    assert (tried.json()["matches"], tried.json()["payload"]) == (True, {"path": "/tried"})
    assert (emitted.status_code, emitted.json()["jobs"], again.json()["jobs"]) == (201, 1, 1)
    assert len(jobs) == 2
    listed = (await api.get("/events", params={"limit": 1})).json()
    assert listed["items"][0]["id"] == again.json()["id"]
    assert listed["next_cursor"]


async def test_a_queue_is_paused_limited_and_resumed(api, ingest):
    paused = await api.post("/queues/default/pause", json={"reason": "night"})
    limited = await api.patch("/queues/default", json={"max_concurrency": 3})
    resumed = await api.post("/queues/default/resume")

    assert paused.json()["pause_reason"] == "night"
    assert (limited.json()["max_concurrency"], resumed.json()["paused_at"]) == (3, None)
    assert [queue["name"] for queue in (await api.get("/queues")).json()["items"]] == ["default"]


async def test_a_tenant_is_created_changed_suspended_and_deleted(api, ingest):
    created = await api.post("/tenants", json={"id": "acme", "weight": 2})
    changed = await api.patch("/tenants/acme", json={"max_running": 5})
    await api.post("/tenants/acme/suspend")
    job = {"definition": "ingest", "payload": {"path": "/"}, "tenant": "acme"}
    refused = await api.post("/jobs", json=job)
    await api.post("/tenants/acme/resume")
    stored = await api.post("/jobs", json=job)
    closed = await api.delete("/tenants/acme")

    assert (created.status_code, changed.json()["weight"], changed.json()["max_running"]) == (
        201,
        2,
        5,
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "WL2202")
    assert (stored.status_code, closed.json()) == (201, {"closed": 1})
    assert (await api.get("/tenants/acme")).status_code == 404


async def test_workers_are_listed_with_their_liveness(api, wl, ingest):
    async with wl.running():
        while not (items := (await api.get("/workers")).json()["items"]):
            pass

    assert "ingest" in items[0]["definitions"]
    assert items[0]["liveness"] == "live"


async def test_health_and_readiness_are_at_the_root(api):
    assert (await api.get("http://localhost/healthz")).json() == {"status": "ok"}
    assert (await api.get("http://localhost/readyz")).json() == {"status": "ok"}


def test_every_api_route_declares_its_right(served):
    undeclared = [
        (method, path)
        for path, methods in served.openapi()["paths"].items()
        for method, route in methods.items()
        if path.startswith("/api/") and "x-right" not in route
    ]

    assert undeclared == []


def test_apis_of_one_process_share_their_routes(wl):
    one, other = create_api(wl), create_api(wl)

    shared = {id(route) for route in one.routes} & {id(route) for route in other.routes}

    assert len(shared) >= len(one.routes) - 2  # each describes itself: /docs and /openapi.json


async def test_responses_escape_terminal_control_characters(api):
    text = "\x9b2J\u202e\u2028\x7f\U000e0041 東京 🎉"

    created = await api.post("/events", json={"name": "e", "data": {text: text}})
    wrong = await api.post("/events", json={"name": "e", text: 1})

    assert created.json()["data"] == {text: text}
    assert "東京 🎉" in created.text
    assert json.loads(wrong.text)["status"] == 422
    for response in (created, wrong):
        assert printable(response.text) == response.text
