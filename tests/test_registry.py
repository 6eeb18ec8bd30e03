"""Definitions as operators steer them, and payloads of older code, on each database."""

from datetime import timedelta

import pytest

from tests.apps import connect
from tests.waiting import until
from windlass import Backoff, Windlass, sync
from windlass.errors import (
    DefinitionDisabled,
    DefinitionExists,
    DefinitionInUse,
    DefinitionInvalid,
    DefinitionNotFound,
    OptionInvalid,
    TenantNotFound,
)
from windlass.settings import Settings

CALLED: list[object] = []


def greet(name: str) -> str:
    """A function that a definition's row may name by its path."""
    CALLED.append(name)
    return f"Hello, {name}"


@pytest.fixture
def hello(wl):
    @wl.job(max_attempts=3, tags=["greeting"])
    def hello(name: str = "you") -> str:
        return f"Hello, {name}"

    return hello


async def test_an_edit_takes_effect_says_so_and_is_reset(wl, hello):
    await wl.ready()

    edited = await wl.definitions.edit("hello", max_attempts=7, priority="high", timeout="9s")
    receipt = await hello.enqueue()
    back = await wl.definitions.reset("hello")

    job = await wl.jobs.get(receipt.job_id)
    assert edited.edited == ("priority", "max_attempts", "timeout_seconds")
    assert (job.max_attempts, job.priority) == (7, 50)
    assert (back.edited, back.max_attempts, back.priority) == ((), 3, 100)


async def test_one_edit_is_reset_and_the_others_stay(wl, hello):
    await wl.ready()
    await wl.definitions.edit("hello", rate_limit="100/min", max_attempts=7)

    left = await wl.definitions.reset("hello", "rate_limit")

    assert left.edited == ("max_attempts",)
    assert left.rate_count is None


async def test_what_a_call_says_wins_over_an_edit(wl, hello):
    await wl.ready()
    await wl.definitions.edit("hello", max_attempts=7)

    receipt = await hello.options(max_attempts=2).enqueue()

    assert (await wl.jobs.get(receipt.job_id)).max_attempts == 2


async def test_another_program_that_enqueues_by_key_heeds_the_edit(wl, hello, database):
    await wl.ready()
    await wl.definitions.edit("hello", max_attempts=7)

    async with Windlass(database.url) as other:
        receipt = await other.enqueue("hello", {"name": "Ada"})
        job = await other.jobs.get(receipt.job_id)

    assert job.max_attempts == 7


async def test_a_worker_heeds_an_edited_backoff_and_time_limit(wl):
    @wl.job(max_attempts=2, backoff=Backoff(kind="fixed", base=3600))
    def fails() -> None:
        raise ValueError("no")

    await wl.ready()
    await wl.definitions.edit("fails", backoff=Backoff(kind="none"))
    receipt = await fails.enqueue()

    async with wl.running():
        await until(lambda: ended(wl, receipt))

    job = await wl.jobs.get(receipt.job_id)
    assert (job.state, job.attempts) == ("dead_letter", 2)


@pytest.mark.parametrize(
    "change",
    [
        {"max_attempts": 0},
        {"priority": "urgent"},
        {"rate_limit": "many"},
        {"queue": "mail"},
        {"max_concurrency": 0},
        {"timeout": "0s"},
        {"tags": "vip"},
        {"enabled": "yes"},
    ],
)
async def test_an_edit_that_cannot_be_is_refused_and_changes_nothing(wl, hello, change):
    await wl.ready()

    with pytest.raises(OptionInvalid):
        await wl.definitions.edit("hello", **change)

    assert (await wl.definitions.get("hello")).edited == ()


async def test_a_definition_gone_from_the_code_is_told_and_comes_back(database):
    async with Windlass(database.url) as before:
        before.job(greet)
        before.job("other")(lambda: None)
        await before.definitions.sync()
    async with Windlass(database.url) as after:
        after.job("other")(lambda: None)
        gone = await after.definitions.sync()
        row = await after.definitions.get("greet")
    async with Windlass(database.url) as again:
        again.job(greet)
        again.job("other")(lambda: None)
        await again.definitions.sync()
        back = await again.definitions.get("greet")

    assert gone == {"greet"}
    assert (row.missing_from_code, back.missing_from_code) == (True, False)


async def test_definitions_of_windlass_itself_are_shown_when_asked_for(wl, hello):
    wl.job("own.chore", system=True)(lambda: None)

    shown = {definition.key for definition in await wl.definitions.list()}
    every_one = {definition.key for definition in await wl.definitions.list(system=True)}

    assert "own.chore" not in shown
    assert {"own.chore", "hello"} <= every_one


async def test_own_fields_of_a_definition_are_kept_and_edited(wl):
    wl.job("billing", metadata={"team": "billing", "sla": "4h"})(lambda: None)
    await wl.ready()

    edited = await wl.definitions.edit("billing", metadata={"team": "payments"})

    assert edited.metadata == {"team": "payments"}
    assert (await wl.definitions.reset("billing")).metadata == {"team": "billing", "sla": "4h"}


