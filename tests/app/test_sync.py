"""The blocking API: the same names and results, and safe in threads and after forks."""

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, closing

import pytest

from tests.support.app_fixtures import async_engine, connect
from windlass import JobContext, Settings, Windlass, sync
from windlass.app import blocking_nouns, nouns
from windlass.app.portal import Portal
from windlass.core.jobs.models import Job, ReceiptStatus
from windlass.core.jobs.states import JobState
from windlass.errors import (
    DuplicateJob,
    JobFailed,
    OptionInvalid,
    PayloadInvalid,
    TransactionUnsupported,
    WorkerNotFound,
)


@pytest.fixture
def wl(database):
    app = sync.Windlass(database.url, settings=Settings())
    yield app
    app.close()


@pytest.fixture
def hello(wl):
    @wl.job
    def hello(name: str) -> str:
        return f"Hello, {name}!"

    return hello


def names(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("awaited", "blocking", "apart"),
    [
        (nouns.JobHandle, blocking_nouns.JobHandle, set()),
        (nouns.AsyncJobs, blocking_nouns.Jobs, set()),
        (nouns.AsyncDefinitions, blocking_nouns.Definitions, set()),
        (nouns.AsyncTenants, blocking_nouns.Tenants, set()),
        (nouns.AsyncWorkers, blocking_nouns.Workers, set()),
        (nouns.AsyncLogs, blocking_nouns.Logs, set()),
        (nouns.AsyncDead, blocking_nouns.Dead, set()),
        (nouns.AsyncEvents, blocking_nouns.Events, set()),
        (nouns.AsyncQueues, blocking_nouns.Queues, set()),
        (nouns.AsyncSchedules, blocking_nouns.Schedules, set()),
        (nouns.AsyncTriggers, blocking_nouns.Triggers, set()),
    ],
)
def test_async_and_blocking_nouns_have_equal_names(awaited, blocking, apart):
    assert names(awaited) - apart == names(blocking)


def test_async_and_blocking_apps_have_equal_names():
    wiring = {"declare", "declare_command", "declare_on", "deliveries", "engine", "handlers"}
    wiring |= {"ready", "results", "using_engine", "work", "worker"}
    elsewhere = {"use_database", "upkeep_once", "url"}  # of the command line

    awaited = names(Windlass) - wiring - elsewhere - {"blocking"}
    assert awaited == names(sync.Windlass) - {"app", "deliver", "of"}


def test_a_verb_keeps_its_documentation_and_its_name(wl):
    assert wl.jobs.cancel.__doc__ == nouns.AsyncJobs.cancel.__doc__
    assert wl.tenants.create.__name__ == "create"
    assert "weight" in inspect.signature(wl.tenants.create).parameters


def test_a_job_is_enqueued_found_and_changed(wl, hello):
    receipt = hello.options(delay="1h", dedupe_key="x").enqueue(name="Ada")

    job = wl.jobs.get(receipt.job_id)
    assert isinstance(job, Job)
    assert (job.payload, job.explain().code) == ({"name": "Ada"}, "due_later")
    assert job.cancel(actor="ada").retry().refresh().state is JobState.QUEUED
    assert [step.to_state for step in wl.jobs.history(job.id)] == ["queued", "canceled", "queued"]
    assert (
        job.update(priority="low").priority == wl.jobs.update(job.id, queue="mail").priority == 200
    )
    assert (wl.jobs.logs(job.id), wl.jobs.attempts(job.id), wl.jobs.family(job.id)) == ([], [], [])
    assert [each.id for each in wl.jobs.list(definition="hello").jobs] == [job.id]
    assert wl.jobs.of("default").find(str(job.id)[-8:]).id == job.id


def test_wrong_arguments_and_duplicates_raise_in_the_caller(wl, hello):
    with pytest.raises(PayloadInvalid):
        hello.enqueue(name=3)
    once = hello.options(dedupe_key="x", on_duplicate="error")
    once.enqueue(name="Ada")

    with pytest.raises(DuplicateJob):
        once.enqueue(name="Ada")
    assert hello("Ada") == "Hello, Ada!"


def test_jobs_are_enqueued_by_key_and_in_bulk(wl, hello):
    progress = []
    by_key = wl.enqueue("hello", {"name": "Ada"}, priority="low")
    created = [hello.make(name=str(n)) for n in range(3)] + [wl.make("hello", {"name": "last"})]

    receipts = wl.enqueue_many(created, progress=lambda done, all: progress.append((done, all)))

    assert wl.jobs.get(by_key.job_id).priority == 200
    assert [receipt.status for receipt in receipts] == [ReceiptStatus.CREATED] * 4
    assert progress == [(4, 4)]


def test_definitions_tenants_and_workers_are_available(wl, hello):
    wl.definitions.disable("hello")
    assert [definition.enabled for definition in wl.definitions.list()] == [False]
    wl.definitions.enable("hello")
    assert wl.definitions.get("hello").enabled
    wl.tenants.create("acme", weight=3)
    assert wl.tenants.get("acme").weight == 3
    assert wl.workers.list() == []
    with pytest.raises(WorkerNotFound):
        wl.workers.drain("web-2:411", actor="ada")


def test_lists_summaries_and_searches_are_available(wl, hello):
    hello.enqueue(name="Ada")

    assert len(wl.jobs.list("definition:hel*").jobs) == 1
    assert wl.jobs.summary().states["queued"] == 1
    assert wl.stats("5m").total.enqueued == 1
    assert wl.logs.search("Ada") == []


