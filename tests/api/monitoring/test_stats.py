"""Counts and rates: `/jobs/summary`, `/stats`, `/stats/tenants`, and the workers."""

from datetime import UTC, datetime, timedelta

import pytest

from windlass import JobFailed, Permanent


@pytest.fixture
async def busy(wl):
    """One job completed, one failed, one in line, one for later, one on hold, one of acme."""

    @wl.job("works", queue="mail")
    def works() -> None: ...

    @wl.job("breaks", queue="bulk")
    def breaks() -> None:
        raise Permanent("no")

    await wl.ready()
    await wl.tenants.create("acme")
    async with wl.running():
        await wl.jobs.wait((await works.enqueue()).job_id)
        with pytest.raises(JobFailed):
            await wl.jobs.wait((await breaks.enqueue()).job_id)
    await works.enqueue()
    await works.options(delay="1h").enqueue()
    await works.options(hold=True).enqueue()
    await works.options(tenant="acme").enqueue()


async def test_a_summary_counts_by_state_and_by_view(api, busy):
    summary = (await api.get("/jobs/summary")).json()

    states = ("pending", "queued", "running", "completed", "canceled", "dead_letter")
    assert [summary[state] for state in states] == [1, 3, 0, 1, 0, 1]
    assert {name: view["count"] for name, view in summary["views"].items()} == {
        "scheduled": 1,
        "waiting": 1,
        "queued": 2,
        "retrying": 0,
        "running": 0,
        "completed": 1,
        "canceled": 0,
        "dead_letter": 1,
    }
    assert all(view["exact"] for view in summary["views"].values())
    assert summary["oldest_queued_seconds"] >= 0
    assert {queue["name"]: queue["queued"] for queue in summary["queues"]} == {"bulk": 0, "mail": 3}


async def test_a_summary_of_nothing_has_no_oldest(api, wl):
    summary = (await api.get("/jobs/summary")).json()

    assert (summary["running"], summary["oldest_queued_seconds"]) == (0, None)


async def test_stats_are_returned_per_slot(api, busy):
    stats = (await api.get("/stats", params={"window": "24h"})).json()
    mail = (await api.get("/stats", params={"queue": "mail", "window": "5m"})).json()

    assert (stats["slot_seconds"], len(stats["points"])) == (900, 96)
    assert (stats["total"]["enqueued"], stats["total"]["completed"]) == (6, 1)
    assert sum(point["dead_letter"] for point in stats["points"]) == 1
    assert stats["failing"] == [
        {"definition": "breaks", "failed": 1, "dead_letter": 1, "succeeded": 0}
    ]
    assert stats["total"]["mean_run_seconds"] >= 0
    assert stats["per_second"]["enqueued"] > 0
    assert (mail["total"]["enqueued"], mail["failing"]) == (5, [])


async def test_stats_include_latencies_for_callers_who_see_all(api, busy):
    stats = (await api.get("/stats")).json()
    mail = (await api.get("/stats", params={"queue": "mail", "definition": "breaks"})).json()
    acme = (await api.get("/stats", params={"tenant": "acme"})).json()

    assert stats["p95_wait_seconds"] >= 0
    assert stats["p95_run_seconds"] >= 0
    assert mail["p95_wait_seconds"] is None
    assert acme["p95_wait_seconds"] is None


async def test_stats_by_tenant_cover_each_tenant(api, busy):
    first = (await api.get("/stats/tenants", params={"limit": 1})).json()
    rest = (
        await api.get("/stats/tenants", params={"limit": 2, "cursor": first["next_cursor"]})
    ).json()

    [acme] = first["items"]
    assert (acme["tenant_id"], acme["queued"], acme["total"]["enqueued"]) == ("acme", 1, 1)
    default = next(each for each in rest["items"] if each["tenant_id"] == "default")
    assert (default["completed"], default["total"]["completed"]) == (1, 1)


async def test_an_invalid_window_is_refused(api, wl):
    for path in ("/stats", "/stats/tenants"):
        refused = await api.get(path, params={"window": "3w"})

        assert refused.status_code == 422


async def test_a_worker_with_an_old_heartbeat_is_stale(api, wl):
    engine = await wl.ready()
    for name, age in (("quick", 1), ("slow", 25), ("dead", 40)):
        await api.post("/worker/beat", json={**ME, "worker": name})
        seen = datetime.now(UTC) - timedelta(seconds=age)
        await engine.storage.database.query(
            "update windlass_workers set last_seen_at = :seen where id = :id",
            {"seen": seen, "id": name},
        )

    found = {each["id"]: each for each in (await api.get("/workers")).json()["items"]}

    assert {id: each["liveness"] for id, each in found.items()} == {
        "quick": "live",
        "slow": "stale",
        "dead": "lost",
    }
    assert [found[id]["stale"] for id in ("quick", "slow", "dead")] == [False, True, True]
    assert found["dead"]["age_seconds"] >= 40


ME = {
    "hostname": "far",
    "pid": 7,
    "version": "1",
    "slots": 1,
    "lease_seconds": 30,
}