async def test_a_definition_declared_disabled_takes_no_jobs_until_it_is_enabled(wl):
    job = wl.job("dormant", enabled=False)(lambda: None)

    with pytest.raises(DefinitionDisabled):
        await job.enqueue()
    await wl.definitions.enable("dormant")

    assert (await job.enqueue()).created


async def test_a_definition_in_use_cannot_be_deleted(wl, hello):
    await hello.enqueue()

    with pytest.raises(DefinitionInUse):
        await wl.definitions.delete("hello")
    with pytest.raises(DefinitionNotFound):
        await wl.definitions.delete("nobody")


# Payloads of older versions


async def test_an_old_payload_is_brought_up_step_by_step_before_it_runs(database):
    async with Windlass(database.url) as old:

        @old.job("greet")
        def greet_v1(name: str) -> str:
            return name

        first = await greet_v1.enqueue(name="Ada Lovelace")

    async with Windlass(database.url) as new:

        @new.job("greet", version=3)
        def greet_v3(first: str, last: str, title: str) -> str:
            return f"{title} {first} {last}"

        @greet_v3.upcast(from_version=1)
        def split(payload):
            first, last = payload["name"].split()
            return {"first": first, "last": last}

        @greet_v3.upcast(from_version=2)
        def entitle(payload):
            return {**payload, "title": "Countess"}

        second = await greet_v3.enqueue(first="Grace", last="Hopper", title="Admiral")
        async with new.running():
            results = [await (await new.jobs.get(r.job_id)).wait("20s") for r in (first, second)]

    assert results == ["Countess Ada Lovelace", "Admiral Grace Hopper"]


async def test_a_worker_of_older_code_never_claims_a_payload_of_newer_code(database):
    async with Windlass(database.url) as new:
        newer = await new.job("greet", version=2)(greet).enqueue(name="new")
    async with Windlass(database.url) as old:
        older = await old.job("greet")(greet).enqueue(name="old")
        async with old.running():
            assert await (await old.jobs.get(older.job_id)).wait("20s") == "Hello, old"
            told = await old.jobs.explain(newer.job_id)
        waits = await old.jobs.get(newer.job_id)

    assert (waits.state, waits.attempts) == ("queued", 0)
    assert told.code == "unknown_to_workers"
    assert "version 2" in told.sentence


def test_an_upcast_from_a_version_that_is_not_older_is_refused(wl, hello):
    with pytest.raises(DefinitionInvalid, match="version 1"):
        hello.upcast(from_version=1)(lambda payload: payload)


# Handlers by path


def allowing(*prefixes):
    return Settings.load({"worker.handler_paths": prefixes})


async def test_a_definition_made_by_an_operator_runs_the_function_at_its_path(database):
    CALLED.clear()
    async with Windlass(database.url, settings=allowing("tests")) as wl:
        made = await wl.definitions.create(
            "greet.by.path", path="tests.test_registry.greet", title="Greet", max_attempts=2
        )
        receipt = await wl.enqueue("greet.by.path", {"name": "Ada"})
        async with wl.running():
            result = await (await wl.jobs.get(receipt.job_id)).wait("20s")

    assert (made.kind, made.origin, made.max_attempts) == ("path", "operator", 2)
    assert (result, CALLED) == ("Hello, Ada", ["Ada"])


@pytest.mark.parametrize(
    ("prefix", "path", "why"),
    [
        ("shop", "tests.test_registry.greet", "under none of the prefixes"),
        ("test", "tests.test_registry.greet", "under none of the prefixes"),
        ("tests", "tests.test_registry.nobody", "there is no nobody"),
        ("tests", "tests.nowhere.greet", "No module named"),
        ("tests", "tests.test_registry.CALLED", "is no function"),
        ("tests", "tests.test_registry.timedelta", "only imported there"),
        ("tests", "tests.test_registry.connect.__globals__", "No module named"),
        ("tests", "tests.test_registry:greet", "no dotted path"),
    ],
)
async def test_a_path_that_cannot_be_resolved_is_never_claimed_and_tells_why(
    database, prefix, path, why
):
    async with Windlass(database.url, settings=allowing(prefix)) as wl:
        await wl.definitions.create("lost", path=path)
        receipt = await wl.enqueue("lost", {})
        async with wl.running():
            await until(lambda: seen(wl))
            explanation = await wl.jobs.explain(receipt.job_id)
        job = await wl.jobs.get(receipt.job_id)

    assert (job.state, job.attempts) == ("queued", 0)
    assert explanation.code == "unknown_to_workers"
    assert why in explanation.sentence


async def test_a_key_is_the_name_of_one_definition(wl, hello):
    await wl.ready()

    with pytest.raises(DefinitionExists):
        await wl.definitions.create("hello", path="shop.hello")


# Limits as they are declared


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


async def test_a_key_alone_lets_one_job_of_it_run_at_a_time(wl):
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
def test_a_limit_that_cannot_work_is_refused_when_it_is_declared(wl, options):
    with pytest.raises((DefinitionInvalid, OptionInvalid)):
        wl.job("bad", **options)(greet)


