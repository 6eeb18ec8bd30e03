"""The first calls of different users, one after the other, as they would type them."""

from collections.abc import AsyncIterator

import pytest

from tests.api.authenticated_api import Guarded, guarding
from windlass import Permanent, Settings, Windlass


def sync_folder(provider_id: str, path_prefix: str = "/") -> str:
    """A handler that a definition names by its path."""
    return f"{provider_id}:{path_prefix}"


@pytest.fixture
async def guarded(database) -> AsyncIterator[Guarded]:
    settings = Settings.load({"worker.handler_paths": ["tests.api"]})
    async with Windlass(database.url, settings=settings) as wl:

        @wl.job(max_attempts=1)
        def sitemap(section: str) -> str:
            if section == "posts":
                raise Permanent("the posts table is gone")
            return f"{section}.xml"

        @wl.job(requires_permission="reports.run", priority="high")
        def report(month: str) -> str:
            return f"report of {month}"

        async with guarding(wl) as guarded:
            yield guarded


class Person:
    """A caller at a shell: each request succeeds and returns JSON."""

    def __init__(self, guarded: Guarded, headers: dict[str, str]) -> None:
        self._guarded = guarded
        self._headers = headers

    async def ask(self, method, path, body=None, *, status=(200, 201)):
        response = await self._guarded.client.request(
            method, f"/api/v1{path}", json=body, headers=self._headers
        )
        assert response.status_code in (status if isinstance(status, tuple) else (status,)), (
            response.text
        )
        return response.json() if response.content else {}

    async def get(self, path, **how):
        return await self.ask("GET", path, **how)

    async def post(self, path, body=None, **how):
        return await self.ask("POST", path, body, **how)

    async def patch(self, path, body, **how):
        return await self.ask("PATCH", path, body, **how)


async def test_an_administrator_creates_a_definition_and_a_tenant_triggers_it(guarded):
    root = Person(guarded, await guarded.token("superadmin"))
    acme = Person(guarded, await guarded.token("tenant_admin", "acme"))

    await root.post("/definitions", {
        "key": "sync-folder",
        "path": "tests.api.test_example_calls.sync_folder",
        "description": "Sync provider updates for a tenant",
        "payload_schema": {
            "type": "object",
            "properties": {
                "provider_id": {"type": "string", "format": "uuid"},
                "path_prefix": {"type": "string"},
            },
            "required": ["provider_id"],
            "additionalProperties": False,
        },
    })  # fmt: skip
    await root.patch("/definitions/sync-folder", {"timeout_seconds": 3600, "max_attempts": 3})

    # An event makes a job, by a template.
    trigger = await acme.post("/triggers", {
        "name": "Resync on folder change",
        "type": "event",
        "event_name": "provider.folder.updated",
        "definition": "sync-folder",
        "payload": {"provider_id": "{{event.provider_id}}", "path_prefix": "{{event.folder_path}}"},
        "dedupe_window_seconds": 120,
    })  # fmt: skip
    provider = "1efe049f-ae71-4226-97be-236b4df4a93a"
    happened = {"provider_id": provider, "folder_path": "/in"}
    tried = await acme.post(f"/triggers/{trigger['id']}/test", {"data": happened})
    assert tried["payload"] == {"provider_id": provider, "path_prefix": "/in"}

    await acme.post("/events", {"name": "provider.folder.updated", "data": happened})
    await guarded.wl.upkeep_once()
    [job] = (await acme.get("/jobs?definition=sync-folder&source=event"))["items"]
    assert (job["state"], job["max_attempts"]) == ("queued", 3)

    # A schedule makes one every night, in the tenant's own time.
    nightly = await acme.post("/schedules", {
        "name": "Nightly provider sync",
        "type": "cron",
        "cron": "0 2 * * *",
        "timezone": "America/New_York",
        "definition": "sync-folder",
        "payload": {"provider_id": provider, "path_prefix": "/"},
    })  # fmt: skip
    assert nightly["next_run_at"].endswith("Z")

    # A value that does not fit the schema is refused with a pointer to its field.
    refused = await acme.post(
        "/jobs", {"definition": "sync-folder", "payload": {"provider_id": 7}}, status=422
    )
    assert refused["errors"][0]["pointer"] == "/payload/provider_id"

    # A caller enqueues one now, and waits for it.
    created = await acme.post("/jobs", {
        "definition": "sync-folder",
        "payload": {"provider_id": provider},
        "priority": 100,
        "dedupe_key": "acme:sync:daily",
    })  # fmt: skip
    async with guarded.wl.running():
        done = await acme.get(f"/jobs/{created['job']['id']}/wait?timeout=60")
    assert (done["state"], done["result"]) == ("completed", f"{provider}:/")
    [attempt] = (await acme.get(f"/jobs/{done['id']}/attempts"))["items"]
    assert attempt["outcome"] == "succeeded"


