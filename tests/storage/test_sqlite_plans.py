"""The query plans of SQLite's verbs, pinned; and that a claim costs the same however much lies around.

SQLite keeps no statistics here, so what a plan is does not depend on the data.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest

from tests.conformance.builders import DEFINITIONS, KNOWN, LEASE_TIME, claim, finish, new_job
from windlass.core import share
from windlass.core.models import Held
from windlass.ids import WorkerId, new_job_ids
from windlass.storage.base import Storage
from windlass.storage.open import open_storage
from windlass.storage.sql import Scripts
from windlass.storage.sqlite import dialect
from windlass.storage.sqlite.connection import Connection

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

HOT = (
    "claim",
    "enqueue",
    "expired",
    "finish",
    "log",
    "promote",
    "renew",
    "report",
    "stops",
    "survey",
)
#: The names our tables go by in these verbs; batches and what was picked have others.
OURS = re.compile(r"SCAN (windlass_\w+|[cdejkntw])\b")
#: What a survey counts once: no more than runs, or has just begun, under limits.
COUNTED = ("SCAN windlass_holds USING COVERING INDEX windlass_holds_name", "SCAN windlass_starts")


@pytest.fixture
def plan(database) -> Iterator[Callable[[str], list[str]]]:
    """Tells the steps SQLite takes for a verb."""
    scripts = Scripts(dialect.own())
    connection = Connection(path(database), clock=dialect.NOW, deadline=1)

    def tell(verb: str) -> list[str]:
        return [
            step
            for statement in scripts[verb]
            for (*_, step) in connection.sql.execute(
                f"explain query plan {statement.text}", dict.fromkeys(statement.names)
            )
        ]

    with closing(connection):
        yield tell


@pytest.mark.parametrize("verb", HOT)
def test_a_hot_verb_reads_no_table_from_end_to_end(plan, verb):
    assert [step for step in plan(verb) if OURS.match(step) and step not in COUNTED] == []


def test_a_claim_takes_a_line_in_the_order_of_its_index(plan):
    line = "windlass_live_line (queue=? AND tenant_id=? AND gate=?)"

    assert f"SEARCH c USING INDEX {line}" in plan("claim")
    assert "SEARCH j USING INTEGER PRIMARY KEY (rowid=?)" in plan("claim")


def test_a_survey_hops_in_the_claims_index(plan):
    steps = [step for step in plan("survey") if step.startswith(("SEARCH l ", "SEARCH j "))]

    assert "SEARCH l USING INDEX windlass_live_line (queue=? AND tenant_id=? AND gate>?)" in steps
    assert "SEARCH l USING INDEX windlass_live_line (queue=? AND tenant_id>?)" in steps
    assert all("windlass_live_line" in step for step in steps)


@pytest.mark.parametrize("verb", ["finish", "renew", "report", "stops"])
def test_leases_are_found_by_the_ids_of_their_jobs(plan, verb):
    found = [step for step in plan(verb) if step.startswith("SEARCH j ")]

    assert set(found) == {"SEARCH j USING INDEX sqlite_autoindex_windlass_live_1 (id=?)"}


def test_expired_leases_are_found_by_their_time(plan):
    assert plan("expired") == [
        "SEARCH windlass_live USING INDEX windlass_live_lease (lease_expires_at<?)"
    ]


def test_due_jobs_are_found_by_their_time(plan):
    assert "SEARCH windlass_later USING INDEX windlass_later_due (due_at<?)" in plan("promote")


async def test_a_claim_costs_the_same_whatever_waits_runs_or_has_ended(database):
    storage = open_storage(database.url)
    await storage.sync_definitions(DEFINITIONS)
    try:
        await fill(storage, 100)
        alone = await cost_of_a_round(storage)
        await fill(storage, 4000)
        await fill(storage, 4000, delay=timedelta(days=1))
        await claim(storage, 1000)
        leases = await claim(storage, 1000)
        await storage.finish([finish(lease) for lease in leases])
        crowded = await cost_of_a_round(storage)
    finally:
        await storage.close()

    assert crowded <= alone * 1.2


async def fill(storage: Storage, count: int, **changes: Any) -> None:
    for start in range(0, count, 1000):
        ids = new_job_ids(min(1000, count - start))
        await storage.enqueue([new_job(id=id, **changes) for id in ids])


async def cost_of_a_round(storage: Storage) -> int:
    """The steps of SQLite's machine that survey, claim, renew and finish of ten jobs take."""
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
    survey = await storage.survey(None, KNOWN)
    quotas = share.quotas(survey.lines, 10)
    leases = await storage.claim(WorkerId("w"), quotas, KNOWN, lease_time=LEASE_TIME)
    held = [Held(lease.job_id, lease.token) for lease in leases]
    await storage.renew(held, lease_time=LEASE_TIME)
    ended = await storage.finish([finish(lease) for lease in leases])
    await database._writer_thread.do(lambda: sql.set_progress_handler(None, 10))

    assert len(ended) == 10
    return steps


def path(database: Any) -> str:
    return str(database.url.removeprefix("sqlite:///"))
