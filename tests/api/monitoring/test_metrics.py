"""/metrics: the metrics for Prometheus."""

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from windlass import JobFailed, Permanent
from windlass.api.access.callers import Caller
from windlass.api.app import create_api
from windlass.core.jobs.models import Scope
from windlass.engine.monitoring import metrics
from windlass.engine.monitoring.metrics import METRICS


@pytest.fixture
def root(api):
    """Requests by path from the root."""
    api.base_url = "http://localhost"
    return api


async def _read(root):
    response = await root.get("/metrics")
    assert response.status_code == 200
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


async def _worked(wl, count=3):
    @wl.job("works", queue="mail")
    def works() -> None: ...

    @wl.job("breaks", queue="mail")
    def breaks() -> None:
        raise Permanent("no")

    for _ in range(count):
        await works.enqueue()
    broken = await breaks.enqueue()
    async with wl.running():
        await wl.jobs.wait((await works.enqueue()).job_id)
        with pytest.raises(JobFailed):
            await wl.jobs.wait(broken.job_id)


async def test_every_metric_is_present_before_anything_happened(root, wl):
    response = await root.get("/metrics")

    families = {family.name for family in text_string_to_metric_families(response.text)}
    assert {metric.name for metric in METRICS} <= families
    assert "text/plain" in response.headers["content-type"]


async def test_job_metrics_are_by_queue_and_definition(root, wl):
    await _worked(wl)

    read = await _read(root)

    assert read["windlass_jobs_enqueued_total", "mail", "works"] == 4
    assert read["windlass_attempts_succeeded_total", "mail", "works"] == 4
    assert read["windlass_jobs_dead_lettered_total", "breaks", "mail"] == 1
    assert read["windlass_jobs", "completed", "default"] == 4
    assert read["windlass_queue_jobs", "dead_letter", "mail"] == 1
    assert read["windlass_definition_jobs", "completed", "works"] == 4
    assert read["windlass_run_seconds_count", "mail", "works"] == 4
    assert read["windlass_queue_seconds_bucket", "+Inf", "mail", "works"] == 4


async def test_frequent_scrapes_query_the_database_once(root, wl):
    wl.job("works")(lambda: None)
    await _read(root)
    await wl.enqueue("works")

    again = await _read(root)

    assert ("windlass_jobs_enqueued_total", "default", "works") not in again


async def test_names_beyond_the_cap_are_summed_and_counters_never_fall(root, wl, monkeypatch):
    monkeypatch.setattr(metrics, "MOST_NAMES", 1)
    monkeypatch.setattr(metrics, "FRESH_SECONDS", 0.0)
    for key in ["one", "two", "three"]:
        wl.job(key)(lambda: None)
    await wl.enqueue("one")
    await _read(root)

    for key in ["two", "two", "three"]:
        await wl.enqueue(key)
    read = await _read(root)

    assert read["windlass_jobs_enqueued_total", "default", "one"] == 1
    assert read["windlass_jobs_enqueued_total", "other", "other"] == 3


async def test_metrics_show_a_paused_queue_a_waiting_job_and_missing_workers(root, wl):
    wl.job("waits")(lambda: None)
    await wl.enqueue("waits")
    await wl.queues.pause("default")

    read = await _read(root)

    assert read["windlass_queue_paused", "default"] == 1
    assert read["windlass_oldest_queued_seconds", "default"] >= 0
    assert read["windlass_workers", "live"] == 0
    assert read["windlass_schedules_late",] == 0


async def test_a_tenant_credential_cannot_read_global_metrics(wl):
    async def authenticate(request):
        return Caller("ada", Scope.of("acme"))

    transport = httpx2.ASGITransport(create_api(wl, authenticate=authenticate))
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        response = await client.get("/metrics")

    assert response.status_code == 403


async def test_percentiles_cover_recent_work(wl):
    await _worked(wl)

    lately = await (await wl.ready()).latency.histograms()

    assert (lately.run.count, lately.wait.count) == (5, 5)
    assert lately.percentiles.p95_run_seconds is not None