async def test_a_tenant_at_its_cap_is_told_so_and_keeps_what_it_has(wl, hello):
    await wl.tenants.create("acme", max_open=3)
    theirs = hello.options(tenant="acme")

    receipts = [await theirs.enqueue() for _ in range(3)]
    over = await theirs.enqueue()
    many = await wl.enqueue_many([theirs.make(), hello.make()])

    assert [receipt.status for receipt in receipts] == ["created"] * 3
    assert (over.status, over.because) == (
        "rejected",
        "tenant acme may have 3 open jobs, and has them",
    )
    assert [receipt.status for receipt in many] == ["rejected", "created"]
    await wl.jobs.cancel(receipts[0].job_id)
    assert (await theirs.enqueue()).created


async def test_a_batch_is_stored_as_far_as_a_cap_allows(wl, hello):
    await wl.tenants.create("acme", max_open=5)

    receipts = await wl.enqueue_many([hello.options(tenant="acme").make() for _ in range(8)])

    assert [receipt.status for receipt in receipts] == ["created"] * 5 + ["rejected"] * 3


async def test_at_the_cap_what_exists_is_still_met_and_replaced(wl, hello):
    await wl.tenants.create("acme", max_open=2)
    theirs = hello.options(tenant="acme")
    keyed, once = theirs.options(dedupe_key="7", delay="1h"), theirs.options(idempotency_key="i")
    waiting, done = await keyed.enqueue(), await once.enqueue()

    met = await keyed.enqueue()
    repeated = await once.enqueue()
    newer = await keyed.options(on_duplicate="replace").enqueue(name="Ada")
    other = await theirs.options(dedupe_key="8").enqueue()

    assert (met.status, met.job_id) == ("existing", waiting.job_id)
    assert (repeated.status, repeated.job_id) == ("existing", done.job_id)
    assert (newer.status, newer.job_id) == ("existing", waiting.job_id)
    assert (await wl.jobs.get(waiting.job_id)).payload == {"name": "Ada"}
    assert other.status == "rejected"


async def test_a_job_that_is_stored_already_is_not_rejected_when_it_is_sent_again(wl, hello):
    await wl.tenants.create("acme", max_open=1)
    made = hello.options(tenant="acme").make()

    first = await wl.enqueue_many([made])
    again = await wl.enqueue_many([made])

    assert [receipt.status for receipt in first + again] == ["created", "created"]


async def test_a_batch_that_is_refused_replaces_nothing(wl, hello):
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


async def test_what_replaces_a_job_belongs_to_the_callers_transaction(wl, database):
    @wl.job
    def index(n: int) -> None: ...

    first = await index.options(dedupe_key="7", delay="1h").enqueue(1)
    with connect(database) as theirs:
        newer = index.options(dedupe_key="7", delay="1h", on_duplicate="replace")
        await newer.options(tx=theirs).enqueue(2)
        theirs.rollback()

    assert (await wl.jobs.get(first.job_id)).payload == {"n": 1}


async def test_an_idempotency_key_and_replacing_do_not_go_together(wl, hello):
    with pytest.raises(OptionInvalid):
        await hello.options(idempotency_key="x", on_duplicate="replace").enqueue()


async def test_a_queue_is_paused_with_a_reason_and_explained(wl, hello):
    receipt = await hello.options(queue="mail").enqueue()

    await wl.queues.pause("mail", reason="the relay is down", actor="ada")
    told = await wl.jobs.explain(receipt.job_id)
    [queue] = [q for q in await wl.queues.list() if q.name == "mail"]
    await wl.queues.resume("mail")

    assert told.code == "queue_paused"
    assert "by ada: the relay is down" in told.sentence
    assert (queue.pause_reason, queue.paused_at is not None) == ("the relay is down", True)
    assert (await wl.queues.get("mail")).paused_at is None


async def test_a_full_rate_is_explained(wl):
    @wl.job(rate_limit="1/h")
    def seldom() -> None: ...

    await wl.enqueue_many([seldom.make(), seldom.make()])
    async with wl.running():
        await until(lambda: one_done(wl))
        [waiting] = (await wl.jobs.list(states=["queued"])).jobs
        told = await wl.jobs.explain(waiting.id)

    assert told.code == "rate_full"


def test_code_that_blocks_has_the_same_words(database):
    with sync.Windlass(database.url) as wl:
        job = wl.job("hello")(greet)
        wl.definitions.sync()
        wl.definitions.edit("hello", max_attempts=9)
        wl.queues.limit("default", 3)
        receipt = job.enqueue(name="Ada")

        assert wl.jobs.get(receipt.job_id).max_attempts == 9
        assert wl.queues.get("default").max_concurrency == 3
        assert wl.definitions.reset("hello").edited == ()


async def ended(wl, receipt):
    return (await wl.jobs.get(receipt.job_id)).ended


async def seen(wl):
    return await wl.workers.list()


async def one_done(wl):
    return (await wl.jobs.list(states=["completed"])).jobs
