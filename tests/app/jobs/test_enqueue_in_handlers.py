"""Jobs and events created in a handler inherit its job's tenant and correlation id."""

import asyncio
from dataclasses import replace

import pytest

from tests.support.app_fixtures import async_engine, connect
from tests.support.processes.process_handlers import elsewhere
from tests.support.servers.api_server import serving
from windlass import JobContext
from windlass.cli.connect.server_address import ServerAddress
from windlass.cli.run.run_remote_worker import work_for
from windlass.worker.options import WorkerOptions

ACME, OTHER = "acme", "other"


@pytest.fixture
async def child(wl):
    @wl.job
    async def child(number: int = 0) -> None: ...

    wl.handlers.add(elsewhere.handlers["process.enqueue"])
    await wl.ready()
    await wl.tenants.create(ACME)
    await wl.tenants.create(OTHER)
    yield child
    await asyncio.to_thread(wl.blocking.close)


@pytest.fixture
def parent(wl, child, ended):
    """Run a job of the tenant `acme` with this handler; gives the job as it ended."""

    async def run(handler, **options):
        declared = wl.job("parent", max_attempts=1)(handler)
        job = await ended(await declared.options(tenant=ACME, **options).enqueue())
        assert job.state == "completed", job.last_error
        return job

    return run


async def children(wl):
    jobs = (await wl.jobs.list(definition="child")).jobs
    return [await wl.jobs.get(job.id) for job in jobs]


def awaited_ways(wl, child):
    async def many():
        [receipt] = await wl.enqueue_many([child.make()])
        return receipt

    async def many_by_key():
        [receipt] = await wl.enqueue_many([await wl.make("child")])
        return receipt

    async def in_a_task():
        return await asyncio.create_task(child.enqueue())

    async def in_a_thread():
        return await asyncio.to_thread(child.blocking.enqueue)

    return {
        "declared": child.enqueue,
        "options": child.options(priority="high").enqueue,
        "by key": lambda: wl.enqueue("child"),
        "many": many,
        "many by key": many_by_key,
        "task": in_a_task,
        "thread": in_a_thread,
    }


def blocking_ways(wl, child):
    return {
        "declared": child.blocking.enqueue,
        "options": child.options(priority="high").blocking.enqueue,
        "by key": lambda: wl.blocking.enqueue("child"),
        "many": lambda: wl.blocking.enqueue_many([child.make()])[0],
        "many by key": lambda: wl.blocking.enqueue_many([wl.blocking.make("child")])[0],
    }


@pytest.mark.parametrize(
    "way", ["declared", "options", "by key", "many", "many by key", "task", "thread"]
)
async def test_an_async_handler_enqueues_for_its_own_tenant(wl, child, parent, way):
    enqueue = awaited_ways(wl, child)[way]

    async def handler() -> None:
        await enqueue()

    job = await parent(handler, correlation_id="order-17")

    [created] = await children(wl)
    assert (created.tenant, created.correlation_id) == (ACME, "order-17")
    assert job.correlation_id == "order-17"


@pytest.mark.parametrize("way", ["declared", "options", "by key", "many", "many by key"])
async def test_a_blocking_handler_enqueues_for_its_own_tenant(wl, child, parent, way):
    enqueue = blocking_ways(wl, child)[way]

    def handler() -> None:
        enqueue()

    await parent(handler, correlation_id="order-17")

    [created] = await children(wl)
    assert (created.tenant, created.correlation_id) == (ACME, "order-17")


async def test_a_process_isolated_handler_enqueues_for_its_own_tenant(wl, child, ended, database):
    receipt = await wl.enqueue(
        "process.enqueue", {"url": database.url}, tenant=ACME, correlation_id="order-17"
    )
    job = await ended(receipt)

    assert job.state == "completed", job.last_error
    [created] = await children(wl)
    assert (created.tenant, created.correlation_id) == (ACME, "order-17")
    [event] = await wl.events.list()
    assert (event.tenant, event.correlation_id) == (ACME, "order-17")


async def test_a_handler_of_an_http_worker_enqueues_for_its_own_tenant(wl, child, database):
    @wl.job("parent", max_attempts=1)
    async def parent() -> None:
        await child.enqueue()

    await parent.options(tenant=ACME, correlation_id="order-17").enqueue()
    options = replace(WorkerOptions.of(wl.settings), drain=True)
    with serving(database.url) as url:
        await work_for(ServerAddress(url), wl, options, lambda worker: None)

    [created] = await children(wl)
    assert (created.tenant, created.correlation_id) == (ACME, "order-17")


