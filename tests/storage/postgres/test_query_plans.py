"""The plans of PostgreSQL's hot verbs, pinned: on tables whose statistics are missing, wrong or right.

A queue's tables have no honest statistics. What is pinned is what a plan does: it reads the job tables
by index alone, and no more rows of them than it has jobs to deal with.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import asyncpg
import psycopg
import pytest

from tests.databases import migrate
from tests.databases.kinds import Database
from tests.databases.plugin import Databases
from tests.support.job_builders import ALDER, DEFINITIONS, KNOWN, LEASE_TIME, claim, new_job
from windlass.core.jobs import outcome
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, Scope
from windlass.core.jobs.query import JobQuery
from windlass.core.leases.lease import JobPosition, Lease
from windlass.storage.database import Lane
from windlass.storage.jobs.list_sql import JobList
from windlass.storage.leases.leases import finish_batch
from windlass.storage.postgres.database import PLANS
from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Batch
from windlass.storage.storage import Storage, open_storage

pytestmark = [
    pytest.mark.database("postgresql"),
    pytest.mark.parametrize(
        "state",
        [
            "never analysed",
            "analysed when empty",
            "empty but for the dead",
            "analysed when full",
        ],
    ),
]

BACKLOG = 6000
BATCH = 50
TABLES = {"windlass_live", "windlass_later", "windlass_ended"}
LINE = ("default", "default", "")


Node = Mapping[str, Any]


@pytest.fixture(scope="module")
def templates(databases: Databases) -> Iterator[dict[str, str]]:
    """Filled databases by their state, to be copied; making one takes seconds."""
    made: dict[str, str] = {}
    yield made
    for url in made.values():
        databases.supply("postgresql").drop(url)


@pytest.fixture
async def database(
    state: str, databases: Databases, templates: dict[str, str], postgres_url: str
) -> AsyncIterator[Database]:
    """A copy of the filled database of a state."""
    supply = databases.supply("postgresql")
    if state not in templates:
        templates[state] = supply.empty()
        await asyncio.to_thread(migrate, templates[state])
        await filled(templates[state], state)
    url = supply.empty()
    name, source = (each.rpartition("/")[2] for each in (url, templates[state]))
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"drop database {name}".encode())
        server.execute(f"create database {name} template {source}".encode())
    yield Database("postgresql", url)
    supply.drop(url)


@pytest.fixture
async def storage(database: Database) -> AsyncIterator[Storage]:
    storage = open_storage(database.url)
    yield storage
    await storage.close()


async def filled(url: str, state: str) -> None:
    storage = open_storage(url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    connection = await asyncpg.connect(url)
    for table in TABLES | {
        "windlass_claims",
        "windlass_holds",
        "windlass_keys",
        "windlass_parents",
    }:
        await connection.execute(f"alter table {table} set (autovacuum_enabled = off)")
    if state == "analysed when empty":
        await connection.execute("analyze")
    if state == "empty but for the dead":
        holder = await asyncpg.connect(url)
        await holder.execute(
            "begin isolation level repeatable read; select 1 from windlass_tenants"
        )
        await fill(storage, BACKLOG)
        while leases := await claim(storage, 1000):
            await storage.leases.finish(ALDER, [success(lease) for lease in leases])
        await connection.execute("vacuum analyze windlass_live")
        await holder.close()
    await fill(storage, BACKLOG)
    await fill(storage, BACKLOG, delay=timedelta(days=1))
    leases = await claim(storage, 1000)
    await storage.leases.finish(ALDER, [success(lease) for lease in leases])
    if state == "analysed when full":
        await connection.execute("analyze")
    await connection.close()
    await storage.close()


async def test_a_claim_reads_only_what_it_takes(storage, database):
    plan = await explain(database, storage, "claim", **claiming())

    assert_by_index(plan)
    assert seen(plan, "windlass_live") <= 2 * BATCH


async def test_a_continued_claim_does_not_read_earlier_entries(storage, database):
    running = await claim(storage, 2000)
    last = running[-1]
    place = JobPosition(last.priority, last.due_at, last.job_id)

    plan = await explain(database, storage, "claim", **claiming(place))

    assert_by_index(plan)
    assert seen(plan, "windlass_live") <= 2 * BATCH + 1  # the job at that place


async def test_a_survey_reads_a_few_rows_of_each_line(storage, database):
    plan = await explain(
        database,
        storage,
        "survey",
        all_queues=True,
        queues=Batch(queue=[]),
        known_keys=KNOWN,
        cursor="",
        most=50,
    )

    assert_by_index(plan)
    assert seen(plan, "windlass_live") <= 10


async def test_a_finish_finds_each_job_by_its_id(storage, database):
    leases = await claim(storage, BATCH)
    batch = finish_batch(ALDER, [success(lease) for lease in leases])

    plan = await explain(database, storage, "finish", **batch)

    assert_by_index(plan)
    assert seen(plan, "windlass_live") <= BATCH
    assert seen(plan, "windlass_later") == 0


async def test_a_reaped_job_is_found_by_its_id(storage, database):
    leases = await claim(storage, BATCH)
    ends = [outcome.released(lease.held) for lease in leases]

    plan = await explain(database, storage, "finish", **finish_batch(None, ends, expired_only=True))

    assert_by_index(plan)
    assert seen(plan, "windlass_live") <= BATCH


@pytest.mark.parametrize("verb", ["renew", "cancel_requests"])
async def test_a_lease_is_found_by_its_jobs_id(storage, database, verb):
    leases = await claim(storage, BATCH)
    more = {"worker_id": ALDER} | ({"lease_seconds": 30.0} if verb == "renew" else {})

    held = Batch(id=[lease.job_id for lease in leases], token=[lease.token for lease in leases])
    plan = await explain(database, storage, verb, held=held, **more)

    assert_by_index(plan)
    assert seen(plan, "windlass_live") <= BATCH


async def test_looking_for_lost_leases_reads_only_claims_that_are_due(storage, database):
    await claim(storage, BATCH)

    plan = await explain(database, storage, "expired_leases", most=1000)

    assert_by_index(plan)
    assert seen(plan, "windlass_live") == 0


async def test_promoting_reads_only_what_is_due(storage, database):
    plan = await explain(database, storage, "promote", most=1000)

    assert_by_index(plan)
    assert seen(plan, "windlass_later") == 0


@pytest.mark.parametrize("scope", [ALL_TENANTS, Scope(DEFAULT_TENANT)], ids=["all", "a tenant"])
async def test_jobs_of_a_correlation_id_are_found_by_it(storage, database, scope):
    for changes in ({"delay": timedelta(days=1)}, {}):
        await fill(storage, 5, correlation_id="order 17", priority=1, **changes)
    await storage.leases.finish(ALDER, [success(lease) for lease in await claim(storage, 3)])
    await storage.database.script("analyze")  # a list is planned by what is known of the tables
    asked = JobList("postgresql", scope, JobQuery.of(correlation_id="order 17"))
    text, params = asked.page(above=None, below=None, limit=51)

    (statement,) = storage.database._scripts.prepare(text)
    args = [params[name] for name in statement.names]
    plan = await explained(database, Lane.GENERAL, statement.text, args)

    by = {node.get("Index Name") for node in nodes(plan) if node.get("Relation Name") in TABLES}
    assert by == {f"{table}_correlation" for table in TABLES}
    assert [seen(plan, table) for table in sorted(TABLES)] == [3, 5, 2]


def claiming(place: JobPosition | None = None) -> dict[str, Any]:
    after = place or (-40_000, None, None)
    return {
        "lines": Batch.of_rows(list(BATCHES["lines"]), [(*LINE, "", BATCH, BATCH, *after)]),
        "limits": Batch(name=[]),
        "known_keys": KNOWN,
        "worker_id": "alder",
        "lease_seconds": LEASE_TIME.total_seconds(),
    }


def success(lease: Lease) -> Any:
    return outcome.success(lease.held, result=None, warnings=None, keep=True)


async def fill(storage: Storage, count: int, **changes: Any) -> None:
    for start in range(0, count, 1000):
        batch = range(min(1000, count - start))
        await storage.jobs.enqueue([new_job(**changes) for _ in batch])


async def explain(database: Any, storage: Storage, verb: str, **params: Any) -> Node:
    """The plan of a verb that ran on a worker's connection, rolled back."""
    scripts = storage.database._scripts  # type: ignore[attr-defined]  # PostgreSQL's
    (statement,) = scripts[verb]
    bound = scripts.bind(params)
    args = [bound[name] for name in statement.names]
    return await explained(database, Lane.WORK, statement.text, args)


