"""replace_ciphertext: another ciphertext of the same payload, and nothing else of the job changes."""

from uuid import UUID

import pytest

from tests.support.job_builders import a_job, job
from windlass.core.jobs.states import JobState
from windlass.ids import JobId

START = JobId(UUID(int=0))
SEALED = '{"a": 1, "windlass:sealed": "1.k.A"}'
ANEW = '{"a": 1, "windlass:sealed": "1.l.B"}'


@pytest.mark.parametrize("state", list(JobState))
async def test_a_payload_in_any_state_is_found_and_replaced(storage, state):
    sealed = await a_job(storage, state, payload=SEALED)
    plain = await a_job(storage, state, payload='{"a": 1}')
    before = await job(storage, sealed.id)

    found, cursor = await storage.jobs.encrypted_payloads(START)
    await storage.jobs.replace_ciphertext([(found[0], ANEW)])

    after = await job(storage, sealed.id)
    assert [each.id for each in found] == [sealed.id]
    assert cursor == max(sealed.id, plain.id)
    assert (before.sealed, after.sealed) == ("1.k.A", "1.l.B")
    assert (after.payload, after.state, after.updated_at) == (
        before.payload, before.state, before.updated_at,
    )  # fmt: skip
    assert await storage.jobs.encrypted_payloads(cursor) == ([], None)


async def test_a_payload_changed_concurrently_is_not_replaced(storage):
    created = await a_job(storage, JobState.QUEUED, payload=SEALED)
    [found], _ = await storage.jobs.encrypted_payloads(START)

    await storage.jobs.replace_ciphertext([(found._replace(text=ANEW), '{"a": 2}')])

    assert (await job(storage, created.id)).sealed == "1.k.A"


async def test_all_jobs_are_scanned_in_batches(storage):
    created = {(await a_job(storage, state, payload=SEALED)).id for state in [*JobState, *JobState]}

    seen, cursor = [], START
    while cursor is not None:
        payloads, cursor = await storage.jobs.encrypted_payloads(cursor, most=5)
        seen += [each.id for each in payloads]

    assert (len(seen), set(seen)) == (len(created), created)
