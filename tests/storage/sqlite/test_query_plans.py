"""The query plans of SQLite's verbs, pinned; and that a claim costs the same however much lies around.

SQLite keeps no statistics here, so what a plan is does not depend on the data.
"""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from tests.support.job_builders import (
    ALDER,
    DEFINITIONS,
    KNOWN,
    LEASE_TIME,
    a_definition,
    claim,
    finish,
    new_job,
)
from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import ALL_TENANTS, DEFAULT_TENANT, Scope
from windlass.core.jobs.query import JobQuery
from windlass.core.leases import fair_share
from windlass.core.leases.gates import own_gate
from windlass.core.leases.lease import LeaseRef
from windlass.ids import DefinitionKey
from windlass.storage.jobs.list_sql import JobList
from windlass.storage.sql.statements import Scripts
from windlass.storage.sqlite import dialect
from windlass.storage.sqlite.connection import Connection
from windlass.storage.storage import Storage, open_storage

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

HOT = (
    "claim",
    "enqueue",
    "expired_leases",
    "finish",
    "append_logs",
    "promote",
    "renew",
    "record_progress",
    "cancel_requests",
    "survey",
)
#: The names our tables go by in these verbs; batches and what was picked have others.
OURS = re.compile(r"SCAN (windlass_(?!installation)\w+|[cdejkntw])\b")  # that one has one row


@pytest.fixture
def plan(database) -> Iterator[Callable[..., list[str]]]:
    """Tells the steps SQLite takes for a verb."""
    scripts = Scripts(dialect.driver_dialect())
    connection = Connection(path(database), clock=dialect.NOW, deadline=1)

    def tell(verb: str, text: str | None = None) -> list[str]:
        return [
            step
            for statement in (scripts[verb] if text is None else scripts.prepare(text))
            for (*_, step) in connection.sql.execute(
                f"explain query plan {statement.text}", dict.fromkeys(statement.names)
            )
        ]

    with closing(connection):
        yield tell


@pytest.mark.parametrize("verb", HOT)
def test_a_hot_verb_reads_no_table_from_end_to_end(plan, verb):
    assert [step for step in plan(verb) if OURS.match(step)] == []


def test_a_claim_takes_a_line_in_the_order_of_its_index(plan):
    line = "windlass_live_line (queue=? AND tenant_id=? AND gate=?)"

    assert f"SEARCH c USING INDEX {line}" in plan("claim")
    assert "SEARCH j USING INTEGER PRIMARY KEY (rowid=?)" in plan("claim")


def test_a_survey_hops_in_the_claims_index(plan):
    steps = [step for step in plan("survey") if step.startswith(("SEARCH l ", "SEARCH j "))]

    assert "SEARCH l USING INDEX windlass_live_line (queue=? AND tenant_id=? AND gate>?)" in steps
    assert "SEARCH l USING INDEX windlass_live_line (queue=? AND tenant_id>?)" in steps
    assert all("windlass_live_line" in step for step in steps)


@pytest.mark.parametrize("verb", ["finish", "renew", "record_progress", "cancel_requests"])
def test_leases_are_found_by_the_ids_of_their_jobs(plan, verb):
    found = [step for step in plan(verb) if step.startswith("SEARCH j ")]

    assert set(found) == {"SEARCH j USING INDEX sqlite_autoindex_windlass_live_1 (id=?)"}


def test_expired_leases_are_found_by_their_time(plan):
    assert plan("expired_leases") == [
        "SEARCH windlass_live USING INDEX windlass_live_lease (lease_expires_at<?)",
        "USE TEMP B-TREE FOR ORDER BY",  # of what has run out
    ]


def test_due_jobs_are_found_by_their_time(plan):
    assert "SEARCH windlass_later USING INDEX windlass_later_due (due_at<?)" in plan("promote")


@pytest.mark.parametrize("scope", [ALL_TENANTS, Scope(DEFAULT_TENANT)], ids=["all", "a tenant"])
def test_jobs_of_a_correlation_id_are_found_by_it(plan, scope):
    asked = JobList("sqlite", scope, JobQuery.of(correlation_id="order 17"))
    text, _ = asked.page(above=None, below=None, limit=51)

    steps = [step for step in plan("page", text) if "windlass_" in step]

    assert steps == [
        f"SEARCH {table} USING INDEX {table}_correlation (correlation_id=?)"
        for table in ("windlass_live", "windlass_later", "windlass_ended")
    ]


async def test_a_claim_costs_the_same_whatever_waits_runs_or_has_ended(database):
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    try:
        await fill(storage, 100)
        alone = await cost_of_a_round(storage)
        await fill(storage, 4000)
        await fill(storage, 4000, delay=timedelta(days=1))
        await claim(storage, 1000)
        leases = await claim(storage, 1000)
        await storage.leases.finish(ALDER, [finish(lease) for lease in leases])
        crowded = await cost_of_a_round(storage)
    finally:
        await storage.close()

    assert crowded <= alone * 1.2


async def test_a_survey_of_many_full_keys_costs_each_of_them_the_same(database):
    storage = open_storage(database.url)
    await a_definition(storage, "sync", limit_key="args.account", max_per_key=1)
    try:
        await fill_keys(storage, range(100))
        few = await steps_of(storage, storage.leases.survey(None, ["sync"], most=1))
        await fill_keys(storage, range(100, 400))
        many = await steps_of(storage, storage.leases.survey(None, ["sync"], most=1))
    finally:
        await storage.close()

    assert many <= few * 4 * 1.5


async def fill_keys(storage: Storage, keys: range) -> None:
    """Two jobs of each key, of which one may run, and does."""
    sync = Definition(key=DefinitionKey("sync"), title="Sync")
    gates = [own_gate(sync, DEFAULT_TENANT, f"key {n:05}") for n in keys]
    await storage.jobs.enqueue([new_job(definition=sync.key, gate=gate) for gate in gates * 2])
    while await claim(storage, 100, known=["sync"]):
        pass


async def fill(storage: Storage, count: int, **changes: Any) -> None:
    for start in range(0, count, 1000):
        batch = range(min(1000, count - start))
        await storage.jobs.enqueue([new_job(**changes) for _ in batch])


async def cost_of_a_round(storage: Storage) -> int:
    """The steps of SQLite's machine that survey, claim, renew and finish of ten jobs take."""

    async def a_round() -> None:
        survey = await storage.leases.survey(None, KNOWN)
        quotas = fair_share.share_quotas(survey.lines, 10)
        leases = await storage.leases.claim(ALDER, quotas, KNOWN, lease_time=LEASE_TIME)
        held = [LeaseRef(lease.job_id, lease.token) for lease in leases]
        await storage.leases.renew(ALDER, held, lease_time=LEASE_TIME)
        assert len(await storage.leases.finish(ALDER, [finish(lease) for lease in leases])) == 10

    return await steps_of(storage, a_round())


async def steps_of(storage: Storage, verbs: Awaitable[object]) -> int:
    """The steps of SQLite's machine that some verbs take."""
    database: Any = storage.database
    sql: sqlite3.Connection = (
        await database._writer_thread.do(lambda: database._writer.connection)
    ).sql
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    await database._writer_thread.do(lambda: sql.set_progress_handler(count, 10))
    await verbs
    await database._writer_thread.do(lambda: sql.set_progress_handler(None, 10))
    return steps


def path(database: Any) -> str:
    return str(database.url.removeprefix("sqlite:///"))
