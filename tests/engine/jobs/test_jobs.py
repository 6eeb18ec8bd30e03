"""Verbs on single jobs: what they return when the job changes or goes meanwhile."""

import pytest

from tests.support.job_builders import a_job
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.errors import JobNotFound


async def test_cancel_returns_a_job_that_is_pruned_at_once(engine, storage, monkeypatch):
    job = await a_job(storage, JobState.QUEUED)
    cancel = storage.jobs.cancel

    async def cancel_and_prune(scope, ids, **how):
        changed = await cancel(scope, ids, **how)
        await storage.jobs.discard(ALL_TENANTS, job.id)
        return changed

    monkeypatch.setattr(storage.jobs, "cancel", cancel_and_prune)

    canceled = await engine.jobs.cancel(job.id)

    assert (canceled.id, canceled.state) == (job.id, JobState.CANCELED)
    with pytest.raises(JobNotFound):
        await engine.jobs.get(job.id)
