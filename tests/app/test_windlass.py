"""The app's own verbs on each database: enqueue, find, wait, change."""

import asyncio
from collections import Counter

import pytest

from windlass import Settings, Windlass
from windlass.core.jobs.models import ReceiptStatus
from windlass.core.jobs.states import JobState
from windlass.errors import (
    AmbiguousId,
    DefinitionDisabled,
    DefinitionNotFound,
    DuplicateJob,
    JobFailed,
    JobNotFound,
    JobStateConflict,
    OptionInvalid,
    PayloadInvalid,
    TenantNotFound,
    TenantSuspended,
    WaitTimeout,
)


@pytest.fixture
def hello(wl):
    @wl.job
    def hello(name: str, times: int = 1) -> str:
        return f"Hello, {name}! " * times

    return hello


async def test_enqueue_stores_a_job_and_returns_a_receipt(wl, hello):
    receipt = await hello.enqueue(name="Ada")

    assert (receipt.status, receipt.created) == (ReceiptStatus.CREATED, True)
    job = await wl.jobs.get(receipt.job_id)
    assert (job.id, job.definition, job.state) == (receipt.job_id, "hello", JobState.QUEUED)
    assert (job.payload, job.tenant, job.queue) == ({"name": "Ada"}, "default", "default")
    assert (job.priority, job.max_attempts, job.source) == (100, 3, "manual")


async def test_arguments_may_be_positional(wl, hello):
    receipt = await hello.enqueue("Ada", times=2)

    assert (await wl.jobs.get(receipt.job_id)).payload == {"name": "Ada", "times": 2}


async def test_arguments_are_validated_before_anything_is_stored(hello, stored):
    with pytest.raises(PayloadInvalid) as caught:
        await hello.enqueue(name=3, tmies=2)

    assert {error.pointer for error in caught.value.errors} == {"/name", "/tmies"}
    assert await stored() == []


async def test_a_job_declared_after_the_first_call_is_synced(wl, hello):
    await hello.enqueue(name="Ada")

    @wl.job
    def bye(name: str) -> None: ...

    assert (await bye.enqueue(name="Ada")).created


async def test_another_program_enqueues_by_key_without_the_handler(wl, hello, database):
    await wl.ready()
    other = Windlass(database.url, settings=Settings())

    receipt = await other.enqueue("hello", {"name": "Ada"}, priority="high")
    with pytest.raises(PayloadInvalid) as caught:
        await other.enqueue("hello", {"name": "Ada", "times": "twice"})
    await other.close()

    job = await wl.jobs.get(receipt.job_id)
    assert (job.payload, job.priority) == ({"name": "Ada"}, 50)
    assert [error.pointer for error in caught.value.errors] == ["/times"]


async def test_a_key_may_be_enqueued_in_the_program_of_its_handler(wl, hello):
    receipt = await wl.enqueue("hello", {"name": "Ada"})
    created = await wl.make("hello", {"name": "Bob"}, tenant="default")

    [second] = await wl.enqueue_many([created])

    assert (await wl.jobs.get(receipt.job_id)).payload == {"name": "Ada"}
    assert (await wl.jobs.get(second.job_id)).payload == {"name": "Bob"}


async def test_an_unknown_key_suggests_the_nearest(wl, hello):
    with pytest.raises(DefinitionNotFound, match="Did you mean `hello`"):
        await wl.enqueue("helo")


async def test_a_disabled_definition_takes_no_jobs_until_it_is_enabled(wl, hello, stored):
    await wl.definitions.disable("hello")
    with pytest.raises(DefinitionDisabled):
        await hello.enqueue(name="Ada")
    assert await stored() == []

    await wl.definitions.enable("hello")

    assert (await hello.enqueue(name="Ada")).created
    assert [row.key for row in await wl.definitions.list()] == ["hello"]


async def test_a_bulk_enqueue_reports_progress_and_returns_receipts(wl, hello):
    progress = []
    jobs = [hello.make(name=f"number {number}") for number in range(4500)]

    receipts = await wl.enqueue_many(jobs, progress=lambda done, all: progress.append((done, all)))

    assert [receipt.job_id for receipt in receipts] == [job.id for job in jobs]
    assert all(receipt.created for receipt in receipts)
    assert progress == [(2000, 4500), (4000, 4500), (4500, 4500)]


