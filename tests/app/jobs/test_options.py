"""Options of a single call: `.options(...)` on each database."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from tests.support.app_fixtures import async_engine, connect
from windlass import Settings, Windlass, clock
from windlass.core.jobs.states import JobState
from windlass.errors import OptionInvalid, TransactionUnsupported

HOUR = timedelta(hours=1)


@pytest.fixture
def hello(wl):
    @wl.job(queue="greetings", priority=70, max_attempts=4, timeout="1m")
    def hello(name: str = "Ada") -> str:
        return f"Hello, {name}!"

    return hello


@pytest.fixture
def delivered(wl, hello):
    """The job as it is stored when it is enqueued with some options."""

    async def deliver(**options):
        return await wl.jobs.get((await hello.options(**options).enqueue()).job_id)

    return deliver


async def test_a_delay_makes_a_job_due_later(delivered):
    job = await delivered(delay="1h")

    assert job.due_at - job.created_at == HOUR
    assert job.view(job.created_at) == "scheduled"


async def test_a_time_sets_the_due_time(delivered):
    at = datetime.now(UTC).replace(microsecond=0) + HOUR

    assert (await delivered(at=at)).due_at == at


async def test_a_time_just_past_is_now(delivered):
    at = datetime.now(UTC) - timedelta(seconds=20)

    assert (await delivered(at=at)).state is JobState.QUEUED


async def test_past_times_are_judged_by_the_database_clock(delivered, stored, monkeypatch):
    real = datetime.now(UTC)
    monkeypatch.setattr(clock, "utcnow", lambda: real + 2 * HOUR)

    await delivered(at=real + HOUR)
    with pytest.raises(OptionInvalid, match="from now on"):
        await delivered(at=real - HOUR)

    assert len(await stored()) == 1


@pytest.mark.parametrize(
    ("given", "number"), [("critical", 25), ("high", 50), ("normal", 100), ("low", 200), (3, 3)]
)
async def test_priority_is_a_number_or_a_name(delivered, given, number):
    assert (await delivered(priority=given)).priority == number


async def test_omitted_options_come_from_the_definition(delivered):
    job = await delivered()

    assert (job.queue, job.priority, job.max_attempts) == ("greetings", 70, 4)
    assert (job.timeout_seconds, job.tenant, job.held) == (None, "default", False)


async def test_call_options_override_the_definition(delivered):
    job = await delivered(queue="urgent", max_attempts=1, timeout="90s", expires="2h")

    assert (job.queue, job.max_attempts, job.timeout_seconds) == ("urgent", 1, 90)
    assert job.expires_at - job.created_at == 2 * HOUR


async def test_a_job_records_its_source(delivered):
    job = await delivered(
        correlation_id="request 7",
        source="event",
        source_ref="event 9",
        created_by="ada",
        metadata={"userId": 3, "tags": ["a", "ü"]},
    )

    assert (job.correlation_id, job.source, job.source_ref) == ("request 7", "event", "event 9")
    assert (job.created_by, job.metadata) == ("ada", {"userId": 3, "tags": ["a", "ü"]})


async def test_parents_may_be_given_in_every_form(wl, hello, delivered):
    receipts = [await hello.enqueue() for _ in range(4)]
    job = await wl.jobs.get(receipts[0].job_id)

    child = await delivered(
        after=[job, receipts[1], receipts[2].job_id, str(receipts[3].job_id), receipts[3]]
    )

    assert (child.state, child.waits) == (JobState.PENDING, 4)
    parents = {edge.parent_id for edge in await wl.jobs.family(child.id)}
    assert parents == {receipt.job_id for receipt in receipts}


async def test_a_child_follows_its_parent_failure_policy(wl, hello, delivered):
    parent = await hello.enqueue()
    canceled = await delivered(after=[parent])
    run = await delivered(after=[parent], on_parent_failure="run")
    wait = await delivered(after=[parent], on_parent_failure="wait")

    await wl.jobs.cancel(parent.job_id)

    states = [(await child.refresh()).state for child in (canceled, run, wait)]
    assert states == [JobState.CANCELED, JobState.QUEUED, JobState.PENDING]


async def test_a_child_of_a_completed_parent_is_queued_at_once(wl, hello, delivered):
    parent = await hello.enqueue()
    async with wl.running(queues=["*"]):
        await wl.jobs.wait(parent.job_id, "20s")

    assert (await delivered(after=[parent])).state is JobState.QUEUED


async def test_a_dedupe_window_outlasts_the_job(wl, hello):
    windowed = hello.options(dedupe_key="x", dedupe_window="1h")
    first = await windowed.enqueue()
    await wl.jobs.cancel(first.job_id)

    assert (await windowed.enqueue()).job_id == first.job_id


async def test_options_combine_without_changing_the_original(wl, hello):
    await wl.tenants.create("acme")
    acme_hello = hello.options(tenant="acme")
    urgent = acme_hello.options(priority="high", queue="urgent")

    jobs = [
        await wl.jobs.get((await each.enqueue()).job_id) for each in (hello, acme_hello, urgent)
    ]

    assert [(job.tenant, job.priority) for job in jobs] == [
        ("default", 70),
        ("acme", 70),
        ("acme", 50),
    ]
    assert urgent.key == "hello"


async def test_a_job_in_a_blocking_transaction_exists_once_that_commits(
    wl, hello, database, stored
):
    await wl.ready()
    with closing(connect(database)) as connection:
        joined = hello.options(tx=connection, dedupe_key="x")
        receipt = await joined.enqueue(name="lost")
        connection.rollback()
        assert receipt.created
        assert await stored() == []

        receipt = await joined.enqueue(name="Ada")
        again = await joined.enqueue(name="Ada")
        connection.commit()

    [job] = await stored()
    assert (job.id, again.job_id) == (receipt.job_id, receipt.job_id)


async def test_a_job_in_an_async_session_commits_with_the_callers_rows(wl, hello, database, stored):
    await wl.ready()
    engine = async_engine(database)
    async with AsyncSession(engine) as session:
        await session.execute(text("create table invoices (id integer)"))
        await session.commit()
        for keep in (False, True):
            await session.execute(text("insert into invoices values (1)"))
            receipt = await hello.options(tx=session).enqueue()
            await (session.commit() if keep else session.rollback())
        [count] = (await session.execute(text("select count(*) from invoices"))).one()
    await engine.dispose()

    assert [job.id for job in await stored()] == [receipt.job_id]
    assert count == 1


async def test_a_known_program_may_enqueue_first_in_a_transaction(hello, database, wl):
    await wl.ready()
    restarted = Windlass(database.url, settings=Settings())
    restarted.handlers.add(hello.handler)
    with closing(connect(database)) as connection:
        cursor = connection.cursor()
        cursor.execute("create table invoices (id integer)")
        connection.commit()
        cursor.execute("insert into invoices values (1)")

        receipt = await restarted.enqueue("hello", {"name": "Ada"}, tx=connection)
        connection.commit()

    assert (await restarted.jobs.get(receipt.job_id)).payload == {"name": "Ada"}
    await restarted.close()


async def test_a_transaction_is_refused_where_the_job_would_be_lost(wl, hello, database):
    with closing(connect(database)) as connection:
        with pytest.raises(OptionInvalid, match="enqueue_many"):
            hello.options(tx=connection).make()
    with pytest.raises(OptionInvalid, match="enqueue_many"):
        hello.options(on_duplicate="error").make()
    with pytest.raises(OptionInvalid, match="enqueue_many"):
        await wl.make("hello", {}, on_duplicate="error")


async def test_an_object_that_is_not_a_transaction_is_refused(hello, stored):
    with pytest.raises(TransactionUnsupported):
        await hello.options(tx=object()).enqueue()

    assert await stored() == []


@pytest.mark.database("sqlite")
async def test_the_first_call_on_a_new_file_may_join_the_transaction_that_locked_it(new_database):
    database = new_database("sqlite")
    app = Windlass(database.url, settings=Settings())

    @app.job(max_concurrency=1)
    def hello(name: str) -> None: ...

    with closing(connect(database)) as connection:
        connection.execute("create table invoices (id integer)")
        for keep in (False, True):
            connection.execute("insert into invoices values (1)")
            await hello.options(tx=connection).enqueue(name="Ada")
            receipt = await hello.options(tx=connection).enqueue(name="Bob")
            connection.commit() if keep else connection.rollback()

    async with app.running():
        await app.jobs.wait(receipt.job_id, "30s")
        names = {
            (await app.jobs.get(job.id)).payload["name"] for job in (await app.jobs.list()).jobs
        }
    assert names == {"Ada", "Bob"}
    await app.close()


@pytest.mark.database("sqlite")
async def test_new_code_may_join_the_transaction_that_locked_the_file(new_database):
    database = new_database("sqlite")
    async with Windlass(database.url, settings=Settings()) as old:
        old.job("hello")(lambda: None)
        await old.enqueue("hello")
    app = Windlass(database.url, settings=Settings())

    @app.job(max_concurrency=1, queue="greetings")
    def hello(name: str) -> None: ...

    with closing(connect(database)) as connection:
        connection.execute("begin immediate")
        receipt = await hello.options(tx=connection).enqueue(name="Ada")
        connection.commit()

    assert (await app.jobs.get(receipt.job_id)).queue == "greetings"
    assert (await app.definitions.get("hello")).max_concurrency == 1
    await app.close()
