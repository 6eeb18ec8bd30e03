"""Limits, caps, debounce and pauses, set in code and by operators, on each database."""

from datetime import timedelta

import pytest

from tests.support.app_fixtures import connect
from tests.support.wait import until
from windlass.errors import (
    DefinitionInvalid,
    OptionInvalid,
    TenantNotFound,
)


def greet(name: str) -> str:
    return f"Hello, {name}"


@pytest.fixture
def hello(wl):
    @wl.job
    def hello(name: str = "you") -> str:
        return f"Hello, {name}"

    return hello


async def test_a_limit_key_is_read_from_the_payload(wl):
    @wl.job(key="args.account_id", max_per_key=1)
    def sync_account(account_id: int) -> int:
        return account_id

    await wl.enqueue_many([sync_account.make(account_id=n % 2) for n in range(6)])

    engine = await wl.ready()
    claimed = await engine.leases().claim(
        "w", 10, queues=None, known=["sync_account"], lease_time=timedelta(seconds=30)
    )

    assert sorted(lease.payload for lease in claimed.leases) == [
        '{"account_id":0}',
        '{"account_id":1}',
    ]


async def test_a_limit_key_alone_allows_one_job_at_a_time(wl):
    @wl.job(key="args.n")
    def job(n: int) -> None: ...

    assert job.handler.definition.max_per_key == 1


@pytest.mark.parametrize(
    "options",
    [
        {"max_per_key": 2},
        {"key": "name"},
        {"key": "args."},
        {"key": "args.nmae"},
        {"rate_limit": "x"},
    ],
)
def test_an_invalid_limit_is_refused_at_declaration(wl, options):
    with pytest.raises((DefinitionInvalid, OptionInvalid)):
        wl.job("bad", **options)(greet)


async def test_a_tenant_at_its_cap_gets_rejected_receipts_and_keeps_its_jobs(wl, hello):
    await wl.tenants.create("acme", max_open=3)
    acme_hello = hello.options(tenant="acme")

    receipts = [await acme_hello.enqueue() for _ in range(3)]
    over = await acme_hello.enqueue()
    many = await wl.enqueue_many([acme_hello.make(), hello.make()])

    assert [receipt.status for receipt in receipts] == ["created"] * 3
    assert (over.status, over.because) == (
        "rejected",
        "tenant acme may have 3 open jobs, and has them",
    )
    assert [receipt.status for receipt in many] == ["rejected", "created"]
    await wl.jobs.cancel(receipts[0].job_id)
    assert (await acme_hello.enqueue()).created


async def test_a_batch_is_stored_up_to_the_cap(wl, hello):
    await wl.tenants.create("acme", max_open=5)

    receipts = await wl.enqueue_many([hello.options(tenant="acme").make() for _ in range(8)])

    assert [receipt.status for receipt in receipts] == ["created"] * 5 + ["rejected"] * 3


async def test_duplicates_and_replaces_are_allowed_at_the_cap(wl, hello):
    await wl.tenants.create("acme", max_open=2)
    acme_hello = hello.options(tenant="acme")
    keyed, once = (
        acme_hello.options(dedupe_key="7", delay="1h"),
        acme_hello.options(idempotency_key="i"),
    )
    waiting, done = await keyed.enqueue(), await once.enqueue()

    duplicate = await keyed.enqueue()
    repeated = await once.enqueue()
    newer = await keyed.options(on_duplicate="replace").enqueue(name="Ada")
    other = await acme_hello.options(dedupe_key="8").enqueue()

    assert (duplicate.status, duplicate.job_id) == ("existing", waiting.job_id)
    assert (repeated.status, repeated.job_id) == ("existing", done.job_id)
    assert (newer.status, newer.job_id) == ("existing", waiting.job_id)
    assert (await wl.jobs.get(waiting.job_id)).payload == {"name": "Ada"}
    assert other.status == "rejected"


async def test_a_repeat_of_a_stored_job_is_not_rejected(wl, hello):
    await wl.tenants.create("acme", max_open=1)
    created = hello.options(tenant="acme").make()

    first = await wl.enqueue_many([created])
    again = await wl.enqueue_many([created])

    assert [receipt.status for receipt in first + again] == ["created", "created"]


async def test_a_refused_batch_replaces_nothing(wl, hello):
    first = await hello.options(dedupe_key="7", delay="1h").enqueue(name="old")

    with pytest.raises(TenantNotFound):
        await wl.enqueue_many(
            [
                hello.options(dedupe_key="7", delay="1h").make(name="new"),
                hello.options(tenant="nobody").make(),
            ],
            on_duplicate="replace",
        )

    assert (await wl.jobs.get(first.job_id)).payload == {"name": "old"}


async def test_a_debounced_job_runs_once_with_the_newest_payload(wl):
    ran = []

    @wl.job
    def index(n: int) -> None:
        ran.append(n)

    put_off = index.options(dedupe_key="7", delay="200ms", on_duplicate="replace", max_wait="1m")
    receipts = [await put_off.enqueue(n) for n in range(5)]

    async with wl.running():
        await until(lambda: one_done(wl))

    assert [receipt.status for receipt in receipts] == ["created"] + ["existing"] * 4
    assert ran == [4]


async def test_a_replace_is_part_of_the_callers_transaction(wl, database):
    @wl.job
    def index(n: int) -> None: ...

    first = await index.options(dedupe_key="7", delay="1h").enqueue(1)
    with connect(database) as connection:
        newer = index.options(dedupe_key="7", delay="1h", on_duplicate="replace")
        await newer.options(tx=connection).enqueue(2)
        connection.rollback()

    assert (await wl.jobs.get(first.job_id)).payload == {"n": 1}


async def test_an_idempotency_key_cannot_be_combined_with_replace(wl, hello):
    with pytest.raises(OptionInvalid):
        await hello.options(idempotency_key="x", on_duplicate="replace").enqueue()


async def test_a_queue_is_paused_with_a_reason_and_explained(wl, hello):
    receipt = await hello.options(queue="mail").enqueue()

    await wl.queues.pause("mail", reason="the relay is down", actor="ada")
    explanation = await wl.jobs.explain(receipt.job_id)
    [queue] = [q for q in await wl.queues.list() if q.name == "mail"]
    await wl.queues.resume("mail")

    assert explanation.code == "queue_paused"
    assert "by ada: the relay is down" in explanation.sentence
    assert (queue.pause_reason, queue.paused_at is not None) == ("the relay is down", True)
    assert (await wl.queues.get("mail")).paused_at is None


async def test_a_full_rate_is_explained(wl):
    @wl.job(rate_limit="1/h")
    def seldom() -> None: ...

    await wl.enqueue_many([seldom.make(), seldom.make()])
    async with wl.running():
        await until(lambda: one_done(wl))
        [waiting] = (await wl.jobs.list(states=["queued"])).jobs
        explanation = await wl.jobs.explain(waiting.id)

    assert explanation.code == "rate_full"


async def one_done(wl):
    return (await wl.jobs.list(states=["completed"])).jobs