async def test_jobs_of_one_batch_may_depend_on_each_other(wl, hello):
    first = hello.make(name="first")
    second = hello.options(after=[first]).make(name="second")

    receipts = await wl.enqueue_many([first, second])

    states = [(await wl.jobs.get(receipt.job_id)).state for receipt in receipts]
    assert states == [JobState.QUEUED, JobState.PENDING]
    [edge] = await wl.jobs.family(second.id)
    assert (edge.child_id, edge.parent_id) == (second.id, first.id)


async def test_enqueueing_the_same_job_objects_again_is_idempotent(wl, hello, stored):
    jobs = [hello.make(name="Ada"), hello.make(name="Bob")]
    first = await wl.enqueue_many(jobs)

    assert await wl.enqueue_many(jobs) == first

    assert len(await stored()) == 2


async def test_concurrent_single_enqueues_share_a_round_trip(wl, hello, monkeypatch):
    database = (await wl.ready()).storage.database
    statements = Counter()
    run = database.run

    async def counted(verb, /, **params):
        statements[verb] += 1
        return await run(verb, **params)

    monkeypatch.setattr(database, "run", counted)

    receipts = await asyncio.gather(*[hello.enqueue(name=str(n)) for n in range(200)])

    assert len({receipt.job_id for receipt in receipts}) == 200
    assert statements["enqueue"] <= 4


async def test_concurrent_callers_get_their_own_receipts(hello, stored):
    results = await asyncio.gather(
        hello.enqueue(name="Ada"),
        hello.enqueue(name=3),
        hello.options(tenant="nobody").enqueue(name="Bob"),
        hello.options(dedupe_key="x").enqueue(name="Eve"),
        hello.options(dedupe_key="x").enqueue(name="Eve"),
        return_exceptions=True,
    )

    assert results[0].created
    assert isinstance(results[1], PayloadInvalid)
    assert isinstance(results[2], TenantNotFound)
    assert sorted(result.status for result in results[3:]) == ["created", "existing"]
    assert len(await stored()) == 2


async def test_a_duplicate_is_a_receipt_or_an_error_as_requested(wl, hello):
    once = hello.options(dedupe_key="once")
    first = await once.enqueue(name="Ada")

    second = await once.enqueue(name="Ada")
    with pytest.raises(DuplicateJob) as caught:
        await once.options(on_duplicate="error").enqueue(name="Ada")

    assert (second.status, second.job_id) == (ReceiptStatus.EXISTING, first.job_id)
    assert second.because == 'dedupe key "once"'
    assert (caught.value.code, caught.value.existing) == ("WL3304", first.job_id)


async def test_a_definition_may_set_the_duplicate_policy(wl, database):
    @wl.job(dedupe="payload", on_duplicate="error")
    def sync_folder(path: str) -> None: ...

    await sync_folder.enqueue(path="/in")
    other = Windlass(database.url, settings=Settings())

    assert (await sync_folder.enqueue(path="/out")).created
    for again in (sync_folder.enqueue(path="/in"), wl.enqueue("sync_folder", {"path": "/in"})):
        with pytest.raises(DuplicateJob):
            await again
    with pytest.raises(DuplicateJob):
        await other.enqueue("sync_folder", {"path": "/in"})
    await other.close()


async def test_a_duplicate_error_refuses_the_whole_batch(wl, hello, stored):
    await hello.options(dedupe_key="x").enqueue(name="Ada")
    jobs = [hello.make(name="Bob"), hello.options(dedupe_key="x").make(name="Ada")]

    with pytest.raises(DuplicateJob):
        await wl.enqueue_many(jobs, on_duplicate="error")

    assert len(await stored()) == 1


async def test_an_idempotency_key_outlasts_the_job(wl, hello):
    once = hello.options(idempotency_key="request 7")
    first = await once.enqueue(name="Ada")
    await wl.jobs.cancel(first.job_id)

    again = await once.enqueue(name="Ada")

    assert (again.status, again.job_id) == (ReceiptStatus.EXISTING, first.job_id)


async def test_wait_returns_the_result(wl, hello):
    receipt = await hello.enqueue(name="Ada", times=2)

    async with wl.running():
        result = await (await wl.jobs.get(receipt.job_id)).wait("20s")

    assert result == "Hello, Ada! Hello, Ada! "


