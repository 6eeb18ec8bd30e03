"""TestWindlass: assertions, runs and time travel, without a trace in the app afterwards."""

import asyncio
import os
import sqlite3
from contextlib import asynccontextmanager, closing
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

import windlass.testing
from tests.support.processes.process_handlers import elsewhere
from windlass import JobContext, Permanent, Settings, Windlass, cron, every
from windlass.core.jobs.states import JobState
from windlass.errors import OptionInvalid
from windlass.testing import Summary, TestWindlass, temporary_database

pytest_plugins = ["pytester"]

#: An app under test never comes near its own database.
NOWHERE = "postgresql://ada@127.0.0.1:1/nowhere"

wl = Windlass(NOWHERE, settings=Settings())
wl_test = windlass.testing.fixture(wl)


@wl.job(queue="mail", max_attempts=3)
def send_receipt(invoice_id: int, locale: str = "en", day: date | None = None) -> str:
    if locale == "xx":
        raise Permanent("no template for xx")
    if locale == "??":
        raise LookupError("the printer is off")
    return f"receipt {invoice_id}"


@wl.job
async def sign_up(ctx: JobContext, address: str) -> None:
    await send_receipt.options(delay="10m").enqueue(invoice_id=1)


@wl.job
async def again(left: int) -> None:
    if left:
        await again.enqueue(left=left - 1)


async def test_enqueued_jobs_are_asserted_by_definition_and_arguments(wl_test):
    await send_receipt.enqueue(invoice_id=1)
    await send_receipt.enqueue(invoice_id=2, day=date(2026, 3, 1))

    job = await wl_test.assert_enqueued(send_receipt, invoice_id=2)
    assert (job.payload["day"], job.queue) == ("2026-03-01", "mail")
    await wl_test.assert_enqueued(send_receipt)
    await wl_test.assert_enqueued("send_receipt", invoice_id=1, locale="en")
    await wl_test.assert_enqueued(send_receipt, day=date(2026, 3, 1))
    await wl_test.assert_enqueued(send_receipt, day="2026-03-01")
    await wl_test.assert_not_enqueued(sign_up)
    await wl_test.assert_not_enqueued(send_receipt, invoice_id=3)
    assert [job.payload["invoice_id"] for job in await wl_test.enqueued(send_receipt)] == [1, 2]
    assert len(await wl_test.enqueued()) == 2


async def test_a_failed_assertion_lists_the_enqueued_jobs(wl_test):
    with pytest.raises(AssertionError, match="Nothing was enqueued"):
        await wl_test.assert_enqueued(send_receipt)
    await send_receipt.enqueue(invoice_id=1)

    with pytest.raises(AssertionError) as missing:
        await wl_test.assert_enqueued(send_receipt, invoice_id=2)
    with pytest.raises(AssertionError) as unwanted:
        await wl_test.assert_not_enqueued(send_receipt)

    assert str(missing.value) == (
        "send_receipt(invoice_id=2) was not enqueued.\n"
        "Enqueued:\n"
        "  send_receipt(invoice_id=1)  queued"
    )
    assert str(unwanted.value).startswith("send_receipt() was enqueued.\n")


async def test_a_long_list_of_jobs_is_shortened(wl_test):
    await wl.enqueue_many([again.make(left=n) for n in range(600)])

    with pytest.raises(AssertionError, match="… and 580 more"):
        await wl_test.assert_enqueued(sign_up)
    assert len(await wl_test.enqueued()) == 600


async def test_due_jobs_run_and_later_jobs_wait(wl_test):
    await sign_up.enqueue(address="ada@example.com")

    assert await wl_test.run_all() == Summary(completed=1)
    receipt = await wl_test.assert_enqueued(send_receipt, invoice_id=1)
    assert receipt.state is JobState.QUEUED
    wl_test.travel("+10m")
    assert (await wl_test.run_all()).completed == 1
    assert await wl_test.run_all() == Summary()
    assert (await wl.jobs.get(receipt.id)).result == "receipt 1"


