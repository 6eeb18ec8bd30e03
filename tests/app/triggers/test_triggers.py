"""Schedules, triggers and events as an application uses them, on each database."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.caller_transactions import by_psycopg, by_pymysql, by_sqlite3
from tests.support.wait import until
from windlass import Settings, Trigger, Windlass, cron, every, init, once, sync
from windlass.core.jobs.states import JobState
from windlass.errors import (
    EventNotFound,
    OptionInvalid,
    PayloadInvalid,
    ScheduleInvalid,
    TriggerNotFound,
    ZoneUnknown,
)

SOON = timedelta(milliseconds=300)


@pytest.fixture
def ingest(wl):
    @wl.job
    def ingest(path: str, size: int = 0) -> str:
        return f"{path} {size}"

    return ingest


async def test_an_event_creates_a_job(wl, ingest):
    await wl.triggers.create(
        "ingest", definition="ingest", event="folder.changed", payload={"path": "{{event.path}}"}
    )

    event = await wl.emit("folder.changed", {"path": "/in"})

    [job] = (await wl.jobs.list()).jobs
    assert (job.definition, job.source) == ("ingest", "event")
    assert (await wl.jobs.get(job.id)).payload == {"path": "/in"}
    assert (await wl.events.get(event.id)).jobs == 1
    assert [e.id for e in await wl.events.list()] == [event.id]


async def test_the_enabled_flag_must_be_a_boolean(wl):
    wl.job("tick")(lambda: None)
    await wl.schedules.create("nightly", definition="tick", schedule="0 2 * * *")

    with pytest.raises(OptionInvalid, match="enabled"):
        await wl.schedules.update("nightly", enabled="no")


async def test_a_payload_that_cannot_fit_is_refused_when_saved(wl, ingest):
    with pytest.raises(PayloadInvalid):
        await wl.triggers.create("bad", definition="ingest", event="e", payload={"size": 3})
    with pytest.raises(ScheduleInvalid):
        await wl.schedules.create("bad", definition="ingest", schedule=cron("61 * * * *"))

    assert await wl.triggers.list() == []


async def test_a_trigger_is_changed_while_workers_run(wl, ingest):
    created = await wl.schedules.create(
        "nightly",
        definition="ingest",
        schedule=cron("0 2 * * *", tz="Europe/Berlin"),
        payload={"path": "/"},
    )
    moved = await wl.schedules.reschedule("nightly", cron("30 3 * * *", tz="Europe/Berlin"))
    off = await wl.schedules.disable("nightly")

    assert (created.next_run_at != moved.next_run_at, off.next_run_at) == (True, None)
    assert [t.name for t in await wl.schedules.list()] == ["nightly"]
    await wl.schedules.delete("nightly")
    with pytest.raises(TriggerNotFound):
        await wl.schedules.get("nightly")


async def test_a_code_schedule_runs(database):
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


async def test_an_operators_edit_of_a_code_schedule_survives(database):
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


async def test_a_deleted_code_schedule_stays_deleted(database):
    def app() -> Windlass:
        wl = Windlass(database.url)
        wl.job("report", schedule=["@daily", cron("@weekly", name="weekly")])(lambda: None)
        return wl

    async with app() as wl:
        await wl.schedules.delete("weekly")
    async with app() as wl:
        after = [schedule.name for schedule in await wl.schedules.list()]
        await wl.definitions.reset("report")
    async with app() as wl:
        back = [schedule.name for schedule in await wl.schedules.list()]

    assert (after, back) == (["report"], ["report", "weekly"])


async def test_an_operators_init_schedule_fires_at_each_start(database):
    def app() -> Windlass:
        wl = Windlass(database.url)
        wl.job("warm")(lambda: None)
        return wl

    async def starts() -> int:
        async with app() as wl:
            [schedule] = await wl.schedules.list()
            async with wl.running():
                await until(lambda: fired(wl, schedule), waiting_for="a job of this start")
            return len((await wl.jobs.list()).jobs)

    async def fired(wl: Windlass, before: Trigger) -> bool:
        now = await wl.schedules.get("warm up")
        job = now.last_job_id and await wl.jobs.get(now.last_job_id)
        return bool(now.last_job_id != before.last_job_id and job and job.ended)

    async with app() as wl:
        await wl.schedules.create("warm up", definition="warm", schedule=init(run_once=False))

    assert [await starts(), await starts()] == [1, 2]


async def test_a_schedule_can_change_its_type_and_be_reset(database):
    def app() -> Windlass:
        wl = Windlass(database.url)
        wl.job("report", schedule=cron("0 2 * * *", tz="Asia/Tokyo"))(lambda: None)
        return wl

    async with app() as wl:
        edited = await wl.schedules.update("report", schedule=every("15m"))
    async with app() as wl:
        kept = await wl.schedules.get("report")
        reset = await wl.schedules.reset("report")

    assert edited == replace(kept, updated_at=edited.updated_at)
    assert (kept.type, kept.interval_seconds, kept.cron) == ("interval", 900, None)
    assert {"type", "interval_seconds"} <= {*kept.edited}
    assert (reset.type, reset.cron, reset.timezone) == ("cron", "0 2 * * *", "Asia/Tokyo")
    assert (reset.edited, reset.interval_seconds) == ((), None)


async def test_an_event_shows_each_triggers_decision_and_reason(wl, ingest):
    about = {"definition": "ingest", "event": "e"}
    path = {"path": "{{event.path}}"}
    await wl.triggers.create("a", payload=path, dedupe_key="{{event.path}}", **about)
    await wl.triggers.create("b", payload=path, condition={"kind": "scan"}, **about)
    await wl.triggers.create("c", payload={"path": "{{event.folder}}"}, **about)

    first = await wl.emit("e", {"path": "/in"})
    again = await wl.emit("e", {"path": "/in"})

    [job] = (await wl.jobs.list()).jobs
    assert (first.jobs, again.jobs) == (1, 0), "what came of it is known at once"
    assert [match.outcome for match in first.matches] == ["created", "unmatched", "failed"]
    created, unmet, failed = (await wl.events.get(first.id)).matches
    assert (created.trigger, created.job_id) == ("a", str(job.id))
    assert unmet.because == 'it does not hold that kind is "scan"'
    assert "event.folder" in failed.because
    assert (again.matches[0].outcome, again.matches[0].job_id) == ("existing", str(job.id))
    assert again.matches[0].because == "an equal job is there: its dedupe key is the same"


async def test_a_dedupe_key_template_must_give_a_valid_key(wl, ingest):
    await wl.triggers.create(
        "t", definition="ingest", event="e", payload={"path": "/"}, dedupe_key="{{event.of}}"
    )

    for of in ("a", "b", 3, ["no", "key"]):
        await wl.emit("e", {"of": of})

    assert len((await wl.jobs.list()).jobs) == 3
    assert "It cannot be a dedupe key" in (await wl.triggers.get("t")).last_error
    with pytest.raises(OptionInvalid, match="dedupe_key"):
        await wl.triggers.update("t", dedupe_key="x" * 192)


async def test_triggers_and_events_can_be_filtered(wl, ingest):
    at_two = {"definition": "ingest", "schedule": "0 2 * * *", "payload": {"path": "/"}}
    await wl.schedules.create("night", **at_two)
    await wl.schedules.create("off", enabled=False, **at_two)
    await wl.triggers.create("e", definition="ingest", event="e", payload={"path": "/"})
    for name in ("e", "f"):
        await wl.emit(name, {}, correlation_id=name)

    async def names(**chosen) -> list[str]:
        return [trigger.name for trigger in await wl.triggers.list(**chosen)]

    assert await names(type="cron", enabled=True) == ["night"]
    assert await names(event="e") == await names(type="event") == ["e"]
    assert await names(definition="ingest", origin="code") == await names(failing=True) == []
    assert [t.name for t in await wl.schedules.list(enabled=False)] == ["off"]
    assert [e.name for e in await wl.events.list(name="f")] == ["f"]
    assert [e.name for e in await wl.events.list(correlation_id="e")] == ["e"]
    with pytest.raises(OptionInvalid, match="colour"):
        await wl.triggers.list(colour="red")


async def test_a_schedule_is_previewed_in_words_and_dates(wl):
    found = await wl.schedules.preview("30 2 * * *", tz="Europe/Berlin", limit=2,
                                       after=datetime(2027, 3, 27, tzinfo=UTC), dedupe_window="2d")  # fmt: skip

    assert (found.words, found.timezone) == ("every day at 02:30 (Europe/Berlin)", "Europe/Berlin")
    assert [run.at.day for run in found.runs] == [27, 28]
    assert any("02:30 is skipped" in warning for warning in found.warnings)
    assert any("swallowed" in warning for warning in found.warnings)
    with pytest.raises(OptionInvalid, match="limit"):
        await wl.schedules.preview(every("15m"), limit=0)


async def test_a_schedule_without_a_zone_uses_the_tenants(wl, ingest):
    await wl.tenants.create("acme", timezone="Asia/Tokyo")
    at_two = {"definition": "ingest", "schedule": "0 2 * * *", "payload": {"path": "/"}}

    of_acme = await wl.schedules.create("a", tenant="acme", **at_two)
    of_default = await wl.schedules.create("b", **at_two)
    own = await wl.schedules.create(
        "c", tenant="acme", **{**at_two, "schedule": cron("0 2 * * *", tz="Europe/Berlin")}
    )
    await wl.tenants.change("acme", timezone="America/New_York", max_open=5)
    later = await wl.schedules.reschedule("a", "0 3 * * *")
    new = await wl.schedules.create("d", tenant="acme", **at_two)

    assert [t.timezone for t in (of_acme, of_default, own)] == [
        "Asia/Tokyo",
        "UTC",
        "Europe/Berlin",
    ]
    assert of_acme.next_run_at.hour == 17
    assert (later.timezone, later.cron) == ("Asia/Tokyo", "0 3 * * *"), "it keeps its zone"
    assert new.timezone == "America/New_York"
    assert (await wl.tenants.get("acme")).max_open == 5
    with pytest.raises(ZoneUnknown):
        await wl.tenants.change("acme", timezone="Tokio")


async def test_an_invalid_schedule_is_named_in_the_error(wl, ingest):
    with pytest.raises(ScheduleInvalid, match=r'"Nightly sync" cannot be saved: "0 2 31 2 .*never'):
        await wl.schedules.create("Nightly sync", definition="ingest", schedule="0 2 31 2 *")


async def test_every_trigger_field_can_be_edited_and_reset(database):
    wl = Windlass(database.url)
    wl.job("report", schedule=cron("0 2 * * *"), overlap="skip")(lambda: None)

    async with wl:
        before = await wl.schedules.get("report")
        edited = await wl.schedules.update(
            "report", name="Report", misfire="all", dedupe_window="1h", delay="5s", max_attempts=7
        )
        moved = await wl.schedules.update("Report", schedule="0 9 * * *")
        reset = await wl.schedules.reset("Report")

    assert (before.overlap, before.edited) == ("skip", ())
    assert edited.edited == (
        "dedupe_window_seconds", "delay_seconds", "max_attempts", "misfire", "name",
    )  # fmt: skip
    assert (edited.next_run_at, edited.max_attempts) == (before.next_run_at, 7)
    assert (moved.next_run_at.hour, "cron" in moved.edited) == (9, True)
    assert (reset.name, reset.cron, reset.misfire, reset.edited) == (
        "report", "0 2 * * *", "fire_once", (),
    )  # fmt: skip


async def test_unedited_trigger_fields_follow_the_code(database):
    def app(expression: str, overlap: str) -> Windlass:
        wl = Windlass(database.url)
        wl.job("report", schedule=cron(expression), overlap=overlap)(lambda: None)
        return wl

    async with app("0 2 * * *", "allow") as wl:
        await wl.schedules.update("report", name="Report", schedule="0 9 * * *")
    async with app("0 4 * * *", "skip") as wl:
        [row] = await wl.schedules.list()

    assert (row.name, row.cron, row.overlap) == ("Report", "0 9 * * *", "skip")


async def test_a_trigger_missing_from_code_does_not_fire_until_it_returns(database):
    def app(**options) -> Windlass:
        wl = Windlass(database.url)
        wl.job("report", **options)(lambda: None)
        return wl

    seen = []
    for options in ({"schedule": every("1h")}, {}, {"schedule": every("1h")}):
        async with app(**options) as wl:
            seen.append((await wl.schedules.get("report")).missing_from_code)

    assert seen == [False, True, False]


async def test_a_schedule_can_be_run_now_without_advancing(wl, ingest):
    before = await wl.schedules.create(
        "nightly", definition="ingest", schedule="0 2 * * *", payload={"path": "/"}
    )

    receipts = [await wl.schedules.run("nightly") for _ in range(2)]

    jobs = [await wl.jobs.get(receipt.job_id) for receipt in receipts]
    assert {job.trigger_id for job in jobs} == {before.id}
    assert len({job.id for job in jobs}) == 2
    assert (await wl.schedules.get("nightly")).next_run_at == before.next_run_at


async def test_a_window_that_skips_runs_causes_a_warning(wl, ingest, caplog):
    about = {"definition": "ingest", "schedule": "* * * * *", "dedupe_window": "5m"}
    await wl.schedules.create("equal", payload={"path": "/"}, **about)
    await wl.schedules.create("each", payload={"path": "{{schedule.due_at}}"}, **about)

    swallowed = [
        [line for line in await wl.schedules.warnings(name) if "swallowed" in line]
        for name in ("equal", "each")
    ]

    assert swallowed == [
        ["Runs that come 1m apart with equal payloads are swallowed by the dedupe window of 5m."],
        [],
    ]
    assert caplog.text.count("are swallowed") == 1


async def test_on_declares_a_job_and_its_trigger(database):
    wl = Windlass(database.url)

    @wl.on("folder.changed", payload={"folder": "{{event.path}}"}, dedupe_window="2m")
    async def resync(folder: str) -> None: ...

    @wl.on("folder.changed", condition={"kind": "scan"}, payload={"path": "{{event.path}}"})
    @wl.job(queue="scans")
    async def scan(path: str) -> None: ...

    @wl.job("pictures.index", queue="pictures")
    @wl.on("folder.removed", name="unindex", delay="30s")
    async def index() -> None: ...

    async with wl:
        await wl.emit("folder.changed", {"path": "/in", "kind": "photo"})
        await wl.emit("folder.changed", {"path": "/in", "kind": "scan"})
        await wl.emit("folder.removed")
        jobs = (await wl.jobs.list()).jobs
        names = [trigger.name for trigger in await wl.triggers.list()]
        definitions = [definition.key for definition in await wl.definitions.list()]

    assert sorted((job.definition, job.queue) for job in jobs) == [
        ("pictures.index", "pictures"), ("resync", "default"), ("scan", "scans"),
    ]  # fmt: skip
    assert names == ["resync on folder.changed", "scan on folder.changed", "unindex"]
    assert definitions == ["pictures.index", "resync", "scan"]


def test_on_works_in_the_blocking_api(database):
    wl = sync.Windlass(database.url)

    @wl.on("said", payload={"word": "{{event.word}}"})
    def hear(word: str) -> None: ...

    with wl:
        wl.emit("said", {"word": "hello"})
        [job] = wl.jobs.list().jobs

        assert wl.jobs.get(job.id).payload == {"word": "hello"}
    assert hear.key == "hear"


async def test_a_new_job_waits_for_open_jobs_of_preceding_definitions(database):
    wl = Windlass(database.url)

    @wl.job("sitemap.generate")
    async def generate() -> None: ...

    @wl.job(after=[generate, "cache.clear"])
    async def indexnow() -> None: ...

    async with wl:
        alone = await indexnow.enqueue()
        await wl.tenants.create("acme")
        first = await generate.enqueue()
        await generate.options(tenant="acme").enqueue()
        waits = await indexnow.enqueue()
        created = [generate.make(), indexnow.make()]
        _, batched = await wl.enqueue_many(created)
        parents = [
            {edge.parent_id for edge in await wl.jobs.family(receipt.job_id)}
            for receipt in (alone, waits, batched)
        ]

    assert indexnow.handler.definition.runs_after == ("sitemap.generate", "cache.clear")
    assert parents == [set(), {first.job_id}, {first.job_id, created[0].id}]


async def test_a_job_starts_at_its_due_time_without_a_tick(database):
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


def test_a_job_in_a_transaction_waits_for_preceding_definitions(database):
    wl = sync.Windlass(database.url)
    generate = wl.job("generate")(lambda: None)
    indexnow = wl.job("indexnow", after=[generate])(lambda: None)

    with wl:
        first = generate.enqueue()
        with caller(database) as owner:
            receipt = indexnow.options(tx=owner.tx).enqueue()
            owner.commit()

        assert [edge.parent_id for edge in wl.jobs.family(receipt.job_id)] == [first.job_id]


def test_an_event_in_a_rolled_back_transaction_is_not_stored(database):
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