async def test_wait_raises_the_error_of_a_failed_job(wl):
    @wl.job(max_attempts=1)
    def fail() -> None:
        raise LookupError("no such page")

    receipt = await fail.enqueue()
    async with wl.running():
        with pytest.raises(JobFailed, match="no such page") as caught:
            await (await wl.jobs.get(receipt.job_id)).wait("20s")

    assert (caught.value.state, caught.value.error_type) == ("dead_letter", "LookupError")


async def test_wait_times_out_and_the_job_continues(wl, hello):
    job = await wl.jobs.get((await hello.enqueue(name="Ada")).job_id)

    with pytest.raises(WaitTimeout):
        await job.wait("10ms")

    assert (await job.refresh()).state is JobState.QUEUED


async def test_an_ambiguous_id_suffix_lists_the_jobs(wl, hello, monkeypatch):
    engine = await wl.ready()
    ids = [(await hello.enqueue(name=name)).job_id for name in ("Ada", "Bob")]

    async def both(*_, **__):
        return ids

    monkeypatch.setattr(engine.storage.jobs, "find", both)

    with pytest.raises(AmbiguousId) as caught:
        await wl.jobs.find("abcdef")
    assert caught.value.candidates == tuple(ids)


async def test_jobs_are_filtered_by_state_and_definition_in_pages(wl, hello):
    @wl.job
    def bye() -> None: ...

    for name in ("Ada", "Bob", "Eve"):
        await hello.enqueue(name=name)
    held = await hello.options(hold=True).enqueue(name="Joe")
    await bye.enqueue()

    first = await wl.jobs.list(definition="hello", states=["queued"], limit=2)
    rest = await wl.jobs.list(definition="hello", states=["queued"], limit=2, after=first.next)
    waiting = await wl.jobs.list(states=["waiting"])
    page = await wl.jobs.list('definition:hel* payload.name:"Bob",Joe', states=["queued"])

    assert [(await wl.jobs.get(job.id)).payload["name"] for job in page.jobs] == ["Bob"]
    assert (len(first.jobs), len(rest.jobs), rest.next) == (2, 1, None)
    assert [job.id for job in waiting.jobs] == [held.job_id]
    for wrong in (["asleep"], "queued"):
        with pytest.raises(OptionInvalid, match="states"):
            await wl.jobs.list(states=wrong)


async def test_a_waiting_job_is_canceled_retried_and_run_now(wl, hello):
    job = await wl.jobs.get((await hello.options(delay="1h").enqueue(name="Ada")).job_id)
    assert (await job.explain()).code == "due_later"

    canceled = await job.cancel(actor="ada", reason="not today")
    again = await canceled.retry(actor="ada")

    assert (canceled.state, canceled.reason) == (JobState.CANCELED, "not today")
    assert (again.state, again.attempts) == (JobState.QUEUED, 0)
    steps = [(step.to_state, step.actor) for step in await wl.jobs.history(job.id)]
    assert steps == [("queued", None), ("canceled", "ada"), ("queued", "ada")]
    await again.cancel()
    with pytest.raises(JobStateConflict, match="cannot be run now: it was canceled"):
        await wl.jobs.run_now(job.id)


async def test_a_held_job_runs_when_released(wl, hello):
    held = await wl.jobs.get((await hello.options(hold=True).enqueue(name="Ada")).job_id)
    assert (held.state, (await held.explain()).code) == (JobState.PENDING, "held")

    assert (await wl.jobs.run_now(held.id)).state is JobState.QUEUED


async def test_a_dead_lettered_job_can_be_discarded(wl):
    @wl.job(max_attempts=1)
    async def fail() -> None:
        raise ValueError

    receipt = await fail.enqueue()
    async with wl.running():
        with pytest.raises(JobFailed):
            await wl.jobs.wait(receipt.job_id, "20s")

    assert [attempt.outcome for attempt in await wl.jobs.attempts(receipt.job_id)] == ["failed"]
    await wl.jobs.discard(receipt.job_id)
    with pytest.raises(JobNotFound):
        await wl.jobs.get(receipt.job_id)


