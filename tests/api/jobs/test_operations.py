"""`/operations`: bulk actions are started and followed over HTTP."""

import httpx2
import pytest

from tests.support.wait import until
from windlass import Permanent
from windlass.api.access.callers import Caller
from windlass.api.app import create_api
from windlass.core.jobs.models import Scope
from windlass.upkeep import bulk_operations
from windlass.upkeep.bulk_operations import OperationRunner

QUEUED = {"action": "cancel", "q": "state:queued", "reason": "wrong list"}


@pytest.fixture
async def hello(wl):
    @wl.job(max_attempts=1)
    def hello(name: str) -> str:
        raise Permanent("there is nobody")

    await wl.ready()
    return hello


async def enqueued(hello, count):
    return [str((await hello.enqueue(name="Ada")).job_id) for _ in range(count)]


async def worked(wl):
    return await OperationRunner(await wl.ready()).tick()


async def completed(api, id):
    return (await api.get(f"/operations/{id}")).json()["state"] == "completed"


async def test_a_preview_counts_and_changes_nothing(api, hello):
    ids = await enqueued(hello, 5)
    await api.post(f"/jobs/{ids[0]}/cancel")

    preview = await api.post(
        "/operations/preview", json={"action": "cancel", "q": "definition:hello"}
    )

    body = preview.json()
    assert (preview.status_code, body["total"], body["more"]) == (200, 5, False)
    assert body["by_state"] == {"queued": 4, "canceled": 1}
    [skipped] = body["skipped"]
    assert (skipped["count"], "it is canceled" in skipped["reason"]) == (1, True)
    assert [job["id"] for job in body["sample"]] == ids[:1:-1]
    assert (await api.get("/operations")).json() == {"items": [], "next_cursor": None}


async def test_an_operation_is_started_followed_and_undone(api, wl, hello):
    ids = await enqueued(hello, 3)

    begun = await api.post("/operations", json=QUEUED)
    await worked(wl)
    done = (await api.get(f"/operations/{begun.json()['id']}")).json()
    undoing = await api.post(f"/operations/{done['id']}/undo")
    await worked(wl)

    assert begun.status_code == 201
    assert (begun.json()["state"], begun.json()["left"], begun.json()["total"]) == ("running", 3, 3)
    assert (done["state"], done["done"], done["left"]) == ("completed", 3, 0)
    assert (done["query"], done["reason"]) == ("state:queued", "wrong list")
    assert "token" not in done
    assert (undoing.status_code, undoing.json()["undo_of"]) == (201, done["id"])
    states = [(await api.get(f"/jobs/{id}")).json()["state"] for id in ids]
    assert states == ["queued"] * 3


async def test_the_results_of_an_operation_are_paged(api, wl, hello):
    ids = await enqueued(hello, 3)
    begun = (await api.post("/operations", json={**QUEUED, "q": "definition:hello"})).json()
    await api.post(f"/jobs/{ids[0]}/cancel")
    await worked(wl)

    items = f"/operations/{begun['id']}/items"
    failed = (await api.get(items)).json()
    [skipped] = (await api.get(items, params={"state": "skipped"})).json()["items"]
    first = (await api.get(items, params={"state": "done", "limit": 1})).json()
    rest = (
        await api.get(items, params={"state": "done", "limit": 1, "cursor": first["next_cursor"]})
    ).json()
    wrong = await api.get(items, params={"state": "lost"})

    assert failed == {"items": [], "next_cursor": None}
    assert (skipped["job_id"], "it is canceled" in skipped["note"]) == (ids[0], True)
    assert [item["job_id"] for item in first["items"] + rest["items"]] == ids[1:]
    assert rest["next_cursor"] is None
    assert wrong.status_code == 422


async def test_operations_are_listed_newest_first_by_cursor(api, hello):
    await enqueued(hello, 1)
    begun = [(await api.post("/operations", json=QUEUED)).json()["id"] for _ in range(3)]

    first = (await api.get("/operations", params={"limit": 2})).json()
    rest = (
        await api.get("/operations", params={"cursor": first["next_cursor"], "limit": 2})
    ).json()

    assert [each["id"] for each in first["items"] + rest["items"]] == begun[::-1]


async def test_a_stopped_operation_leaves_the_remaining_jobs_unchanged(api, wl, hello):
    ids = await enqueued(hello, 2)
    begun = (await api.post("/operations", json=QUEUED)).json()

    stopped = await api.post(f"/operations/{begun['id']}/stop")
    await worked(wl)
    after = (await api.get(f"/operations/{begun['id']}")).json()
    again = await api.post(f"/operations/{begun['id']}/undo")

    assert stopped.json()["stop_requested_at"] is not None
    assert (after["state"], after["left"]) == ("stopped", 2)
    assert (await api.get(f"/jobs/{ids[0]}")).json()["state"] == "queued"
    assert (again.status_code, again.json()["code"]) == (409, "WL5303")


async def test_a_finished_operation_cannot_be_stopped(api, wl, hello):
    await enqueued(hello, 1)
    begun = (await api.post("/operations", json=QUEUED)).json()
    await worked(wl)

    refused = await api.post(f"/operations/{begun['id']}/stop")

    assert (refused.status_code, refused.json()["code"]) == (409, "WL5303")


@pytest.mark.parametrize(
    "body",
    [
        {"action": "delete", "q": "state:queued"},
        {"action": "cancel"},
        {"action": "cancel", "q": ""},
        {"action": "cancel", "q": "   "},
        {"action": "cancel", "q": "colour:red"},
        {"action": "cancel", "q": "state:queued", "limit": 3},
    ],
)
async def test_invalid_or_unfiltered_operations_are_refused(api, hello, body):
    await enqueued(hello, 1)

    preview = await api.post("/operations/preview", json=body)
    begun = await api.post("/operations", json=body)

    assert (preview.status_code, begun.status_code) == (422, 422)
    assert (await api.get("/operations")).json()["items"] == []


async def test_upkeep_in_the_same_process_starts_the_operation_at_once(api, wl, hello, monkeypatch):
    monkeypatch.setattr(bulk_operations, "_LOOK_SECONDS", 86_400.0)

    async with wl.upkeep(scheduling=False):
        for _ in range(2):  # the second is begun after the loop has gone to sleep
            await enqueued(hello, 1)
            begun = (await api.post("/operations", json=QUEUED)).json()
            await until(lambda: completed(api, begun["id"]), waiting_for="the operation's end")  # noqa: B023

    assert [each["done"] for each in (await api.get("/operations")).json()["items"]] == [1, 1]


async def test_an_embedded_caller_is_limited_to_its_rights(wl, hello):
    rights = frozenset({"operations.read", "operations.write", "jobs.cancel"})

    async def authenticate(request):
        return Caller("ada", Scope.of("default"), rights)

    await enqueued(hello, 1)
    transport = httpx2.ASGITransport(create_api(wl, authenticate=authenticate))
    async with httpx2.AsyncClient(transport=transport, base_url="http://api/api/v1") as client:
        refused = await client.post("/operations", json={**QUEUED, "action": "discard"})
        begun = await client.post("/operations", json=QUEUED)

    assert (refused.status_code, refused.json()["code"]) == (403, "WL5102")
    assert (begun.status_code, begun.json()["actor_name"]) == (201, "ada")