async def test_run_all_through_a_time_runs_each_job_when_it_is_due(wl_test):
    begin = wl_test.now
    await send_receipt.enqueue(invoice_id=1, locale="??")

    summary = await wl_test.run_all(through="1h")

    assert summary.failed == 3
    assert (summary.completed, summary.retried, summary.dead_letter) == (0, 2, 1)
    assert summary.errors == ("LookupError: the printer is off",) * 3
    assert wl_test.now == begin + timedelta(hours=1)
    [job] = await wl_test.enqueued()
    starts = [attempt.started_at for attempt in await wl.jobs.attempts(job.id)]
    waits = [(later - sooner).total_seconds() for sooner, later in pairwise(starts)]
    assert starts[0] == begin
    assert 5 <= waits[0] <= 6
    assert 10 <= waits[1] <= 11


async def test_a_summary_counts_retries_and_dead_letters(wl_test):
    await send_receipt.enqueue(invoice_id=1)
    await send_receipt.enqueue(invoice_id=2, locale="xx")
    await send_receipt.enqueue(invoice_id=3, locale="??")

    assert await wl_test.run_all() == Summary(
        completed=1,
        failed=2,
        retried=1,
        dead_letter=1,
        errors=(
            "Permanent: no template for xx",
            "LookupError: the printer is off",
        ),
    )


async def test_the_most_urgent_runs_first_and_one_at_a_time():
    app, story = Windlass(NOWHERE, settings=Settings()), []

    @app.job
    async def work(name: str) -> None:
        story.append(f"{name} begins")
        await asyncio.sleep(0)
        story.append(f"{name} ends")

    async with TestWindlass(app) as test:
        await work.options(priority="low").enqueue(name="low")
        await work.options(priority="high", queue="other").enqueue(name="elsewhere")
        await work.options(priority="high").enqueue(name="high")
        await test.run_all()

    story.remove("elsewhere begins")
    story.remove("elsewhere ends")
    assert story == ["high begins", "high ends", "low begins", "low ends"]


async def test_parents_and_expiry_work_as_in_production(wl_test):
    parent = await send_receipt.enqueue(invoice_id=1)
    child = await send_receipt.options(after=[parent]).enqueue(invoice_id=2)
    late = await send_receipt.options(delay="2h", expires="1h").enqueue(invoice_id=3)

    assert (await wl_test.run_all(through="3h")).completed == 2

    assert (await wl.jobs.get(child.job_id)).state is JobState.COMPLETED
    job = await wl.jobs.get(late.job_id)
    assert (job.state, job.reason) == (JobState.CANCELED, "expired")


async def test_a_job_that_enqueues_itself_for_ever_is_an_error(wl_test):
    await again.enqueue(left=50)

    with pytest.raises(AssertionError, match="does a job enqueue itself"):
        await wl_test.run_all(limit=20)


@pytest.mark.parametrize(
    ("to", "tz", "utc"),
    [
        ("2026-03-29 02:30", "Europe/Berlin", "2026-03-29 01:30"),  # skipped by the clocks
        ("2026-03-29 03:30", "Europe/Berlin", "2026-03-29 01:30"),
        ("2026-10-25 02:30", "Europe/Berlin", "2026-10-25 00:30"),  # the first of two
        ("2026-07-01", "America/New_York", "2026-07-01 04:00"),
        ("2026-07-01 12:00", None, "2026-07-01 12:00"),
        ("2026-07-01T12:00+02:00", "Asia/Tokyo", "2026-07-01 10:00"),
        (datetime(2026, 7, 1, 12), "Asia/Tokyo", "2026-07-01 03:00"),
        (datetime(2026, 7, 1, 12, tzinfo=UTC), None, "2026-07-01 12:00"),
    ],
)
async def test_travel_goes_to_a_local_time(wl_test, to, tz, utc):
    wl_test.travel(to, tz=tz)

    there = datetime.fromisoformat(utc).replace(tzinfo=UTC)
    assert wl_test.now == there
    await send_receipt.enqueue(invoice_id=1)
    [job] = await wl_test.enqueued()
    assert (job.created_at, job.due_at) == (there, there)