def test_a_transaction_is_used_in_its_own_thread(wl, hello, database):
    wl.definitions.list()
    with closing(connect(database)) as connection:
        hello.options(tx=connection).enqueue(name="lost")
        connection.rollback()
        kept = hello.options(tx=connection).enqueue(name="Ada")
        by_key = wl.enqueue("hello", {"name": "Bob"}, tx=connection)
        many = wl.enqueue_many([hello.make(name="Eve"), hello.make(name="Joe")], tx=connection)
        connection.commit()

    expected = {receipt.job_id for receipt in (kept, by_key, *many)}
    assert {job.id for job in wl.jobs.list().jobs} == expected


def test_an_async_transaction_is_refused(wl, hello, database):
    engine = async_engine(database)

    async def attempt():
        async with engine.connect() as connection:
            with pytest.raises(TransactionUnsupported, match="has to be awaited"):
                hello.options(tx=connection).enqueue(name="Ada")
        await engine.dispose()

    asyncio.run(attempt())
    assert wl.jobs.list().jobs == []


def test_invalid_options_are_refused_as_in_the_async_api(hello):
    with pytest.raises(OptionInvalid):
        hello.options(priority="asap").enqueue(name="Ada")


def test_jobs_run_in_the_background_during_the_block(wl, hello):
    @wl.job(max_attempts=1)
    def fail() -> None:
        raise LookupError("gone")

    with wl.running(concurrency=2):
        assert wl.jobs.get(hello.enqueue(name="Ada").job_id).wait("30s") == "Hello, Ada!"
        with pytest.raises(JobFailed, match="gone"):
            wl.jobs.wait(fail.enqueue().job_id, "30s")
    receipt = hello.enqueue(name="Bob")

    assert wl.jobs.get(receipt.job_id).state is JobState.QUEUED


def test_async_and_blocking_handlers_may_use_the_app_they_were_declared_on(wl, hello):
    @wl.job
    def from_a_thread() -> str:
        return str(hello.enqueue(name="thread").job_id)

    @wl.job
    async def from_the_loop(ctx: JobContext) -> str:
        return str(hello.enqueue(name="loop").job_id)

    with wl.running():
        for parent in (from_a_thread, from_the_loop):
            child = wl.jobs.get(parent.enqueue().job_id).wait("30s")
            assert wl.jobs.wait(child, "30s") == f"Hello, {wl.jobs.get(child).payload['name']}!"


def test_lifespan_and_around_hooks_are_shared_with_the_async_app(wl, hello):
    story = []

    @wl.lifespan
    @asynccontextmanager
    async def span():
        story.append("open")
        yield
        story.append("close")

    @wl.around
    @asynccontextmanager
    async def around(ctx: JobContext):
        story.append(ctx.job.definition)
        yield

    with wl.running():
        wl.jobs.wait(hello.enqueue(name="Ada").job_id, "30s")

    assert story == ["open", "hello", "close"]


def test_a_startup_error_is_raised_in_the_caller(wl):
    @wl.lifespan
    @asynccontextmanager
    async def span():
        raise LookupError("no pool")
        yield

    with pytest.raises(LookupError, match="no pool"), wl.running():
        pass


def test_an_app_closes_and_starts_again(database):
    threads = set(threading.enumerate())
    with sync.Windlass(database.url, settings=Settings()) as wl:
        assert wl.jobs.list().jobs == []
        wl.close()
        assert wl.jobs.list().jobs == []
    wl.close()

    left = set(threading.enumerate()) - threads
    assert not [thread for thread in left if thread.name == "windlass"]


def test_threads_share_one_app(wl, hello):
    receipts = []

    def enqueue() -> None:
        receipts.append(hello.enqueue(name=threading.current_thread().name))

    threads = [threading.Thread(target=enqueue) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({receipt.job_id for receipt in receipts}) == 10


async def test_a_call_inside_a_running_loop_blocks_it(wl, hello):
    receipt = hello.enqueue(name="Ada")

    assert (await asyncio.to_thread(wl.jobs.get, receipt.job_id)).id == receipt.job_id


def test_waiting_for_the_own_thread_is_an_error_not_a_deadlock(wl, hello):
    with pytest.raises(RuntimeError, match="from another thread"):
        wl.enqueue_many([hello.make(name="Ada")], progress=lambda *_: wl.jobs.list())


@pytest.fixture
def interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupted_wait_is_canceled_in_the_background(interruptible):
    portal, gone, main = Portal(), threading.Event(), threading.main_thread().ident

    async def wait() -> None:
        # The effect of Ctrl-C, once the main thread waits for this.
        while sys._current_frames()[main].f_code.co_name != "wait":
            pass
        signal.pthread_kill(main, signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()

    with pytest.raises(KeyboardInterrupt):
        portal.run(wait())

    assert gone.wait(10)
    portal.close()


FORKING = """
import os, sys
from windlass import Settings, sync

wl = sync.Windlass(sys.argv[1], settings=Settings())

@wl.job
def hello(name: str) -> None: ...

hello.enqueue(name="before")
for number in range(2):
    if os.fork() == 0:
        hello.enqueue(name=f"child {number}")
        assert len(wl.jobs.list().jobs) >= 2
        os._exit(0)
assert [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)] == [0, 0]
hello.enqueue(name="after")
print(sorted(wl.jobs.get(job.id).payload["name"] for job in wl.jobs.list().jobs))
wl.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_starts_fresh_and_does_not_affect_its_parent(database):
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING, database.url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.stdout.strip(), done.returncode) == (
        "['after', 'before', 'child 0', 'child 1']",
        0,
    ), done.stderr
