"""Calls of the public API for a type checker. Checked, never run: see test_typing.py.

A line with `type: ignore` is a mistake that has to be found: mypy reports unused ignores.
"""

from datetime import datetime, timedelta
from typing import Any, assert_type

from windlass import Backoff, Job, JobContext, Receipt, Retry, Snooze, Windlass, sync
from windlass.app import blocking_nouns
from windlass.app.nouns import JobHandle, JobPage
from windlass.core.access.tenant import Tenant
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import Attempt, NewJob
from windlass.core.jobs.states import JobState
from windlass.testing import BlockingTestWindlass, Summary, TestWindlass

wl = Windlass()


@wl.job
def hello(name: str, times: int = 1) -> str:
    return name * times


@wl.job("mail.send", queue="mail", max_attempts=5, timeout="30s", tags=["billing"])
def send(ctx: JobContext, invoice_id: int, locale: str = "en") -> str:
    ctx.log.info("sending", invoice=invoice_id)
    for number in ctx.track([1, 2, 3], note="counting"):
        assert_type(number, int)
    assert_type(ctx.fence, int)
    return locale


@wl.job
async def fetch(ctx: JobContext, url: str) -> bytes:
    await ctx.complete(object())
    return url.encode()


@wl.job(
    isolation="process", memory_limit_mb=512, backoff=Backoff.fixed("3s"), permanent=[ValueError]
)
async def crawl(*, depth: int) -> None: ...


tool = wl.command("tool", ["tool", "{folder}"], payload_schema={}, env=["HOME"], timeout="1h")

wl.command("tool", ["tool"], enviroment=["HOME"])  # type: ignore[call-arg]  # a typo
wl.command("tool", ["tool"], result="xml")  # type: ignore[arg-type]  # not one of the words
wl.job(isolation="fiber")  # type: ignore[call-overload]  # not a kind of isolation
wl.job(retry_on=[ValueError, ConnectionError])
wl.job(retry_on=["ValueError"])  # type: ignore[list-item]  # not a class
Retry("busy", after="5m")
Retry(after=timedelta(minutes=5))
Snooze("5m")
Snooze()  # type: ignore[call-arg]  # for how long
wl.job(max_attemps=3)  # type: ignore[call-overload]  # a typo


async def arguments() -> None:
    assert_type(await hello.enqueue(name="Ada"), Receipt[str])
    assert_type(await hello.enqueue("Ada", 2), Receipt[str])
    await send.enqueue(invoice_id=1)
    await fetch.enqueue(url="x")
    await crawl.enqueue(depth=2)
    assert_type(await tool.options(tenant="acme").enqueue(folder="/in"), Receipt[Any])
    await hello.delay(name="Ada")  # type: ignore[attr-defined]  # another library's
    await hello.enqueue()  # type: ignore[call-arg]  # the name is missing
    await hello.enqueue(nme="Ada")  # type: ignore[call-arg]  # a typo
    await hello.enqueue(name=3)  # type: ignore[arg-type]  # not text
    await send.enqueue(invoice_id="1")  # type: ignore[arg-type]  # not a number
    await send.enqueue(ctx=None, invoice_id=1)  # type: ignore[call-arg]  # the worker's to give
    await fetch.enqueue(uri="x")  # type: ignore[call-arg]  # a typo
    await crawl.enqueue(2)  # type: ignore[call-arg]  # by name only


async def options() -> None:
    acme_hello = hello.options(tenant="acme", delay="2m").options(priority="high", after=[])
    assert_type(await acme_hello.enqueue(name="Ada"), Receipt[str])
    hello.options(delay=timedelta(minutes=2), at=datetime.now(), expires=3.5, tx=object())
    await acme_hello.enqueue(name=3)  # type: ignore[arg-type]  # not text
    hello.options(tennant="acme")  # type: ignore[call-arg]  # a typo
    hello.options(tenant=7)  # type: ignore[arg-type]  # not text
    hello.options(on_duplicate="replace", max_wait="10m", limit_key="acme")
    hello.options(on_duplicate="merge")  # type: ignore[arg-type]  # not one of the words
    hello.options(at="tomorrow")  # type: ignore[arg-type]  # not a datetime


