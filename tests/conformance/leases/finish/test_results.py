"""finish: any result is recorded, and jobs that are not kept are deleted."""

import json

import pytest

from tests.support.job_builders import (
    ALDER,
    HOUR,
    a_job,
    end,
    enqueue_child,
    job,
    lease_of,
    log_line,
    rows_of,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import ENDED, JobState
from windlass.core.payloads.result import encode_result

RESULTS = [None, True, 0, -0.0, 2**64, 1e-9, "", "😀", [], {}, {"": [{"a": None}]}, "x" * 250_000]


async def test_any_result_reads_back_equal(storage):
    for result in RESULTS:
        lease = await started(storage)

        await end(storage, lease, result=json.dumps(result))

        assert repr((await job(storage, lease.job_id)).result) == repr(result)


async def test_a_result_with_unstorable_characters_has_a_warning(storage):
    lease = await started(storage)
    text, note = encode_result("\ud800\x00")

    await end(storage, lease, result=text, warnings=json.dumps([note]))

    done = await job(storage, lease.job_id)
    assert (done.state, done.result) == (JobState.COMPLETED, "\ufffd\ufffd")
    assert done.warnings == (note,)
    assert note


@pytest.mark.parametrize("state", [JobState.COMPLETED, JobState.CANCELED])
async def test_a_job_that_is_not_kept_is_deleted_with_its_related_rows(storage, state):
    parent = await a_job(storage, JobState.COMPLETED)
    child = await enqueue_child(storage, parent.id, dedupe_key="d", idempotency_key="i")
    lease = await lease_of(storage, child)
    await storage.leases.append_logs(ALDER, [log_line(lease, "a line")])
    await end(storage, lease, JobState.DEAD_LETTER, error="boom", exit_code=1)
    await storage.jobs.retry(ALL_TENANTS, child, actor="ada")
    lease = await lease_of(storage, child)

    ended = await end(storage, lease, state, keep=False, exit_code=0)

    assert ended is state
    assert await storage.jobs.get(ALL_TENANTS, child) is None
    for table, column in (
        ("windlass_attempts", "job_id"),
        ("windlass_transitions", "job_id"),
        ("windlass_logs", "job_id"),
        ("windlass_keys", "job_id"),
        ("windlass_parents", "child_id"),
        ("windlass_holds", "job_id"),
    ):
        assert await rows_of(storage, table, column, child) == 0, table


async def test_a_dead_lettered_job_is_always_kept(storage):
    lease = await started(storage, idempotency_key="i")

    await end(storage, lease, JobState.DEAD_LETTER, keep=False)

    assert await state_of(storage, lease.job_id) is JobState.DEAD_LETTER


async def test_a_job_to_be_retried_is_always_kept(storage):
    lease = await started(storage, idempotency_key="i")

    await end(storage, lease, JobState.QUEUED, keep=False)

    assert await state_of(storage, lease.job_id) is JobState.QUEUED


async def test_a_job_that_is_not_kept_still_releases_its_children(storage):
    lease = await started(storage)
    child = await enqueue_child(storage, lease.job_id)

    await end(storage, lease, keep=False)

    assert await state_of(storage, child) is JobState.QUEUED
    [relative] = await storage.jobs.job_edges(await job(storage, child))
    assert (relative.parent_state, relative.settled) == (None, True)


async def test_every_end_sets_its_timestamp(storage, clock):
    await clock.advance(HOUR)

    for state in ENDED:
        ended = await a_job(storage, state)
        assert ended.finished_at == clock.now
