"""Windlass's system jobs: hidden, scheduled, audited, and separate from the program's own."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.conformance.leases.test_workers import WORKER
from tests.databases.connect import execute
from windlass import JobContext, Settings, Windlass
from windlass.engine.monitoring.retention import Retention
from windlass.errors import DefinitionInvalid, JobNotFound
from windlass.ids import new_job_id
from windlass.testing import TestWindlass

KEYS = ["system.forget_workers", "system.prune_jobs", "system.prune_logs", "system.recount"]
#: So short that what has ended is past it.
A_MOMENT = 1e-9


async def ran(wl, key):
    """The job of a system definition, run now and ended well."""
    receipt = await wl.schedules.run(key)
    await wl.jobs.wait(receipt.job_id, "30s")
    return await wl.jobs.get(receipt.job_id)


async def completed(wl, *jobs):
    for receipt in await wl.enqueue_many(jobs):
        await wl.jobs.wait(receipt.job_id, "30s")


async def keys_left(wl):
    return sorted(job.definition for job in (await wl.jobs.of("default").list(limit=500)).jobs)


async def test_system_jobs_are_declared_and_scheduled_when_a_worker_runs(wl):
    await wl.ready()
    before = await wl.definitions.list(system=True), await wl.triggers.list(system=True)

    async with wl.running():
        definitions = await wl.definitions.list(system=True)
        schedules = {row.definition: row for row in await wl.schedules.list(system=True)}

    assert before == ([], []), "to look changes nothing"
    assert [each.key for each in definitions] == KEYS
    assert {each.queue for each in definitions} == {"system"}
    assert {each.max_concurrency for each in definitions} == {1}
    assert sorted(schedules) == KEYS
    assert {row.tenant for row in schedules.values()} == {"system"}
    for key in ("system.prune_jobs", "system.prune_logs"):
        assert (schedules[key].cron, schedules[key].timezone) == ("0 2 * * *", "UTC")


async def test_system_jobs_are_hidden_by_default(wl):
    wl.job("hello")(lambda: None)

    async with wl.running():
        assert [each.key for each in await wl.definitions.list()] == ["hello"]
        assert await wl.triggers.list() == []
        assert await wl.schedules.list() == []
        assert len(await wl.triggers.list(system=True)) == len(KEYS)
    assert list(wl.handlers) == ["hello"]


async def test_jobs_are_pruned_by_days_and_count_with_a_record(wl):
    old = wl.job("old", retention_days=A_MOMENT)(lambda: None)
    newest = wl.job("newest", retention_count=2)(lambda: None)
    kept = wl.job("kept")(lambda: None)
    async with wl.running():
        await completed(wl, *[job.make() for job in (old, newest, kept) for _ in range(3)])
        waiting = await old.options(delay="1h").enqueue()

        job = await ran(wl, "system.prune_jobs")
        lines = await wl.jobs.logs(job.id)

    assert await keys_left(wl) == ["kept", "kept", "kept", "newest", "newest", "old"]
    assert not (await wl.jobs.get(waiting.job_id)).ended
    assert (job.tenant, job.state, job.result) == ("system", "completed", {"jobs": 4, "events": 0})
    assert (job.progress, job.progress_note) == (1.0, "pruned 4 jobs and 0 events")
    assert [line.message for line in lines] == ["pruned 1 job of newest", "pruned 3 jobs of old"]
    assert [attempt.outcome for attempt in await wl.jobs.attempts(job.id)] == ["succeeded"]


async def test_without_retention_failed_jobs_are_kept(wl):
    @wl.job(retention_days=0, max_attempts=1)
    def fails():
        raise RuntimeError("no")

    async with wl.running():
        failing = await fails.enqueue()
        canceled = await fails.options(delay="1h").enqueue()
        await wl.jobs.cancel(canceled.job_id)
        with pytest.raises(Exception, match="no"):
            await wl.jobs.wait(failing.job_id, "30s")

        await ran(wl, "system.prune_jobs")  # unless upkeep was there before it

    assert (await wl.jobs.get(failing.job_id)).state == "dead_letter"
    with pytest.raises(JobNotFound):
        await wl.jobs.get(canceled.job_id)


async def test_events_are_pruned_by_the_retention_of_jobs(database):
    settings = Settings.load({"retention_days": A_MOMENT})
    async with Windlass(database.url, settings=settings) as wl:
        await wl.emit("folder.changed")
        async with wl.running():
            job = await ran(wl, "system.prune_jobs")

        assert job.result == {"jobs": 0, "events": 1}
        assert await wl.events.list() == []


async def test_logs_are_pruned_by_days_and_with_their_job(wl, database):
    @wl.job(log_retention_days=A_MOMENT)
    async def talks(ctx: JobContext):
        ctx.log.info("a line")

    @wl.job
    async def talks_too(ctx: JobContext):
        ctx.log.info("a line")

    async with wl.running():
        orphan, *others = [talks_too.make(), talks_too.make(), talks.make()]
        await completed(wl, orphan, *others)
        await wl.engine.storage.database.query(
            "update windlass_logs set job_id = :gone where job_id = :id",
            {"gone": new_job_id(), "id": orphan.id},
        )

        job = await ran(wl, "system.prune_logs")

    assert job.result == {"lines": 1, "orphans": 1}
    left = execute(database.url, "select definition from windlass_logs order by definition")
    assert left == [("system.prune_logs",), ("talks_too",)]


async def test_wrong_counts_are_corrected_and_reported(wl, database):
    hello = wl.job("hello")(lambda: None)
    async with wl.running():
        await completed(wl, *[hello.make() for _ in range(3)])
        storage = wl.engine.storage
        while await storage.monitoring.roll_up_counts():
            pass
        execute(
            database.url,
            "update windlass_counts set completed = 5 where definition = 'hello'",
        )

        job = await ran(wl, "system.recount")
        lines = await wl.jobs.logs(job.id)
        again = await ran(wl, "system.recount")

    assert (job.result, job.warnings) == ({"corrected": 1}, ("1 count corrected",))
    assert [line.message for line in lines] == [
        "hello in queue default of tenant default, completed: 5 kept, 3 counted"
    ]
    assert again.result == {"corrected": 0}


async def test_workers_not_seen_for_a_day_are_deleted(wl):
    async with wl.running():
        await wl.engine.storage.leases.worker_heartbeat(replace(WORKER, id="lost"))
        await long_ago(wl, "lost")

        job = await ran(wl, "system.forget_workers")

        assert job.result == {"workers": 1}
        assert "lost" not in {worker.id for worker in await wl.workers.list()}


async def long_ago(wl, worker):
    """Make a worker unseen for two days."""
    then = await wl.engine.now() - timedelta(days=2)
    await wl.engine.storage.database.query(
        "update windlass_workers set last_seen_at = :then where id = :id",
        {"then": then, "id": worker},
    )


async def test_a_worker_of_other_queues_does_not_run_system_jobs(wl):
    hello = wl.job("hello", queue="mail")(lambda: None)
    async with wl.running(queues=["mail"]):
        receipt = await wl.schedules.run("system.recount")

        await completed(wl, hello.make())

        assert (await wl.jobs.get(receipt.job_id)).state == "queued"


async def test_around_hooks_do_not_apply_to_system_jobs(wl):
    seen = []

    @wl.around
    @asynccontextmanager
    async def by_tenant(ctx):
        seen.append(ctx.job.tenant)
        yield

    hello = wl.job("hello")(lambda: None)
    async with wl.running():
        await completed(wl, hello.make())
        await ran(wl, "system.forget_workers")

    assert seen == ["default"]


async def test_a_shutdown_releases_a_running_system_job(database, monkeypatch):
    settings = Settings.load({"worker.shutdown_timeout_seconds": 0})
    begun = asyncio.Event()

    async def endless(self, definition):
        begun.set()
        await asyncio.sleep(0)
        return 1

    monkeypatch.setattr(Retention, "prune_jobs", endless)
    async with Windlass(database.url, settings=settings) as wl:
        async with wl.running():
            receipt = await wl.schedules.run("system.prune_jobs")
            await asyncio.wait_for(begun.wait(), 20)

        job = await wl.jobs.get(receipt.job_id)
        attempts = await wl.jobs.attempts(receipt.job_id)

    assert (job.state, job.attempts) == ("queued", 0)
    assert [attempt.outcome for attempt in attempts] == ["released"]


async def test_keys_of_system_jobs_are_reserved(wl):
    wl.job("system.recount")(lambda: None)

    with pytest.raises(DefinitionInvalid, match="declared twice"):
        async with wl.running():
            pass


async def test_system_definitions_are_never_missing_from_code(wl):
    async with wl.running():
        pass

    gone = await wl.definitions.sync()

    assert gone == set()


async def test_an_operator_may_move_and_disable_system_jobs(wl):
    async with wl.running():
        pass
    await wl.schedules.update("system.prune_jobs", schedule="0 5 * * *")
    await wl.definitions.disable("system.recount")

    async with wl.running():
        moved = await wl.schedules.get("system.prune_jobs")
        disabled = await wl.definitions.get("system.recount")

    assert (moved.cron, moved.edited) == ("0 5 * * *", ("cron",))
    assert not disabled.enabled


async def test_a_test_app_has_no_system_jobs():
    wl = Windlass(settings=Settings())
    hello = wl.job("hello")(lambda: None)

    async with TestWindlass(wl) as test:
        await hello.enqueue()
        async with wl.running():
            test.travel("+3d")
            await test.run_all(through="3d")
        jobs = await test.enqueued()
        definitions = await wl.definitions.list(system=True)

    assert [job.definition for job in jobs] == ["hello"]
    assert [each.key for each in definitions] == ["hello"]