async def explained(database: Any, lane: Lane, text: str, args: Sequence[Any]) -> Node:
    connection = await asyncpg.connect(database.url, server_settings=PLANS[lane])
    transaction = connection.transaction()
    await transaction.start()
    try:
        [row] = await connection.fetch(f"explain (analyze, format json) {text}", *args)
        plan: Node = json.loads(row[0])[0]["Plan"]
        return plan
    finally:
        await transaction.rollback()
        await connection.close()


def nodes(plan: Node) -> Iterator[Node]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def assert_by_index(plan: Node) -> None:
    scans = [node for node in nodes(plan) if node.get("Relation Name") in TABLES]
    # Jobs that ended under an old snapshot are still in the live table's other index.
    in_live = [n for n in scans if n["Relation Name"] == "windlass_live"]
    by_id = [n for n in in_live if str(n.get("Index Cond", "")).startswith("(id = ")]
    assert all(n["Index Name"] == "windlass_live_pkey" for n in by_id)
    wrong = [n for n in scans if n["Node Type"] in ("Seq Scan", "Bitmap Heap Scan", "Tid Scan")]
    assert wrong == []
    assert not [node for node in nodes(plan) if node["Node Type"] in ("Hash Join", "Merge Join")]


def seen(plan: Node, table: str) -> int:
    """The number of rows of a table that were read, filtered ones included."""
    return sum(
        node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        for node in nodes(plan)
        if node.get("Relation Name") == table and "Scan" in node["Node Type"]
    )
