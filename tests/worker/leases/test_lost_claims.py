"""Claims whose result is lost: their jobs are handed back, and no attempt is used up."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases.kinds import Database
from tests.support.job_builders import (
    ALDER,
    KNOWN,
    LEASE_TIME,
    claim,
    enqueue,
    held,
    job,
    new_jobs,
    state_of,
)
from tests.support.servers.tcp_proxy import Proxy
from tests.support.wait import until
from windlass import Settings, Windlass
from windlass.core.jobs.states import JobState, Outcome
from windlass.engine.engine import Engine
from windlass.errors import DatabaseUnreachable
from windlass.storage.storage import open_storage
from windlass.telemetry import Telemetry
from windlass.worker.leases.lost_claims import LostClaimRecovery
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

HANDED_BACK = "handed back what a claim brought whose answer was lost"
ONE_SLOT = WorkerOptions(
    concurrency=1, poll=timedelta(milliseconds=20), lease_time=timedelta(hours=1)
)


@pytest.fixture
def leases(engine):
    return engine.leases(worker=ALDER)


@pytest.fixture
def lost_claims(leases, engine, seconds):
    return LostClaimRecovery(leases, engine.telemetry, lease_time=LEASE_TIME)


async def test_unknown_leases_of_the_worker_are_handed_back(lost_claims, storage):
    await storage.jobs.enqueue(new_jobs(3, max_attempts=1))
    known, *unknown = await claim(storage, 3)
    lost_claims.expect()

    await lost_claims.release({held(known)})

    assert await state_of(storage, known.job_id) is JobState.RUNNING
    for lease in unknown:
        back = await job(storage, lease.job_id)
        assert (back.state, back.attempts) == (JobState.QUEUED, 0)


async def test_leases_of_other_workers_stay(lost_claims, storage):
    await enqueue(storage)
    [lease] = await claim(storage, worker="birch")
    lost_claims.expect()

    await lost_claims.release(())

    assert await state_of(storage, lease.job_id) is JobState.RUNNING


async def test_lost_claims_are_looked_for_only_after_a_failed_claim(
    lost_claims, storage, monkeypatch
):
    monkeypatch.delattr("windlass.storage.leases.leases.LeaseVerbs.worker_leases")

    await lost_claims.release(())


async def test_a_claim_that_ends_late_at_the_server_is_found(lost_claims, storage, seconds):
    lost_claims.expect()
    await lost_claims.release(())
    await enqueue(storage, max_attempts=1)
    [late] = await claim(storage)

    seconds.pass_by(LEASE_TIME.total_seconds() / 6)
    await lost_claims.release(())

    assert await state_of(storage, late.job_id) is JobState.QUEUED


async def test_it_stops_looking_when_a_lease_would_have_run_out(lost_claims, storage, seconds):
    lost_claims.expect()
    for _ in range(100):
        await lost_claims.release(())
        seconds.pass_by(LEASE_TIME.total_seconds() / 6)
    await enqueue(storage)
    [lease] = await claim(storage)

    await lost_claims.release(())

    assert await state_of(storage, lease.job_id) is JobState.RUNNING


async def test_a_look_during_an_outage_does_not_count(lost_claims, storage, seconds, monkeypatch):
    await enqueue(storage)
    [lease] = await claim(storage)
    lost_claims.expect()
    with monkeypatch.context() as patch:
        patch.setattr(storage.leases, "worker_leases", away)
        for _ in range(100):
            await lost_claims.release(())
            seconds.pass_by(LEASE_TIME.total_seconds() / 6)

    await lost_claims.release(())

    assert await state_of(storage, lease.job_id) is JobState.QUEUED


async def away(worker):
    raise DatabaseUnreachable("postgresql://db/shop")


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_a_job_with_one_attempt_runs_although_its_claim_was_lost(database: Database, heard):
    wl = Windlass("sqlite:///never-opened.db", settings=Settings())

    @wl.job("plain")
    async def plain() -> None:
        """Succeeds."""

    with Proxy.before(database.url) as proxy:
        engine = Engine(open_storage(proxy.url), Settings(), Telemetry(heard))
        for handler in wl.handlers.values():
            engine.definitions.declare(handler.definition)
        await engine.ready()
        lose_some_answers(engine.storage, proxy)
        worker = Worker(engine, wl.handlers, ONE_SLOT)
        direct = open_storage(database.url)
        running = asyncio.create_task(worker.run())
        try:
            ids = []
            while HANDED_BACK not in heard.events() and len(ids) < 50:
                ids.append(await enqueue(direct, payload="{}", max_attempts=1))
                await until(lambda id=ids[-1]: completed(direct, id))
            jobs = [await job(direct, id) for id in ids]
            tried = {a.outcome for each in jobs for a in await direct.jobs.attempts(each)}
        finally:
            worker.stop()
            await running
            await engine.close()
            await direct.close()

    assert proxy.answers_lost > 0
    assert HANDED_BACK in heard.events()
    assert {each.attempts for each in jobs} == {1}
    assert tried == {Outcome.RELEASED, Outcome.SUCCEEDED}


def lose_some_answers(storage, proxy):
    """The first claim on a connection prepares its statement: of the second the answer is lost."""
    take = storage.leases.claim
    claims = 0

    async def claim_without_answer(worker, quotas, known=KNOWN, **how):
        nonlocal claims
        claims += 1
        if claims % 3 == 0:
            proxy.lose_answers()
        return await take(worker, quotas, known, **how)

    storage.leases.claim = claim_without_answer


async def completed(storage, id):
    return await state_of(storage, id) is JobState.COMPLETED
