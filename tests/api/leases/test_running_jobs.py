"""`/workers`: the jobs that each worker runs, its memory and the version of its code."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.api.authenticated_api import guarding
from windlass import JobContext
from windlass.core.access.roles import ROLES, Reach, Right, freeze_roles

FAR = {"worker": "far:1:8c1f42d7", "hostname": "far", "pid": 1, "version": "1", "slots": 2}


@asynccontextmanager
async def running(wl, *tenants: str) -> AsyncIterator[list[str]]:
    """Jobs of these tenants that run until the end; their ids."""
    begun, done = asyncio.Semaphore(0), asyncio.Event()

    @wl.job
    async def slow(ctx: JobContext) -> None:
        ctx.progress(0.5, "half of password=hunter2")
        begun.release()
        await done.wait()

    async with wl.running(concurrency=len(tenants)):
        receipts = [await slow.options(tenant=tenant).enqueue() for tenant in tenants]
        for _ in tenants:
            await begun.acquire()
        try:
            yield [str(receipt.job_id) for receipt in receipts]
        finally:
            done.set()


async def test_a_worker_lists_the_jobs_it_runs(api, wl):
    async with running(wl, "default") as [id]:
        [worker] = (await api.get("/workers")).json()["items"]
        one = (await api.get(f"/workers/{worker['id']}")).json()

    [job] = worker["jobs"]
    assert (job["id"], job["definition"], job["tenant_id"]) == (id, "slow", "default")
    assert job["attempt"] == 1
    assert job["elapsed_seconds"] >= 0
    assert job.keys() == {
        "id", "tenant_id", "definition", "attempt", "started_at", "elapsed_seconds", "progress",
        "progress_note",
    }  # fmt: skip
    assert "hunter2" not in str(worker)
    assert [each["id"] for each in one["jobs"]] == [id]
    assert worker["memory_mb"] > 1
    assert len(worker["code"]) == 12


async def test_a_caller_sees_running_jobs_of_its_tenant_only(wl):
    table = {role: dict(row) for role, row in ROLES.items()}
    table["tenant_admin"][Right.WORKERS_READ] = Reach.TENANT
    wl.roles = freeze_roles(table)
    async with guarding(wl) as guarded, running(wl, "default", "acme") as [_, of_acme]:
        admin = await guarded.token("tenant_admin", tenant="acme")
        root = await guarded.token("superadmin")
        [seen] = (await guarded.client.get("/api/v1/workers", headers=admin)).json()["items"]
        [all_seen] = (await guarded.client.get("/api/v1/workers", headers=root)).json()["items"]

    assert [job["id"] for job in seen["jobs"]] == [of_acme]
    assert len(all_seen["jobs"]) == 2


async def test_a_remote_worker_sends_its_memory_and_code(api):
    await api.post("/worker/beat", json={**FAR, "memory_mb": 96, "code": "v7"})

    [worker] = (await api.get("/workers")).json()["items"]
    refused = await api.post("/worker/beat", json={**FAR, "memory_mb": -1})

    assert (worker["memory_mb"], worker["code"], worker["jobs"]) == (96, "v7", [])
    assert refused.status_code == 422