async def test_travel_by_a_duration_starts_from_now(wl_test):
    wl_test.travel("2020-02-28 23:00")
    wl_test.travel("+2h")
    wl_test.travel(timedelta(days=1))

    assert wl_test.now == datetime(2020, 3, 1, 1, tzinfo=UTC)
    job = await wl.jobs.get(
        (await send_receipt.options(at=wl_test.now + timedelta(hours=1)).enqueue(1)).job_id
    )
    assert job.view(wl_test.now) == "scheduled"


@pytest.mark.parametrize(
    ("to", "tz"), [("soon", None), ("+soon", None), (3, None), ("2026-01-01", "Mars/Olympus")]
)
async def test_travel_to_an_invalid_time_is_refused(wl_test, to, tz):
    with pytest.raises(OptionInvalid):
        wl_test.travel(to, tz=tz)


def scheduled(**options):
    app = Windlass(NOWHERE, settings=Settings())

    @app.job(**options)
    def nightly() -> None: ...

    return app


async def dues(test):
    berlin = ZoneInfo("Europe/Berlin")
    return [f"{job.trigger_due_at.astimezone(berlin):%d %H:%M}" for job in await test.enqueued()]


async def test_schedules_fire_at_each_due_time_across_a_clock_change():
    app = scheduled(schedule=cron("30 2 * * *", tz="Europe/Berlin"))

    async with TestWindlass(app) as test:
        test.travel("2026-03-27 12:00", tz="Europe/Berlin")
        summary = await test.run_all(through="3d")

        # The clocks skip half past two on the 29th.
        assert await dues(test) == ["28 02:30", "29 03:00", "30 02:30"]
        assert summary == Summary(completed=3)
        assert [job.started_at for job in await test.enqueued()] == [
            job.trigger_due_at for job in await test.enqueued()
        ]


async def test_traveling_fires_schedules_and_runs_nothing():
    app = scheduled(schedule=cron("30 2 * * *", tz="Europe/Berlin"))

    async with TestWindlass(app, at=datetime(2026, 11, 1, tzinfo=UTC)) as test:
        assert await test.enqueued() == []
        test.travel("2026-10-24 12:00", tz="Europe/Berlin")  # back, which fires nothing
        assert await test.enqueued() == []
        test.travel("+2d")

        assert await dues(test) == ["25 02:30", "26 02:30"]
        assert {job.state for job in await test.enqueued()} == {JobState.QUEUED}
        assert await test.run_all() == Summary(completed=2)


async def test_an_interval_fires_at_once_and_repeatedly():
    async with TestWindlass(scheduled(schedule=every("20m"))) as test:
        assert await test.run_all() == Summary(completed=1)
        assert await test.run_all(through="1h") == Summary(completed=3)


async def test_too_many_due_times_on_the_way_are_an_error(monkeypatch):
    monkeypatch.setattr(temporary_database, "_MOST_STOPS", 20)
    async with TestWindlass(scheduled(schedule=every("1s"))) as test:
        await test.run_all()
        test.travel("+1m")

        with pytest.raises(AssertionError, match="more than 20 due times"):
            await test.enqueued()


async def test_a_rate_limit_frees_up_as_time_passes():
    app = scheduled(rate_limit="2/minute")

    async with TestWindlass(app) as test:
        for _ in range(5):
            await app.enqueue("nightly")

        assert await test.run_all() == Summary(completed=2)
        assert await test.run_all(through="10m") == Summary(completed=3)


async def test_definitions_by_path_run():
    app = Windlass(NOWHERE, settings=Settings.load({"worker.handler_paths": ("tests",)}))

    async with TestWindlass(app) as test:
        await app.definitions.create(
            "by.path", path="tests.app.definitions.test_path_handlers.greet"
        )
        receipt = await app.enqueue("by.path", {"name": "Ada"})

        assert await test.run_all() == Summary(completed=1)
        assert (await app.jobs.get(receipt.job_id)).result == "Hello, Ada"


