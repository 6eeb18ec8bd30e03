"""Constraints of the tables, which hold for every writer."""

import sqlite3
from datetime import timedelta

import psycopg
import pymysql
import pytest

from tests.databases.connect import execute
from tests.support.job_builders import ALDER, DEFINITIONS, claim, enqueue, finish
from windlass.core.jobs.states import JobState
from windlass.storage.storage import open_storage

REFUSED = (psycopg.errors.IntegrityError, pymysql.err.MySQLError, sqlite3.IntegrityError)


@pytest.fixture
async def url(database):
    """A database with a queued, a running, a delayed, an ended job and an attempt in it."""
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions(DEFINITIONS)
    for _ in range(3):
        await enqueue(storage)
    leases = await claim(storage, 2)
    await storage.leases.finish(ALDER, [finish(leases[0], exit_code=0)])
    await enqueue(storage, delay=timedelta(hours=1))
    await enqueue(storage, held=True)
    await storage.close()
    return database.url


FOREIGN = [
    ("live", "nonsense"),
    ("live", "QUEUED"),
    ("live", ""),
    ("live", "pending"),
    ("live", "completed"),
    ("later", "running"),
    ("later", "dead_letter"),
    ("ended", "queued"),
    ("ended", "failed"),
]


def test_a_table_refuses_states_it_does_not_store(url):
    for table, state in FOREIGN:
        with pytest.raises(REFUSED):
            execute(url, f"update windlass_{table} set state = '{state}'")


def test_every_state_is_stored_in_a_table(url):
    for table in ["live", "later", "ended"]:
        rests = {
            "live": [JobState.QUEUED, JobState.RUNNING],
            "later": [JobState.PENDING, JobState.QUEUED],
            "ended": [JobState.COMPLETED, JobState.CANCELED, JobState.DEAD_LETTER],
        }
        for state in rests[table]:
            execute(url, f"update windlass_{table} set state = '{state}'")


def test_a_job_has_between_one_and_a_hundred_attempts(url):
    for attempts in [0, -1, 101]:
        for table in ["live", "later", "ended"]:
            with pytest.raises(REFUSED):
                execute(url, f"update windlass_{table} set max_attempts = {attempts}")


def test_an_unknown_source_is_refused(url):
    for table in ["live", "later", "ended"]:
        with pytest.raises(REFUSED):
            execute(url, f"update windlass_{table} set source = 'elsewhere'")


STATEMENTS = [
    "update windlass_attempts set outcome = 'exploded'",
    "update windlass_definitions set max_attempts = 0",
    "update windlass_definitions set max_concurrency = 0",
    "update windlass_definitions set kind = 'magic'",
    "update windlass_definitions set isolation = 'none'",
    "update windlass_definitions set on_parent_failure = 'panic'",
    "update windlass_tenants set state = 'asleep'",
    "update windlass_tenants set weight = 0",
    "update windlass_tenants set max_running = -1",
    "insert into windlass_tenants (id, name) values ('', 'nobody')",
    "insert into windlass_tenants (id, name) values ('default', 'twice')",
]


def test_the_schema_refuses_inconsistent_rows(url):
    for statement in STATEMENTS:
        with pytest.raises(REFUSED):
            execute(url, statement)


def trigger(columns: str, values: str) -> str:
    """Inserts a trigger with a type and these fields."""
    return (
        "insert into windlass_triggers"
        f" (id, tenant_id, name, definition, payload, edited, created_at, updated_at, type{columns})"
        " select '0197c0de-0000-7000-8000-000000000000', 'default', 'nightly', 'plain', '{}', '[]',"
        f" min(created_at), min(created_at), {values} from windlass_definitions"
    )


NO_TRIGGERS = [
    ("", "'hook'"),
    ("", "'event'"),
    ("", "'cron'"),
    (", cron, event_name", "'cron', '0 2 * * *', 'folder.changed'"),
    (", event_name, interval_seconds", "'event', 'folder.changed', 60"),
    (", interval_seconds", "'interval', 0"),
    (", cron, overlap", "'cron', '0 2 * * *', 'perhaps'"),
]


def test_a_trigger_has_exactly_the_fields_of_its_type(url):
    for columns, values in NO_TRIGGERS:
        with pytest.raises(REFUSED):
            execute(url, trigger(columns, values))

    execute(url, trigger(", cron", "'cron', '0 2 * * *'"))
    with pytest.raises(REFUSED):  # the same name again
        execute(url, trigger(", event_name", "'event', 'folder.changed'"))


def test_an_id_is_unique_in_a_table(url):
    with pytest.raises(REFUSED):
        execute(url, "insert into windlass_live select * from windlass_live")
