"""The clean-ups of accounts, on real tables."""

from datetime import timedelta

import pytest

from tests.databases.connect import execute
from tests.library.sources import SOURCES, Table, engine
from tests.support.wait import until
from windlass import Settings, Windlass, library
from windlass.errors import SourceUnsupported, TableMissing
from windlass.library.data.expiry import BATCH

DAY = 86_400
#: A busy machine may take this long from adding a row to its clean-up.
SOON = 600


@pytest.mark.parametrize("source", SOURCES)
async def test_expired_sessions_are_deleted_through_every_kind_of_source(wl, run, database, source):
    sessions = Table(database, "_ayb_sessions", "expires_at")
    for id, seconds in enumerate([-DAY, -1, SOON, None]):
        sessions.add(id, seconds)
    wl.install(library.accounts, source=SOURCES[source](database))

    job = await run("stale_session_cleanup")

    assert (job.state, job.result) == ("completed", {"sessions": 2})
    assert (job.progress, job.progress_note) == (1.0, "deleted 2 rows")
    assert sessions.ids == [2, 3]


async def test_a_repeated_cleanup_deletes_nothing(wl, run, database):
    Table(database, "_ayb_sessions", "expires_at").add(1, -1)
    wl.install(library.accounts)

    first, second = await run("stale_session_cleanup"), await run("stale_session_cleanup")

    assert (first.result, second.result) == ({"sessions": 1}, {"sessions": 0})


def test_a_large_table_is_deleted_in_batches(database):
    sessions = Table(database, "_ayb_sessions", "expires_at")
    sessions.fill(0, 2 * BATCH + 5, -60)
    sessions.fill(9_000, 9_010, SOON)
    seen = []

    gone = library.delete_batches(
        library.Source.of(database.url),
        library.accounts.sessions,
        age=timedelta(),
        between=seen.append,
    )

    assert gone == 2 * BATCH + 5
    assert seen == [0, BATCH, 2 * BATCH], "each is a transaction of its own"
    assert sessions.ids == list(range(9_000, 9_010))


async def test_deliveries_are_kept_for_a_week_or_as_the_payload_says(wl, run, database):
    deliveries = Table(database, "_ayb_webhook_deliveries", "created_at")
    for id, hours in enumerate([1, 3, 167, 169]):
        deliveries.add(id, -3600 * hours)
    wl.install(library.accounts)

    week = await run("webhook_delivery_prune")
    two_hours = await run("webhook_delivery_prune", {"retention_hours": 2})

    assert (week.result, two_hours.result) == ({"deliveries": 1}, {"deliveries": 2})
    assert deliveries.ids == [0]


def test_a_timer_of_the_application_deletes_the_same_rows(database):
    deliveries = Table(database, "_ayb_webhook_deliveries", "created_at")
    deliveries.add(1, -169 * 3600)
    deliveries.add(2, -167 * 3600)

    gone = library.delete_batches(
        library.Source.of(engine(database)),
        library.accounts.webhook_deliveries,
        age=timedelta(hours=168),
    )

    assert (gone, deliveries.ids) == (1, [2])


async def test_oauth_tokens_and_codes_go_a_day_after_their_use(wl, run, database):
    tokens = Table(database, "_ayb_oauth_tokens", "expires_at", "revoked_at")
    codes = Table(database, "_ayb_oauth_authorization_codes", "expires_at", "used_at")
    tokens.add(1, -DAY - 60)
    tokens.add(2, -DAY + SOON)
    tokens.add(3, DAY, -DAY - 60)
    tokens.add(4, DAY, -60)
    codes.add(1, -1)
    codes.add(2, SOON, -DAY - 60)
    codes.add(3, SOON, -60)
    codes.add(4, SOON)
    wl.install(library.accounts)

    job = await run("expired_oauth_cleanup")

    assert job.result == {"tokens": 2, "codes": 2}
    assert (tokens.ids, codes.ids) == ([2, 4], [3, 4])


async def test_expired_links_and_resets_are_deleted(wl, run, database):
    links = Table(database, "_ayb_magic_links", "expires_at")
    resets = Table(database, "_ayb_password_resets", "expires_at")
    for table in (links, resets):
        table.add(1, -1)
        table.add(2, SOON)
    wl.install(library.accounts)

    job = await run("expired_auth_cleanup")

    assert job.result == {"magic_links": 1, "password_resets": 1}
    assert (links.ids, resets.ids) == ([2], [2])


