"""Schedules, triggers and events as an application uses them, on each database."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tests.storage.callers.kinds import by_psycopg, by_pymysql, by_sqlite3
from tests.waiting import until
from windlass import Settings, Windlass, cron, every, init, once, sync
from windlass.core.states import JobState
from windlass.errors import EventNotFound, PayloadInvalid, ScheduleInvalid, TriggerNotFound

SOON = timedelta(milliseconds=300)


@pytest.fixture
def ingest(wl):
    @wl.job
    def ingest(path: str, size: int = 0) -> str:
        return f"{path} {size}"

    return ingest


async def test_an_event_becomes_a_job(wl, ingest):
    await wl.triggers.create(
        "ingest", definition="ingest", event="folder.changed", payload={"path": "{{event.path}}"}
    )

    event = await wl.emit("folder.changed", {"path": "/in"})

    [job] = (await wl.jobs.list()).jobs
    assert (job.definition, job.source) == ("ingest", "event")
    assert (await wl.jobs.get(job.id)).payload == {"path": "/in"}
    assert (await wl.events.get(event.id)).jobs == 1
    assert [e.id for e in await wl.events.list()] == [event.id]


async def test_a_payload_that_cannot_fit_is_refused_when_it_is_saved(wl, ingest):
    with pytest.raises(PayloadInvalid):
        await wl.triggers.create("bad", definition="ingest", event="e", payload={"size": 3})
    with pytest.raises(ScheduleInvalid):
        await wl.schedules.create("bad", definition="ingest", schedule=cron("61 * * * *"))

    assert await wl.triggers.list() == []


async def test_a_rule_is_changed_while_everything_runs(wl, ingest):
    made = await wl.schedules.create(
        "nightly",
        definition="ingest",
        schedule=cron("0 2 * * *", tz="Europe/Berlin"),
        payload={"path": "/"},
    )
    moved = await wl.schedules.reschedule("nightly", cron("30 3 * * *", tz="Europe/Berlin"))
    off = await wl.schedules.disable("nightly")

    assert (made.next_run_at != moved.next_run_at, off.next_run_at) == (True, None)
    assert [t.name for t in await wl.schedules.list()] == ["nightly"]
    await wl.schedules.delete("nightly")
    with pytest.raises(TriggerNotFound):
        await wl.schedules.get("nightly")


async def test_a_schedule_in_code_runs(database):
    wl = Windlass(database.url)
    ran: list[str] = []

    @wl.job(schedule=every("1s"))
    async def beat() -> None:
        ran.append("beat")

    @wl.job(schedule=init())
    async def start() -> None:
        ran.append("start")

    @wl.job(schedule=cron("0 2 * * *"))
    async def nightly() -> None:
        ran.append("nightly")

    async with wl.running():
        await until(lambda: ran.count("beat") >= 2, waiting_for="two beats")

    assert (ran.count("start"), ran.count("nightly")) == (1, 0)


async def test_what_an_operator_changed_of_a_schedule_in_code_stays(database):
    def app(expression: str) -> Windlass:
        wl = Windlass(database.url)
        wl.job("report", schedule=cron(expression))(lambda: None)
        return wl

    async with app("0 2 * * *") as wl:
        assert (await wl.schedules.get("report")).origin == "code"
    async with app("0 3 * * *") as wl:
        assert (await wl.schedules.get("report")).cron == "0 3 * * *"
        edited = await wl.schedules.reschedule("report", cron("0 9 * * *"))
        assert edited.edited == ("cron",)
    async with app("0 4 * * *") as wl:
        assert (await wl.schedules.get("report")).cron == "0 9 * * *"


async def test_a_job_starts_at_its_time_without_waiting_for_a_tick(database):
    # Ticks so far apart that only the next due instant, or a nudge, can wake the scheduler.
    wl = Windlass(database.url, settings=Settings.load({"scheduler.tick_seconds": 3600}))
    wl.job("launch")(lambda: None)
    async with wl.running():
        at = datetime.now(UTC) + SOON
        await wl.schedules.create("launch", definition="launch", schedule=once(at))
        job = await until(lambda: first_completed(wl), waiting_for="the job")

    assert job.trigger_due_at == at


async def first_completed(wl):
    page = await wl.jobs.list(states=[JobState.COMPLETED])
    return page.jobs[0] if page.jobs else None


def test_an_event_in_a_transaction_that_is_rolled_back_never_happened(database):
    wl = sync.Windlass(database.url)

    @wl.job
    def ingest(path: str) -> None: ...

    with wl:
        wl.triggers.create("t", definition="ingest", event="e", payload={"path": "{{event.path}}"})
        with caller(database) as owner:
            undone = wl.emit("e", {"path": "/undone"}, tx=owner.tx)
            owner.rollback()
        with pytest.raises(EventNotFound):
            wl.events.get(undone.id)
        with caller(database) as owner:
            wl.emit("e", {"path": "/done"}, tx=owner.tx)
            owner.commit()
        asyncio.run(until(lambda: wl.jobs.list().jobs, waiting_for="the event's job"))

        [job] = wl.jobs.list().jobs
        assert wl.jobs.get(job.id).payload == {"path": "/done"}


def caller(database):
    by = {"sqlite": by_sqlite3, "postgresql": by_psycopg, "mariadb": by_pymysql}[database.kind]
    return by(database.url, asyncio.Runner())