async def test_one_tenants_view_shows_no_other_tenant(wl, hello):
    await wl.tenants.create("acme", name="Acme", weight=2)
    receipt = await hello.options(tenant="acme").enqueue(name="Ada")
    await hello.enqueue(name="Bob")

    seen = await wl.jobs.of("acme").list()

    assert [job.id for job in seen.jobs] == [receipt.job_id]
    for verb in (wl.jobs.of("default").get, wl.jobs.of("default").cancel):
        with pytest.raises(JobNotFound):
            await verb(receipt.job_id)


async def test_a_suspended_or_unknown_tenant_takes_no_jobs(wl, hello, stored):
    acme_hello = hello.options(tenant="acme")
    with pytest.raises(TenantNotFound):
        await acme_hello.enqueue(name="Ada")
    await wl.tenants.create("acme")
    await wl.tenants.suspend("acme")
    with pytest.raises(TenantSuspended):
        await acme_hello.enqueue(name="Ada")
    assert await stored() == []

    await wl.tenants.resume("acme")

    receipt = await acme_hello.enqueue(name="Ada")
    with pytest.raises(OptionInvalid, match="state"):
        await wl.tenants.change("acme", state="deleted")
    assert await wl.tenants.delete("acme") == 1
    with pytest.raises(TenantNotFound):
        await wl.tenants.change("acme", weight=2)
    assert (await wl.jobs.get(receipt.job_id)).state is JobState.DEAD_LETTER
    assert [tenant.id for tenant in await wl.tenants.list()] == ["default", "system"]


async def test_an_app_closes_and_opens_again(wl, hello, database):
    async with Windlass(database.url, settings=Settings()) as other:
        receipt = await hello.enqueue(name="Ada")
        await wl.close()

        assert (await wl.jobs.get(receipt.job_id)).payload == {"name": "Ada"}
        assert await wl.workers.list() == []
        assert len((await other.jobs.list()).jobs) == 1


async def test_each_event_loop_has_its_own_connections(wl, hello):
    first = await hello.enqueue(name="Ada")

    def elsewhere() -> object:
        async def enqueue() -> object:
            async with wl:
                return await hello.enqueue(name="Bob")

        return asyncio.run(enqueue())

    second = await asyncio.to_thread(elsewhere)

    assert {job.id for job in (await wl.jobs.list()).jobs} == {first.job_id, second.job_id}


async def test_summary_stats_and_log_search_return_what_happened(wl, hello):
    await hello.enqueue(name="Ada")
    await hello.options(delay="1h").enqueue(name="Bob")

    summary = await wl.jobs.summary()
    foreign = await wl.jobs.of("acme").summary()
    stats = await wl.stats("5m", definition="hello")

    assert (summary.states["queued"], summary.views["scheduled"].number) == (2, 1)
    assert summary.oldest_age is not None
    assert foreign.states["queued"] == 0
    assert stats.total.enqueued == 2
    assert await wl.logs.search("nothing", definition="hello", since="-1h") == []


async def test_a_waiting_job_is_updated_and_an_ended_one_is_not(wl, hello):
    job = await wl.jobs.get((await hello.enqueue(name="Ada")).job_id)

    changed = await job.update(priority="high", queue="mail", actor="ada")
    put_off = await wl.jobs.update(job.id, delay="1h", metadata={"team": "a"})
    await changed.cancel()

    assert (changed.priority, changed.queue) == (50, "mail")
    assert (put_off.metadata, put_off.due_at > changed.due_at) == ({"team": "a"}, True)
    with pytest.raises(JobStateConflict, match="cannot be changed: it was canceled"):
        await wl.jobs.update(job.id, priority=1)
    with pytest.raises(OptionInvalid, match="at least one of"):
        await wl.jobs.update(job.id)


async def test_listed_jobs_name_fields_not_loaded_and_have_verbs(wl, hello):
    await hello.enqueue(name="Ada")
    [listed] = (await wl.jobs.list()).jobs

    assert (repr(listed.payload), repr(listed.result)) == ("not loaded", "not loaded")
    assert not listed.result
    with pytest.raises(LookupError, match="refresh"):
        listed.payload["name"]
    assert (await listed.refresh()).payload["name"] == "Ada"
    assert (await listed.cancel()).state == "canceled"
    assert (await listed.retry()).state == "queued"
    [blocking] = wl.blocking.jobs.list().jobs
    assert repr(blocking.payload) == "not loaded"
    assert blocking.cancel().state == "canceled"
    wl.blocking.close()
