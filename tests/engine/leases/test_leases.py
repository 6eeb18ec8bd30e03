"""The worker's side: ends are recorded whatever they say, and what follows cannot undo them."""

import pytest

from tests.support.job_builders import (
    ALDER,
    LEASE_TIME,
    a_job,
    enqueue_child,
    finish,
    held,
    job,
    log_line,
    started,
    state_of,
)
from windlass.core.jobs.states import JobState
from windlass.engine.leases.leases import ERROR_BYTES, LINE_BYTES
from windlass.errors import DatabaseUnreachable
from windlass.ids import WorkerId

OUTAGE = DatabaseUnreachable("postgresql://db/shop")


@pytest.fixture
def leases(engine):
    return engine.leases(worker=ALDER)


@pytest.fixture
def refuse(storage, monkeypatch):
    """Let a verb raise for batches that hold a certain text, as a database might."""

    def install(verb, text, error):
        run = getattr(storage.leases, verb)

        async def refusing(worker, batch, **how):
            if any(text in repr(row) for row in batch):
                raise error
            return await run(worker, batch, **how)

        monkeypatch.setattr(storage.leases, verb, refusing)

    return install


async def test_text_that_no_database_can_store_is_replaced(leases, storage):
    lease = await started(storage)

    await leases.finish(
        [finish(lease, JobState.DEAD_LETTER, error="a\x00b\ud800c" + "x" * 100_000)]
    )

    ended = await job(storage, lease.job_id)
    assert ended.last_error.startswith("a\ufffdb\ufffdc")
    assert len(ended.last_error.encode()) <= ERROR_BYTES


async def test_a_refused_outcome_is_stored_with_a_fixed_text(leases, storage, refuse, heard):
    good, bad = await started(storage), await started(storage)
    refuse("finish", "indigestible", ValueError("invalid byte sequence"))

    await leases.finish(
        [finish(bad, JobState.DEAD_LETTER, error="indigestible"), finish(good, result='"fine"')]
    )

    assert (await job(storage, good.job_id)).result == "fine"
    ended = await job(storage, bad.job_id)
    assert ended.state is JobState.DEAD_LETTER
    assert ended.last_error == "the outcome's own text could not be stored"
    assert "finish failed" in heard.events()


async def test_an_outcome_that_cannot_be_stored_does_not_block_others(
    leases, storage, refuse, heard
):
    good, bad = await started(storage), await started(storage)
    refuse("finish", str(bad.job_id), ValueError("no"))

    ended = await leases.finish([finish(bad), finish(good)])

    assert ended == {held(good): JobState.COMPLETED}
    assert await state_of(storage, bad.job_id) is JobState.RUNNING, "its lease will run out"
    assert "finish without its text failed" in heard.events()


async def test_an_outage_is_not_taken_for_bad_content(leases, storage, refuse):
    lease = await started(storage)
    refuse("finish", str(lease.job_id), OUTAGE)

    with pytest.raises(DatabaseUnreachable):
        await leases.finish([finish(lease)])


async def test_an_end_is_recorded_even_if_its_children_cannot_be_ended_now(
    leases, storage, monkeypatch, heard
):
    parent = await started(storage)
    child = await enqueue_child(storage, parent.job_id)

    async def away(**_):
        raise OUTAGE

    monkeypatch.setattr(storage.leases, "jobs_to_cancel", away)
    ended = await leases.finish([finish(parent, JobState.DEAD_LETTER)])

    assert ended == {held(parent): JobState.DEAD_LETTER}
    assert await state_of(storage, child) is JobState.PENDING
    assert "ending children failed" in heard.events()


async def test_children_of_a_failed_parent_end_with_it(leases, storage):
    parent = await started(storage)
    child = await enqueue_child(storage, parent.job_id)

    await leases.finish([finish(parent, JobState.DEAD_LETTER)])

    assert await state_of(storage, child) is JobState.CANCELED


async def test_a_late_report_is_logged(leases, storage, heard):
    lease = await started(storage)
    await leases.finish([finish(lease)])

    assert await leases.finish([finish(lease)]) == {}
    assert heard.events() == ["completed", "late report ignored"]


async def test_an_end_that_the_handler_may_have_recorded_itself_is_not_late(leases, storage, heard):
    lease = await started(storage)
    await leases.finish([finish(lease)])

    await leases.finish([finish(lease, maybe_recorded=True)])

    assert heard.events() == ["completed"]


async def test_a_refused_log_line_does_not_affect_others(leases, storage, refuse, heard):
    lease = await started(storage)
    refuse("append_logs", "indigestible", ValueError("invalid byte sequence"))

    await leases.log([log_line(lease, text) for text in ("one", "indigestible", "two")])

    lines = await storage.jobs.logs(await job(storage, lease.job_id))
    assert [line.message for line in lines] == ["one", "two"]
    assert "writing logs failed" in heard.events()


async def test_a_long_log_line_keeps_its_head_and_tail(leases, storage):
    lease = await started(storage)

    await leases.log([log_line(lease, "head" + "x" * 100_000 + "tail")])

    [line] = await storage.jobs.logs(await job(storage, lease.job_id))
    assert line.message.startswith("head")
    assert line.message.endswith("tail")
    assert len(line.message.encode()) <= LINE_BYTES


async def test_a_worker_with_no_slot_or_no_handler_claims_nothing(leases, storage):
    await a_job(storage, JobState.QUEUED)

    for limit, known in ((0, ["plain"]), (5, [])):
        claimed = await leases.claim(
            WorkerId("alder"), limit, queues=None, known=known, lease_time=LEASE_TIME
        )
        assert list(claimed.leases) == []