async def test_an_operator_lists_failed_jobs_and_retries_them(guarded):
    operator = Person(guarded, await guarded.token("superadmin"))
    jobs = [{"definition": "sitemap", "payload": {"section": each}} for each in ("pages", "posts")]
    receipts = (await operator.post("/jobs/batch", {"jobs": jobs}))["items"]
    async with guarded.wl.running():
        for receipt in receipts:
            await operator.get(f"/jobs/{receipt['job_id']}/wait?timeout=60")

    [failed] = (await operator.get("/dead"))["items"]
    assert failed["queue"] == "default"
    assert failed["finished_at"].endswith("Z")
    whole = await operator.get(f"/jobs/{failed['id']}")
    assert whole["payload"] == {"section": "posts"}
    assert "the posts table is gone" in whole["last_error"]
    [cause] = (await operator.get("/dead/groups"))["items"]
    assert (cause["definition"], cause["count"]) == ("sitemap", 1)

    retried = await operator.post(
        f"/dead/{failed['id']}/edit-retry", {"payload": {"section": "tags"}}
    )
    async with guarded.wl.running():
        done = await operator.get(f"/jobs/{retried['id']}/wait?timeout=60")
    assert (done["state"], done["result"]) == ("completed", "tags.xml")
    assert (await operator.get("/dead"))["items"] == []


async def test_an_operator_works_on_jobs_schedules_and_counts(guarded):
    operator = Person(guarded, await guarded.token("superadmin"))
    later = {"definition": "sitemap", "payload": {"section": "pages"}, "delay_seconds": 3600}
    job = (await operator.post("/jobs", later))["job"]

    assert [
        each["id"] for each in (await operator.get("/jobs?state=scheduled&limit=10"))["items"]
    ] == [job["id"]]
    why = await operator.get(f"/jobs/{job['id']}/explain")
    assert why["code"] == "due_later"
    await operator.post(f"/jobs/{job['id']}/cancel", {"reason": "not needed"})
    back = await operator.post(f"/jobs/{job['id']}/retry")
    assert back["state"] == "queued"

    created = await operator.post("/schedules", {
        "name": "hourly-sitemap",
        "type": "interval",
        "interval_seconds": 3600,
        "definition": "sitemap",
        "payload": {"section": "pages"},
    })  # fmt: skip
    assert (await operator.post(f"/schedules/{created['id']}/disable"))["enabled"] is False
    assert (await operator.post(f"/schedules/{created['id']}/enable"))["enabled"] is True
    [listed] = (await operator.get("/schedules"))["items"]
    assert listed["name"] == "hourly-sitemap"

    counts = await operator.get("/jobs/summary")
    assert (counts["queued"], counts["running"], counts["dead_letter"]) == (1, 0, 0)
    assert counts["oldest_queued_seconds"] is not None

    # A field name of another API is refused with the right one as a suggestion.
    refused = await operator.get("/jobs?status=failed", status=422)
    assert "did you mean state?" in refused["errors"][0]["message"]


async def test_an_administrator_changes_how_jobs_run_without_a_deployment(guarded):
    admin = Person(guarded, await guarded.token("superadmin"))

    listed = {each["key"]: each for each in (await admin.get("/definitions"))["items"]}
    assert listed["sitemap"]["strategy"] == "on_demand"
    changed = await admin.patch("/definitions/sitemap", {"max_concurrency": 2, "retention_days": 7})
    assert set(changed["edited"]) >= {"max_concurrency", "retention_days"}

    await admin.post("/definitions/sitemap/disable")
    body = {"definition": "sitemap", "payload": {"section": "pages"}}
    refused = await admin.post("/jobs", body, status=409)
    assert refused["hint"] == "Enable it: `POST /api/v1/definitions/sitemap/enable`."
    await admin.post("/definitions/sitemap/enable")

    job = (await admin.post("/jobs", body))["job"]
    async with guarded.wl.running():
        await admin.get(f"/jobs/{job['id']}/wait?timeout=60")
    steps = (await admin.get(f"/jobs/{job['id']}/history"))["items"]
    assert [each["to_state"] for each in steps] == ["queued", "running", "completed"]
    entries = (await admin.get("/audit"))["items"]
    assert {"definitions.write"} <= {each["action"] for each in entries}


async def test_a_definition_with_a_permission_is_enqueued_only_with_it(guarded):
    ada = Person(guarded, await guarded.token("user", "acme", permissions=["reports.run"]))
    bob = Person(guarded, await guarded.token("user", "acme"))
    body = {"definition": "report", "payload": {"month": "2026-03"}}

    refused = await bob.post("/jobs", body, status=403)
    assert "reports.run" in refused["detail"]

    job = (await ada.post("/jobs", body))["job"]
    assert (job["tenant_id"], job["priority"]) == ("acme", 50)
    await bob.get(f"/jobs/{job['id']}", status=404)  # another's job is like none
    assert (await bob.get("/jobs"))["items"] == []

    async with guarded.wl.running():
        done = await ada.get(f"/jobs/{job['id']}/wait?timeout=60")
    assert (done["state"], done["result"]) == ("completed", "report of 2026-03")
