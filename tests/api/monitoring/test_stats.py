"""Counts and rates: `/jobs/summary`, `/stats`, `/stats/tenants`, and the workers."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.wait import until
from windlass import JobFailed, Permanent
from windlass.core.jobs.models import Scope


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


async def test_stats_include_latencies_in_total_and_per_slot(api, busy):
    stats = (await api.get("/stats")).json()
    mail = (await api.get("/stats", params={"queue": "mail", "definition": "breaks"})).json()

    assert stats["p95_wait_seconds"] >= stats["total"]["p50_wait_seconds"] >= 0
    assert stats["p95_run_seconds"] == stats["total"]["p95_run_seconds"] >= 0
    known = [point for point in stats["points"] if point["p99_wait_seconds"] is not None]
    assert sum(point["started"] for point in known) == 2
    assert stats["points"][0]["p50_run_seconds"] is None
    assert mail["total"]["p95_wait_seconds"] is None


async def test_latencies_of_a_tenant_are_its_own(api, wl, busy):
    before = (await api.get("/stats", params={"tenant": "acme"})).json()
    async with wl.running():
        await until(lambda: _completed(wl, "acme"), waiting_for="the job of acme")
    acme = (await api.get("/stats", params={"tenant": "acme"})).json()

    assert before["total"]["p95_wait_seconds"] is None
    assert acme["total"]["p95_wait_seconds"] > 0
    assert acme["total"]["p50_run_seconds"] >= 0


async def _completed(wl, tenant):
    engine = await wl.ready()
    return (await engine.summaries.summary(Scope.of(tenant))).states["completed"] == 1


async def test_stats_by_definition_have_rates_and_latencies(api, busy):
    first = (await api.get("/stats/definitions", params={"limit": 1})).json()
    rest = (
        await api.get("/stats/definitions", params={"limit": 1, "cursor": first["next_cursor"]})
    ).json()
    named = (await api.get("/stats/definitions", params={"definition": ["works", "none"]})).json()
    acme = (await api.get("/stats/definitions", params={"tenant": "acme"})).json()

    [breaks], [works] = first["items"], rest["items"]
    assert (breaks["definition"], breaks["failed"], breaks["success_rate"]) == ("breaks", 1, 0)
    assert (works["definition"], works["succeeded"], works["success_rate"]) == ("works", 1, 1)
    assert works["p95_wait_seconds"] >= 0
    assert rest["next_cursor"] is None
    assert named["items"] == [works]
    [own] = acme["items"]
    assert (own["enqueued"], own["success_rate"], own["p50_run_seconds"]) == (1, None, None)


async def test_queues_have_depth_and_rates_over_time(api, busy):
    await api.post("/worker/beat", json={**ME, "worker": "far", "queues": ["mail"]})

    queues = (await api.get("/stats/queues", params={"window": "5m"})).json()["items"]
    acme = (await api.get("/stats/queues", params={"tenant": "acme"})).json()["items"]

    mail = next(each for each in queues if each["name"] == "mail")
    assert (mail["pending"], mail["queued"], mail["depth"], mail["workers"]) == (1, 3, 4, 1)
    assert (len(mail["points"]), mail["points"][-1]["depth"]) == (5, 4)
    assert mail["points"][0]["depth"] == 0
    assert mail["in_per_second"] > mail["out_per_second"] > 0
    assert mail["oldest_queued_seconds"] >= 0
    bulk = next(each for each in queues if each["name"] == "bulk")
    assert (bulk["depth"], bulk["workers"], bulk["oldest_queued_seconds"]) == (0, 0, None)
    [own] = [each for each in acme if each["depth"]]
    assert (own["name"], own["depth"], own["workers"]) == ("mail", 1, None)


async def test_a_worker_without_queues_serves_all_of_them(api, busy):
    await api.post("/worker/beat", json={**ME, "worker": "near", "queues": []})

    queues = (await api.get("/stats/queues", params={"window": "5m"})).json()["items"]

    assert {
        each["name"]: each["workers"] for each in queues if each["name"] in ("mail", "bulk")
    } == {
        "mail": 1,
        "bulk": 1,
    }


async def test_the_use_of_workers_is_returned_over_time(api, wl):
    empty = (await api.get("/stats/workers", params={"window": "5m"})).json()
    await api.post("/worker/beat", json={**ME, "worker": "far", "slots": 4, "slots_used": 3})
    await (await wl.ready()).rollups.tick()
    noted = (await api.get("/stats/workers", params={"window": "5m"})).json()

    assert [point["slots"] for point in empty["points"]] == [None] * 5
    [point] = [point for point in noted["points"] if point["slots"] is not None]
    assert (point["workers"], point["slots"], point["slots_used"]) == (1, 4, 3)


async def test_tenants_have_a_series_of_worker_seconds(api, busy):
    shares = (await api.get("/stats/tenants/series", params={"window": "5m"})).json()
    acme = (await api.get("/stats/tenants/series", params={"tenant": "acme"})).json()

    top = {each["tenant_id"]: each for each in shares["tenants"]}
    assert set(top) <= {"default"}  # an attempt may take less than a millisecond
    assert len(shares["rest"]["points"]) == 5
    assert shares["rest"]["worker_seconds"] == 0
    assert (acme["tenants"], acme["rest"]["worker_seconds"]) == ([], 0)


async def test_stats_by_tenant_cover_each_tenant(api, busy):
    first = (await api.get("/stats/tenants", params={"limit": 1})).json()
    rest = (
        await api.get("/stats/tenants", params={"limit": 2, "cursor": first["next_cursor"]})
    ).json()

    [acme] = first["items"]
    assert (acme["tenant_id"], acme["queued"], acme["total"]["enqueued"]) == ("acme", 1, 1)
    default = next(each for each in rest["items"] if each["tenant_id"] == "default")
    assert (default["completed"], default["total"]["completed"]) == (1, 1)
    assert default["total"]["p95_wait_seconds"] >= 0
    assert default["worker_seconds"] == default["total"]["run_ms"] / 1000
    assert (acme["weight"], acme["share"], acme["noisy"]) == (1, None, False)
    assert acme["oldest_queued_seconds"] >= 0
    bound = (await api.get("/stats/tenants", params={"tenant": "acme"})).json()["items"]
    assert [(each["tenant_id"], each["noisy"]) for each in bound] == [("acme", None)]


async def test_an_invalid_window_is_refused(api, wl):
    paths = ("", "/tenants", "/tenants/series", "/definitions", "/queues", "/workers")
    for path in (f"/stats{each}" for each in paths):
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