async def results() -> None:
    assert_type(await (await hello.enqueue(name="Ada")).wait("10s"), str)
    assert_type(await (await send.enqueue(invoice_id=1)).wait(timedelta(seconds=1)), str)
    assert_type(await (await fetch.enqueue(url="x")).wait(), bytes)
    assert_type(greet.enqueue(name="Ada").wait("10s"), str)
    number: int = await (await hello.enqueue(name="Ada")).wait()  # type: ignore[assignment]  # text
    await (await hello.enqueue(name="Ada")).wait(number, "10s")  # type: ignore[call-arg]  # one time


async def in_bulk() -> None:
    assert_type(hello.make(name="Ada"), NewJob)
    assert_type(await wl.enqueue_many([hello.make(name="Ada")], tx=None), list[Receipt[Any]])
    assert_type(await wl.make("hello", {"name": "Ada"}, tenant="acme"), NewJob)
    assert_type(await wl.enqueue("hello", {"name": "Ada"}, priority="low"), Receipt[Any])
    hello.make(name=3)  # type: ignore[arg-type]  # not text
    await wl.enqueue("hello", prioritee="low")  # type: ignore[call-arg]  # a typo


async def found() -> None:
    job = await wl.jobs.get("0199c0ffee00")
    assert_type(job, JobHandle)
    assert_type(job.state, JobState)
    assert_type(await job.cancel(actor="ada"), JobHandle)
    assert_type(await wl.jobs.list(states=["queued"]), JobPage)
    assert_type(await wl.tenants.create("acme", weight=2), Tenant)
    for definition in await wl.definitions.list():
        assert_type(definition, Definition)
    for attempt in await wl.jobs.attempts(job.id):
        assert_type(attempt, Attempt)
    result: dict[str, Any] = await job.wait("60s")
    hello.options(after=[job, result["id"]])
    job.stat  # type: ignore[attr-defined]  # noqa: B018  a typo
    await wl.tenants.create("acme", wait=2)  # type: ignore[call-arg]  # a typo
    await wl.jobs.list(state=["queued"])  # type: ignore[call-arg]  # a typo
    async with wl.running(concurrency=100, queues=["mail"]):
        pass


def calls() -> None:
    assert_type(hello("Ada"), str)
    assert_type(hello.blocking.options(tenant="acme").enqueue(name="Ada"), sync.Receipt[str])
    hello.blocking.enqueue(name=3)  # type: ignore[arg-type]  # not text


blocking = sync.Windlass()


@blocking.job
def greet(name: str) -> str:
    return name


@blocking.job(queue="mail")
async def write(ctx: JobContext, to: str) -> None:
    ctx.checkpoint()


def blocked() -> None:
    assert_type(blocking.command("tool", ["tool"]).enqueue(folder="/in"), sync.Receipt[Any])
    assert_type(greet.enqueue(name="Ada"), sync.Receipt[str])
    assert_type(write.options(tenant="acme").enqueue(to="Ada"), sync.Receipt[None])
    assert_type(blocking.enqueue_many([greet.make(name="Ada")]), list[sync.Receipt[Any]])
    assert_type(blocking.enqueue("greet", {"name": "Ada"}, tenant="acme"), sync.Receipt[Any])
    job = blocking.jobs.get("0199c0ffee00")
    assert_type(job, blocking_nouns.JobHandle)
    assert_type(job.retry().refresh().state, JobState)
    assert_type(blocking.jobs.list(queue="mail"), blocking_nouns.JobPage)
    assert_type(blocking.tenants.create("acme", weight=2), Tenant)
    greet.enqueue(nme="Ada")  # type: ignore[call-arg]  # a typo
    write.enqueue(to=3)  # type: ignore[arg-type]  # not text
    blocking.tenants.create("acme", wait=2)  # type: ignore[call-arg]  # a typo
    job.cancel(actor=3)  # type: ignore[arg-type]  # not text
    with blocking.running(concurrency=2):
        pass


async def tested(test: TestWindlass, blocked: BlockingTestWindlass) -> None:
    assert_type(await test.assert_enqueued(hello, name="Ada"), Job)
    assert_type(await test.run_all(through="1h"), Summary)
    assert_type(blocked.run_all(), Summary)
    assert_type(blocked.assert_enqueued(greet, name="Ada"), Job)
    test.travel("2026-03-29 02:30", tz="Europe/Berlin")
