"""Operators' orders to workers over HTTP, and their audit entries."""

from dataclasses import replace

import pytest

from tests.api.authenticated_api import guarding
from windlass.core.jobs.models import WorkerRow
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.ids import WorkerId

FAR = {"worker": "far:1:8c1f42d7", "hostname": "far", "pid": 1, "version": "1", "slots": 2}
WORKER = WorkerRow(
    id=WorkerId("web-2:411:8c1f42d7"),
    hostname="web-2",
    pid=411,
    version="1",
    queues=(),
    definitions=(),
    slots=2,
)


@pytest.fixture
async def worker(wl):
    """A live worker's row."""
    await (await wl.ready()).workers.beat(WORKER)
    return WORKER.id


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


@pytest.mark.parametrize(("verb", "wanted"), [("drain", "drain"), ("resume", "run")])
async def test_an_order_returns_the_worker(api, worker, verb, wanted):
    response = await api.post(f"/workers/8c1f42d7/{verb}")

    assert response.status_code == 200
    assert (response.json()["id"], response.json()["liveness"]) == (worker, "live")
    assert (response.json()["wanted"], response.json()["doing"]) == (wanted, "run")
    assert (await api.get(f"/workers/{worker}")).json()["wanted"] == wanted


async def test_a_remote_worker_gets_orders_with_its_heartbeat(api):
    before = await api.post("/worker/beat", json=FAR)
    await api.post("/workers/8c1f42d7/drain")
    drained = await api.post("/worker/beat", json=FAR)
    await api.post("/worker/beat", json={**FAR, "doing": "drain"})
    seen = await api.get("/workers/8c1f42d7")
    await api.post("/workers/8c1f42d7/stop")
    stopped = await api.post("/worker/beat", json=FAR)

    orders = [response.json()["wanted"] for response in (before, drained, stopped)]
    assert orders == ["run", "drain", "stop"]
    assert seen.json()["doing"] == "drain"


async def test_an_order_to_a_stopping_worker_conflicts_and_to_an_unknown_one_is_not_found(
    api, wl, worker
):
    await api.post(f"/workers/{worker}/stop")

    refused = await api.post(f"/workers/{worker}/resume")
    unknown = await api.post("/workers/web-9:1/stop")

    assert (refused.status_code, refused.json()["code"]) == (409, "WL3603")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "WL3601")


async def test_a_remote_worker_is_found_by_its_full_id(guarded):
    worker_token, admin = await guarded.token("worker"), await guarded.token("superadmin")
    await guarded.client.post("/api/v1/worker/beat", json=FAR, headers=worker_token)
    [row] = (await guarded.client.get("/api/v1/workers", headers=admin)).json()["items"]
    at = f"/api/v1/workers/{row['id'].replace('/', '%2F')}"

    shown = await guarded.client.get(at, headers=admin)
    drained = await guarded.client.post(f"{at}/drain", headers=admin)

    assert "/" in row["id"]
    assert (shown.status_code, drained.status_code) == (200, 200)
    assert drained.json()["wanted"] == "drain"


async def test_an_order_is_audited_with_before_and_after(guarded, wl, worker):
    admin = await guarded.token("superadmin")
    await (await wl.ready()).workers.beat(replace(WORKER, doing=WorkerOrder.RUN))

    response = await guarded.client.post(f"/api/v1/workers/{worker}/drain", headers=admin)
    [entry, *_] = (await guarded.client.get("/api/v1/audit", headers=admin)).json()["items"]

    assert (entry["action"], entry["target_id"]) == ("workers.write", worker)
    assert entry["before"] == {"wanted": "run", "wanted_by": None, "wanted_at": None}
    assert entry["after"].keys() == entry["before"].keys()
    assert entry["after"]["wanted"] == "drain"
    assert entry["after"]["wanted_at"] == response.json()["wanted_at"]


@pytest.mark.parametrize("role", ["tenant_admin", "user"])
@pytest.mark.parametrize("verb", ["drain", "resume", "stop"])
async def test_a_tenant_role_cannot_order_workers(guarded, worker, role, verb):
    headers = await guarded.token(role, "acme")

    refused = await guarded.client.post(f"/api/v1/workers/{worker}/{verb}", headers=headers)

    assert refused.status_code == 403
    assert [row.wanted for row in await guarded.wl.workers.list()] == [WorkerOrder.RUN]
