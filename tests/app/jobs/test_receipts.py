"""Receipts that are waited for: results as their handlers' types, and one exception per end."""

import pickle
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest

from windlass import JobCanceled, JobFailed, Permanent, Receipt, WaitTimeout, Windlass, sync
from windlass.core.jobs.models import Receipt as PlainReceipt
from windlass.errors import JobNotFound, JobRejected, OptionInvalid, ResultMismatch
from windlass.settings import Settings

LONG = "30s"


@dataclass
class Report:
    day: date
    totals: tuple[int, ...]


@pytest.fixture
def report(wl):
    @wl.job
    async def report(day: date) -> Report:
        return Report(day, (1, 2))

    return report


async def test_a_receipt_waits_for_the_result_as_the_type_that_the_handler_returns(wl, report):
    receipt = await report.enqueue(day=date(2026, 3, 1))

    async with wl.running():
        result = await receipt.wait(LONG)

    assert result == Report(date(2026, 3, 1), (1, 2))


async def test_waiting_means_the_same_of_receipt_handle_noun_and_bulk(wl, report):
    [bulk] = await wl.enqueue_many([report.make(day=date(2026, 3, 1))])
    by_key = await wl.enqueue("report", {"day": "2026-03-01"})

    async with wl.running():
        waited = [await bulk.wait(LONG), await by_key.wait(LONG)]
    handle = await wl.jobs.get(bulk.job_id)

    waited += [await handle.wait(LONG), await wl.jobs.wait(bulk.job_id, LONG)]
    assert waited == [Report(date(2026, 3, 1), (1, 2))] * 4
    assert handle.result == {"day": "2026-03-01", "totals": [1, 2]}


async def test_a_result_without_a_type_is_as_stored(wl):
    @wl.job
    def untyped():
        return (1, date(2026, 3, 1))

    receipt = await untyped.enqueue()
    async with wl.running():
        assert await receipt.wait(LONG) == [1, "2026-03-01"]


async def test_a_result_that_is_not_what_the_handler_promises_is_an_error_that_says_where(wl):
    @wl.job
    def total() -> dict[str, int]:
        result: Any = {"sum": "many"}
        return result

    receipt = await total.enqueue()
    async with wl.running():
        with pytest.raises(ResultMismatch, match=r"/sum: .*integer") as caught:
            await receipt.wait(LONG)

    assert caught.value.job == receipt.job_id
    assert (await wl.jobs.get(receipt.job_id)).result == {"sum": "many"}


async def test_the_head_of_a_truncated_result_is_as_stored(database):
    settings = Settings.load({"limits.result_bytes": 1024}, environ={})
    async with Windlass(database.url, settings=settings) as wl:

        @wl.job(truncate_result=True)
        def long() -> list[int]:
            return list(range(1000))

        receipt = await long.enqueue()
        async with wl.running():
            result: Any = await receipt.wait(LONG)

    assert result["truncated"] is True


async def test_waiting_for_a_failed_job_raises_its_error(wl):
    @wl.job
    async def fail() -> None:
        raise Permanent("no such page")

    receipt = await fail.enqueue()
    async with wl.running():
        with pytest.raises(JobFailed, match="no such page") as caught:
            await receipt.wait(LONG)

    assert (type(caught.value), caught.value.state) == (JobFailed, "dead_letter")


async def test_waiting_for_a_canceled_job_raises_job_canceled_with_the_reason(wl, report):
    receipt = await report.enqueue(day=date(2026, 3, 1))
    await wl.jobs.cancel(receipt.job_id, reason="wrong day")

    with pytest.raises(JobCanceled, match="wrong day") as caught:
        await receipt.wait(LONG)

    assert isinstance(caught.value, JobFailed)
    assert caught.value.state == "canceled"


async def test_waiting_for_too_long_raises_wait_timeout_and_the_job_continues(report):
    receipt = await report.enqueue(day=date(2026, 3, 1))

    with pytest.raises(WaitTimeout, match=r"has not ended within 0\.01 s"):
        await receipt.wait("10ms")
    with pytest.raises(OptionInvalid, match="timeout"):
        await receipt.wait("soon")


async def test_a_rejected_receipt_says_so_when_waited_for(wl, report):
    await wl.tenants.create("acme", max_open=1)
    acme_report = report.options(tenant="acme")
    await acme_report.enqueue(day=date(2026, 3, 1))

    receipt = await acme_report.enqueue(day=date(2026, 3, 2))

    with pytest.raises(JobRejected, match="was rejected") as caught:
        await receipt.wait(LONG)

    assert receipt.rejected
    assert (caught.value.because, caught.value.job) == (receipt.because, receipt.job_id)
    with pytest.raises(JobNotFound):
        await wl.jobs.wait(receipt.job_id, LONG)


async def test_a_receipt_is_a_plain_one_in_another_process(report):
    receipt = await report.enqueue(day=date(2026, 3, 1))

    copied = pickle.loads(pickle.dumps(receipt))

    assert isinstance(receipt, Receipt)
    assert (type(copied), copied) == (PlainReceipt, receipt)


def test_a_blocking_receipt_waits_the_same_way(database):
    with sync.Windlass(database.url, settings=Settings()) as wl:

        @wl.job
        async def add(a: int, b: int) -> tuple[int]:
            return (a + b,)

        @wl.job
        def fail() -> None:
            raise Permanent("no such page")

        with wl.running():
            sent = add.enqueue(a=1, b=2)
            [bulk] = wl.enqueue_many([add.make(a=2, b=2)])
            by_key = wl.enqueue("add", {"a": 3, "b": 2})
            with pytest.raises(JobFailed, match="no such page"):
                fail.enqueue().wait(LONG)
            waited = [sent.wait(LONG), bulk.wait(LONG), by_key.wait(LONG)]

        assert waited == [(3,), (4,), (5,)]
        assert wl.jobs.wait(sent.job_id) == wl.jobs.get(sent.job_id).wait() == (3,)