async def test_tables_may_have_other_names_and_columns(wl, run, database):
    logins = Table(database, "logins", "valid_until")
    logins.add(1, -1)
    logins.add(2, SOON)
    dates = [library.DateRule(column="valid_until")]
    wl.install(library.Accounts(sessions=library.ExpiringTable("logins", dates)))

    assert (await run("stale_session_cleanup")).result == {"sessions": 1}
    assert logins.ids == [2]


async def test_a_date_may_be_a_number_of_seconds(wl, run, database):
    execute(database.url, "create table _ayb_sessions (id integer, expires_at bigint)")
    execute(database.url, "insert into _ayb_sessions values (1, 1700000000), (2, 4000000000)")
    wl.install(library.accounts)

    assert (await run("stale_session_cleanup")).result == {"sessions": 1}
    assert execute(database.url, "select id from _ayb_sessions") == [(2,)]


@pytest.mark.parametrize(
    ("database", "kind", "instant"),
    [
        ("postgresql", "timestamp", "(now() at time zone 'UTC') + interval '{} seconds'"),
        ("mariadb", "timestamp", "now() + interval {} second"),
        ("sqlite", "datetime", "datetime('now', '{} seconds')"),
    ],
    indirect=["database"],
)
async def test_a_date_may_have_any_type_of_instants(wl, run, database, kind, instant):
    execute(database.url, f"create table _ayb_sessions (id integer, expires_at {kind} null)")
    for id, seconds in [(1, -5), (2, SOON)]:
        execute(database.url, f"insert into _ayb_sessions values ({id}, {instant.format(seconds)})")
    wl.install(library.accounts)

    assert (await run("stale_session_cleanup")).result == {"sessions": 1}
    assert execute(database.url, "select id from _ayb_sessions") == [(2,)]


async def test_a_missing_table_ends_the_job_at_once_and_is_named(wl, run):
    wl.install(library.accounts)

    job = await run("stale_session_cleanup")

    assert (job.state, job.attempts) == ("dead_letter", 1)
    assert 'there is no table "_ayb_sessions"' in job.last_error


def test_a_missing_column_is_named(database):
    Table(database, "_ayb_sessions", "ends_at")

    with pytest.raises(TableMissing, match='"expires_at"') as raised:
        library.delete_batches(
            library.Source.of(database.url), library.accounts.sessions, age=timedelta()
        )

    assert (raised.value.table, raised.value.column) == ("_ayb_sessions", "expires_at")


async def test_a_failed_cleanup_makes_the_job_of_its_hook(wl):
    told = []

    @wl.job
    def notify_admin(definition: str, error: str) -> None:
        told.append((definition, error))

    wl.install(library.Accounts(on_dead_letter=notify_admin))
    async with wl.running():
        await wl.enqueue("stale_session_cleanup")
        await until(lambda: told)

    [(definition, error)] = told
    assert definition == "stale_session_cleanup"
    assert "_ayb_sessions" in error


async def test_schedules_are_inserted_once_and_keep_an_operators_edit(wl, database):
    wl.install(library.accounts)
    async with wl.running():
        schedules = {each.name: each for each in await wl.schedules.list()}
        await wl.schedules.update("session_cleanup_hourly", schedule="30 * * * *")
    await wl.close()

    again = Windlass(database.url, settings=Settings())
    again.install(library.accounts)
    async with again.running():
        after = {each.name: each.cron for each in await again.schedules.list()}
    await again.close()

    assert {name: (each.definition, each.cron) for name, each in schedules.items()} == {
        "session_cleanup_hourly": ("stale_session_cleanup", "0 * * * *"),
        "webhook_prune_daily": ("webhook_delivery_prune", "0 3 * * *"),
        "oauth_cleanup_daily": ("expired_oauth_cleanup", "0 4 * * *"),
        "auth_cleanup_daily": ("expired_auth_cleanup", "0 5 * * *"),
    }
    assert after == {name: each.cron for name, each in schedules.items()} | {
        "session_cleanup_hourly": "30 * * * *"
    }


async def test_settings_install_a_group_on_windlass_own_database(database):
    sessions = Table(database, "_ayb_sessions", "expires_at")
    sessions.add(1, -1)
    wl = Windlass(database.url, settings=Settings.load(overrides={"library.groups": "accounts"}))

    async with wl.running():
        receipt = await wl.enqueue("stale_session_cleanup")
        await wl.jobs.wait(receipt.job_id, "30s")
    await wl.close()

    assert sessions.ids == []


@pytest.mark.parametrize("source", [object(), 7])
def test_a_source_that_is_no_database_is_refused_at_once(source):
    with pytest.raises(SourceUnsupported):
        Windlass("sqlite:///x.db", settings=Settings()).install(library.accounts, source=source)
