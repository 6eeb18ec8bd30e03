"""finish: the error class, transient or permanent, is stored beside the error type."""

from tests.support.job_builders import end, job, lease_of, started
from windlass.core.jobs.filter import parse
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState


async def test_an_error_class_is_stored_with_attempt_and_job_and_filterable(storage, clock):
    lease = await started(storage)
    failure = {"error": "boom", "error_type": "E", "exit_code": 1}
    await end(storage, lease, JobState.QUEUED, **failure, error_class="transient")
    retrying = await job(storage, lease.job_id)
    await end(
        storage,
        await lease_of(storage, lease.job_id),
        JobState.DEAD_LETTER,
        **failure,
        error_class="permanent",
    )
    dead = await job(storage, lease.job_id)
    attempts = await storage.jobs.attempts(dead)
    await started(storage)

    assert (retrying.error_class, dead.error_class) == ("transient", "permanent")
    assert [each.error_class for each in attempts] == ["transient", "permanent"]
    assert dead.duration == dead.finished_at - dead.last_started_at
    for words, found in (
        ("error_class:permanent", [dead.id]),
        ("error_class:transient", []),
        ("error_class:permanent error:boom", [dead.id]),
    ):
        page = await storage.jobs.page(
            ALL_TENANTS, parse(words).at(clock.now), after=None, limit=10
        )
        assert [each.id for each in page.jobs] == found
        assert all(each.error_class == "permanent" for each in page.jobs)
    await storage.jobs.retry(ALL_TENANTS, dead.id)
    assert (await job(storage, dead.id)).error_class == "permanent"
    assert [a.error_class for a in await storage.jobs.attempts(await job(storage, dead.id))] == [
        "transient",
        "permanent",
    ]