async def test_a_job_enqueued_in_a_handlers_transaction_belongs_to_its_tenant(
    wl, child, parent, database
):
    def blocking() -> None:
        connection = connect(database)
        child.options(tx=connection).blocking.enqueue(number=1)
        wl.blocking.emit("happened", tx=connection)
        connection.commit()
        connection.close()

    async def awaited() -> None:
        engine = async_engine(database)
        async with engine.begin() as connection:
            await child.options(tx=connection).enqueue(number=2)
            await wl.emit("happened", tx=connection)
        await engine.dispose()

    for handler in (blocking, awaited):
        await parent(handler, correlation_id="order-17")
        wl.handlers.forget("parent")

    created = [*await children(wl), *await wl.events.list()]
    assert [(each.tenant, each.correlation_id) for each in created] == [(ACME, "order-17")] * 4


async def test_a_job_without_a_correlation_id_gives_its_own_id(wl, child, parent):
    async def handler() -> None:
        await child.enqueue()
        await wl.emit("happened")

    job = await parent(handler)

    [created] = await children(wl)
    [event] = await wl.events.list()
    assert created.correlation_id == event.correlation_id == str(job.id)


async def test_opting_out_of_the_inherited_tenant_or_correlation_id_is_explicit(wl, child, parent):
    async def handler() -> None:
        await child.options(tenant=OTHER).enqueue()
        await child.options(correlation_id="another").enqueue()
        await wl.emit("happened", tenant=OTHER, correlation_id="another")

    await parent(handler, correlation_id="order-17")

    created = {(job.tenant, job.correlation_id) for job in await children(wl)}
    assert created == {(OTHER, "order-17"), (ACME, "another")}
    [event] = await wl.events.list()
    assert (event.tenant, event.correlation_id) == (OTHER, "another")


async def test_an_emitted_event_fires_the_triggers_of_its_own_tenant(wl, child, parent):
    for tenant in (ACME, OTHER, "default"):
        await wl.triggers.create("t", definition="child", tenant=tenant, event="happened")

    async def handler() -> None:
        await wl.emit("happened")

    await parent(handler)

    assert [job.tenant for job in await children(wl)] == [ACME]


async def test_concurrent_attempts_keep_their_own_tenants(wl, child):
    both, tenants = asyncio.Event(), []

    @wl.job(max_attempts=1)
    async def parent(ctx: JobContext) -> None:
        tenants.append(ctx.job.tenant)
        child.make()  # so that what is kept of the last call is the other tenant's for one of them
        if len(tenants) == 2:
            both.set()
        await both.wait()
        await child.enqueue()

    receipts = [await parent.options(tenant=each).enqueue() for each in (ACME, OTHER)]
    async with wl.running():
        for receipt in receipts:
            await wl.jobs.wait(receipt.job_id, "30s")

    created = {(job.tenant, job.correlation_id) for job in await children(wl)}
    assert created == {
        (tenant, str(receipt.job_id))
        for tenant, receipt in zip((ACME, OTHER), receipts, strict=True)
    }


async def test_nothing_is_inherited_outside_of_jobs(wl, child, parent):
    async def handler() -> None:
        await child.enqueue()

    await parent(handler)
    receipt = await child.enqueue()

    created = await wl.jobs.get(receipt.job_id)
    assert (created.tenant, created.correlation_id) == ("default", None)


async def test_limit_keys_of_children_count_for_the_jobs_tenant(wl, child, parent):
    @wl.job("limited", max_per_key=1, key="args.account")
    async def limited(account: str) -> None: ...

    async def handler() -> None:
        await limited.options(delay="1h").enqueue(account="a")

    await parent(handler)
    explicit = await limited.options(tenant=ACME, delay="1h").enqueue(account="a")
    elsewhere_made = await limited.options(delay="1h").enqueue(account="a")

    jobs = (await wl.jobs.list(definition="limited")).jobs
    gates = {str(job.id): (await wl.jobs.get(job.id)).gate for job in jobs}
    other = gates.pop(str(elsewhere_made.job_id))
    assert len(set(gates.values())) == 1
    assert str(explicit.job_id) in gates
    assert other not in gates.values()
