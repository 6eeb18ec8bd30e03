"""Races of renew, report and log with the ends of a lease."""

import pytest

from tests.conformance.races.race import ROUNDS, in_one_place, race
from tests.support.job_builders import (
    ALDER,
    LEASE_TIME,
    end,
    finish,
    held,
    job,
    lease_of,
    log_line,
    lost,
    started,
    state_of,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import JobState
from windlass.core.leases.lease import ProgressReport

PENDING, QUEUED, RUNNING, COMPLETED, CANCELED, DEAD_LETTER = JobState


async def test_renew_against_reap(storage, twin, clock):
    for number in range(ROUNDS):
        lease = await started(storage)
        await clock.advance(LEASE_TIME)

        renewed, reaped = await race(
            number,
            storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME),
            twin.leases.reap([lost(lease)]),
        )

        assert bool(renewed) != bool(reaped)
        assert await state_of(storage, lease.job_id) is (RUNNING if renewed else QUEUED)
        assert (await end(storage, lease) is COMPLETED) == bool(renewed)
        assert await in_one_place(storage, lease.job_id)


async def test_renew_against_finish(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)

        _, ended = await race(
            number,
            storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME),
            end(twin, lease),
        )

        assert ended is COMPLETED
        assert await storage.leases.renew(ALDER, [held(lease)], lease_time=LEASE_TIME) == []
        assert (await job(storage, lease.job_id)).lease_expires_at is None


async def test_renew_against_cancel(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)

        renewed, canceled = await race(
            number,
            storage.leases.renew(ALDER, [held(lease)], lease_time=2 * LEASE_TIME),
            twin.jobs.cancel(ALL_TENANTS, [lease.job_id]),
        )

        assert (len(renewed), canceled) == (1, {lease.job_id: RUNNING})
        after = await job(storage, lease.job_id)
        assert after.cancel_requested_at is not None
        assert after.lease_expires_at == await storage.now() + 2 * LEASE_TIME


async def test_report_against_finish(storage, twin):
    for number in range(ROUNDS):
        lease = await started(storage)
        progress = ProgressReport(job_id=lease.job_id, token=lease.token, fraction=0.5, note="half")

        _, ended = await race(
            number,
            storage.leases.record_progress(ALDER, [progress]),
            end(twin, lease, progress=1.0),
        )

        assert ended is COMPLETED
        assert (await job(storage, lease.job_id)).progress == 1.0
        assert await storage.leases.record_progress(ALDER, [progress]) == set()


@pytest.mark.parametrize("reaped", [True, False], ids=["reap", "finish"])
async def test_log_against_an_end(storage, twin, clock, reaped):
    for number in range(ROUNDS):
        lease = await started(storage)
        await clock.advance(LEASE_TIME)

        written, ended = await race(
            number,
            storage.leases.append_logs(ALDER, [log_line(lease, "a"), log_line(lease, "b")]),
            (
                twin.leases.reap([lost(lease)])
                if reaped
                else twin.leases.finish(ALDER, [finish(lease)])
            ),
        )

        if reaped and not ended:  # it passed by the row, which the lines had locked
            ended = await twin.leases.reap([lost(lease)])
        assert len(ended) == 1
        lines = await storage.jobs.logs(await job(storage, lease.job_id))
        assert [line.sequence for line in lines] == ([1, 2] if written else [])
        if reaped:
            again = await lease_of(storage, lease.job_id)
            await storage.leases.append_logs(ALDER, [log_line(again, "c")])
            after = await storage.jobs.logs(await job(storage, lease.job_id))
            assert [line.sequence for line in after] == list(range(1, len(lines) + 2))
            await end(storage, again)