async def test_a_transaction_of_another_database_is_not_used(tmp_path):
    app, ends = Windlass(NOWHERE, settings=Settings()), []

    @app.job
    def work(ctx: JobContext) -> str:
        with closing(sqlite3.connect(tmp_path / "shop.db", check_same_thread=False)) as shop:
            ctx.complete(shop)
            ends.append(shop.in_transaction)
        return "done"

    async with TestWindlass(app) as test:
        with closing(sqlite3.connect(tmp_path / "shop.db")) as shop:
            await work.options(tx=shop).enqueue()
            assert not shop.in_transaction
        assert await test.run_all() == Summary(completed=1)
        [job] = await test.enqueued()

    assert (ends, job.result) == ([False], "done")


async def test_process_isolated_handlers_run_in_this_process():
    async with TestWindlass(elsewhere) as test:
        await elsewhere.enqueue("process.pid", {"say": "near"})
        await test.run_all()
        [job] = await test.enqueued()

    assert job.result == os.getpid()


async def test_lifespan_and_around_hooks_run():
    app, story = Windlass(NOWHERE, settings=Settings()), []

    @app.lifespan
    @asynccontextmanager
    async def span():
        story.append("open")
        yield
        story.append("close")

    @app.around
    @asynccontextmanager
    async def around(ctx: JobContext):
        story.append(ctx.job.definition)
        yield

    @app.job
    async def work() -> None: ...

    async with TestWindlass(app) as test:
        await work.enqueue()
        await test.run_all()

    assert story == ["open", "work", "close"]


async def test_the_app_is_unchanged_after_the_test(tmp_path):
    app = Windlass(f"sqlite:///{tmp_path / 'real.db'}", settings=Settings())

    @app.job
    def work() -> None: ...

    real = await work.enqueue()
    async with TestWindlass(app, at=datetime(2030, 1, 1, tzinfo=UTC)) as test:
        await work.enqueue()
        work.blocking.enqueue()
        assert test.now.year == 2030
        assert len((await app.jobs.list()).jobs) == 2
    jobs = (await app.jobs.list()).jobs

    assert [job.id for job in jobs] == [real.job_id]
    assert jobs[0].created_at.year != 2030
    app.blocking.close()
    await app.close()


async def test_an_app_without_jobs_has_nothing_to_run():
    async with TestWindlass(Windlass(NOWHERE, settings=Settings())) as test:
        assert await test.run_all(through="1d") == Summary()


def test_the_fixture_needs_one_line_in_conftest(pytester):
    pytester.makeini("[pytest]\nasyncio_mode = strict\n")
    pytester.makepyfile(
        shop="""
        from windlass import Windlass, sync
        wl = Windlass("postgresql://127.0.0.1:1/nowhere")
        blocking = sync.Windlass("postgresql://127.0.0.1:1/nowhere")

        @wl.job
        def send_receipt(invoice_id: int) -> None: ...

        @blocking.job
        def greet(name: str) -> None: ...
        """
    )
    pytester.makeconftest(
        """
        import windlass.testing
        from shop import blocking, wl

        wl_test = windlass.testing.fixture(wl)
        blocking_test = windlass.testing.fixture(blocking)
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from shop import greet, send_receipt

        @pytest.mark.asyncio
        async def test_awaited(wl_test):
            await send_receipt.enqueue(invoice_id=1)
            await wl_test.assert_enqueued(send_receipt, invoice_id=1)
            assert (await wl_test.run_all()).completed == 1

        @pytest.mark.asyncio
        async def test_alone(wl_test):
            await wl_test.assert_not_enqueued(send_receipt)

        @pytest.mark.asyncio
        async def test_wrong(wl_test):
            await wl_test.assert_enqueued(send_receipt, invoice_id=2)

        def test_blocking(blocking_test):
            greet.enqueue(name="Ada")
            assert blocking_test.run_all().completed == 1
        """
    )

    result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider")

    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [">*await wl_test.assert_enqueued(send_receipt, invoice_id=2)", "E*was not enqueued."]
    )
