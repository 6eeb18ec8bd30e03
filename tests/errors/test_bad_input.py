"""Bad input gets an error with a code, a reason and a hint, and nothing is stored."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from windlass import Settings, Windlass, WindlassError
from windlass.errors import (
    DatabaseUnreachable,
    DefinitionNotFound,
    OptionInvalid,
    ParentInvalid,
    PayloadInvalid,
    PayloadTooLarge,
    PayloadUnstorable,
    RowSecurityUnavailable,
    SchemaOutdated,
    SettingsInvalid,
    UnsupportedDatabase,
)
from windlass.ids import new_job_id
from windlass.settings import DatabaseSettings

YESTERDAY = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture
def note(wl):
    @wl.job
    def note(text: str = "", about: dict[str, object] | None = None) -> None: ...

    return note


def is_complete(error: WindlassError, code: str) -> bool:
    """The message, the hint and the code."""
    return error.code == code and error.message.endswith(".") and bool(error.hint)


@pytest.mark.parametrize(
    ("payload", "kind", "code", "pointer"),
    [
        ({"text": 3}, PayloadInvalid, "WL2004", "/text"),
        ({"txt": "hello"}, PayloadInvalid, "WL2004", "/txt"),
        ({"text": "x" * 300_000}, PayloadTooLarge, "WL2005", ""),
        ({"text": "nul \x00 inside"}, PayloadUnstorable, "WL2006", "/text"),
        ({"text": "half \ud800 a pair"}, PayloadUnstorable, "WL2006", "/text"),
        ({"about": {"deep": ["a\x00b"]}}, PayloadUnstorable, "WL2006", "/about/deep/0"),
        ({"about": {"\udfff": 1}}, PayloadUnstorable, "WL2006", "/about"),
        ({"about": {"n": float("nan")}}, PayloadUnstorable, "WL2006", "/about/n"),
        ({"about": {"n": [10**400]}}, PayloadUnstorable, "WL2006", "/about/n/0"),
        ({"about": {"thing": object()}}, PayloadUnstorable, "WL2006", "/about/thing"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_an_unstorable_payload(wl, note, stored, payload, kind, code, pointer):
    for enqueue in (note.enqueue(**payload), wl.enqueue("note", payload)):
        with pytest.raises(kind) as caught:
            await enqueue
        assert is_complete(caught.value, code)
        assert [error.pointer for error in caught.value.errors] == [pointer]
    with pytest.raises(kind):
        note.make(**payload)

    assert await stored() == []


@pytest.mark.parametrize(
    "payload",
    [{"text": 3}, {"text": "nul \x00"}, {"text": "half \ud800"}, {"text": "x" * 300_000}],
    ids=["wrong type", "nul", "surrogate", "too large"],
)
async def test_an_invalid_payload_by_key_without_the_handler(wl, note, database, stored, payload):
    await wl.ready()
    other = Windlass(database.url, settings=Settings())

    with pytest.raises((PayloadInvalid, PayloadTooLarge, PayloadUnstorable)):
        await other.enqueue("note", payload)

    await other.close()
    assert await stored() == []


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"at": YESTERDAY}, "at"),
        ({"at": datetime(2030, 1, 1)}, "at"),
        ({"at": "tomorrow"}, "at"),
        ({"at": datetime.max.replace(tzinfo=UTC)}, "at"),
        ({"at": datetime.max.replace(tzinfo=timezone(-timedelta(hours=9)))}, "at"),
        ({"at": datetime.min.replace(tzinfo=timezone(timedelta(hours=9)))}, "at"),
        ({"delay": 1e308}, "delay"),
        ({"delay": float("nan")}, "delay"),
        ({"at": YESTERDAY + timedelta(days=9), "delay": "1m"}, "at"),
        ({"delay": "-5s"}, "delay"),
        ({"delay": "5"}, "delay"),
        ({"expires": "soon"}, "expires"),
        ({"timeout": "0s"}, "timeout"),
        ({"priority": "urgent"}, "priority"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"max_attempts": "3"}, "max_attempts"),
        ({"queue": ""}, "queue"),
        ({"queue": "q" * 192}, "queue"),
        ({"tenant": None}, "tenant"),
        ({"tenant": "a\x00"}, "tenant"),
        ({"dedupe_key": ""}, "dedupe_key"),
        ({"idempotency_key": "\ud800"}, "idempotency_key"),
        ({"correlation_id": 7}, "correlation_id"),
        ({"on_duplicate": "replace it"}, "on_duplicate"),
        ({"on_parent_failure": "cry"}, "on_parent_failure"),
        ({"source": "nowhere"}, "source"),
        ({"after": "0190"}, "after"),
        ({"after": ["0190"]}, "after"),
        ({"after": [3]}, "after"),
        ({"after": 3}, "after"),
        ({"metadata": [1]}, "metadata"),
        ({"metadata": {"big": "x" * 20_000}}, "metadata"),
        ({"schedule": "0 2 * * *"}, "option"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
async def test_an_invalid_option(note, stored, options, named):
    with pytest.raises(OptionInvalid) as caught:
        await note.options(**options).enqueue(text="hello")

    assert is_complete(caught.value, "WL2007")
    assert caught.value.option == named
    assert await stored() == []


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"created_after": datetime(2026, 1, 1)}, "created_after"),
        ({"created_before": datetime.max.replace(tzinfo=UTC)}, "created_before"),
        ({"source": "nowhere"}, "source"),
        ({"queue": "a\x00"}, "queue"),
        ({"correlation_id": "\ud800"}, "correlation"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
async def test_a_list_with_impossible_filters(wl, asked, named):
    with pytest.raises(OptionInvalid) as caught:
        await wl.jobs.list(**asked)

    assert (is_complete(caught.value, "WL2007"), caught.value.option) == (True, named)


async def test_a_reason_with_nul_is_stored_without_it(wl, note):
    receipt = await note.options(delay="1h").enqueue()
    await wl.jobs.cancel(receipt.job_id, reason="a\x00b")
    paused = await wl.queues.pause("default", reason="a\x00b")

    kept = "a\N{REPLACEMENT CHARACTER}b"
    assert (await wl.jobs.get(receipt.job_id)).reason == paused.pause_reason == kept


async def test_an_unstorable_tenant_name(wl):
    for name in ("a\x00", "", "n" * 192):
        with pytest.raises(OptionInvalid):
            await wl.tenants.change("default", name=name)


async def test_unstorable_metadata(note, stored):
    with pytest.raises(PayloadUnstorable, match="metadata"):
        await note.options(metadata={"a": "\x00"}).enqueue()

    assert await stored() == []


async def test_a_payload_above_the_configured_limit(database):
    settings = Settings.load({"limits.payload_bytes": 1024}, environ={})
    async with (
        Windlass(database.url, settings=settings) as app,
        Windlass(database.url, settings=settings) as other,
    ):

        @app.job
        def note(text: str) -> None: ...

        for enqueue in (note.enqueue("x" * 2000), app.enqueue("note", {"text": "x" * 2000})):
            with pytest.raises(PayloadTooLarge, match="1,024"):
                await enqueue
        await app.ready()
        with pytest.raises(PayloadTooLarge, match="1,024"):
            await other.enqueue("note", {"text": "x" * 2000})


async def test_an_unknown_definition(wl, note, stored):
    with pytest.raises(DefinitionNotFound) as caught:
        await wl.enqueue("noet", {"text": "hello"})

    assert is_complete(caught.value, "WL2107")
    assert await stored() == []


async def test_an_unknown_or_foreign_parent(wl, note, stored):
    await wl.tenants.create("acme")
    foreign = await note.options(tenant="acme").enqueue()

    for parent in (new_job_id(), foreign):
        with pytest.raises(ParentInvalid) as caught:
            await note.options(after=[parent]).enqueue()
        assert is_complete(caught.value, "WL3305")

    assert [job.id for job in await stored()] == [foreign.job_id]


async def test_circular_parents(wl, note, stored):
    first, second, third = (note.make() for _ in range(3))
    circle = [
        first._replace(after=(third.id,)),
        second._replace(after=(first.id,)),
        third._replace(after=(second.id,)),
    ]

    for jobs in (circle, [first._replace(after=(first.id,))]):
        with pytest.raises(ParentInvalid) as caught:
            await wl.enqueue_many(jobs)
        assert (is_complete(caught.value, "WL3305"), caught.value.because) == (True, "cycle")

    assert await stored() == []


async def test_one_invalid_job_refuses_its_batch(wl, note, stored):
    good = [note.make(text=str(number)) for number in range(5)]
    bad = note.options(after=[new_job_id()]).make()

    with pytest.raises(ParentInvalid):
        await wl.enqueue_many([*good, bad])
    assert await stored() == []

    with pytest.raises(OptionInvalid):
        await wl.enqueue_many([*good, note.options(at=YESTERDAY).make()])
    assert await stored() == []

    assert all(receipt.created for receipt in await wl.enqueue_many(good))


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb", "mysql"])
async def test_an_unreachable_database(scheme):
    app = Windlass(f"{scheme}://ada:secret@127.0.0.1:1/nothing", settings=Settings())

    with pytest.raises(DatabaseUnreachable) as caught:
        await app.enqueue("note")

    assert is_complete(caught.value, "WL1101")
    assert "127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)
    await app.close()


async def test_an_unopenable_file(tmp_path):
    app = Windlass(f"sqlite:///{tmp_path}/no/such/folder/jobs.db", settings=Settings())

    with pytest.raises(DatabaseUnreachable) as caught:
        await app.enqueue("note")

    assert is_complete(caught.value, "WL1101")
    await app.close()


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("postgresql", marks=pytest.mark.database("postgresql")),
        pytest.param("mariadb", marks=pytest.mark.database("mariadb")),
    ],
)
async def test_an_unmigrated_server(new_database, kind):
    app = Windlass(new_database(kind).url, settings=Settings())

    for verb in (app.enqueue("note"), app.jobs.list(), app.definitions.list()):
        with pytest.raises(SchemaOutdated, match="windlass db migrate") as caught:
            await verb
        assert is_complete(caught.value, "WL1203")

    await app.close()


@pytest.mark.database("sqlite")
async def test_a_new_file_is_migrated_automatically(new_database):
    app = Windlass(new_database("sqlite").url, settings=Settings())

    assert await app.definitions.list() == []
    assert (await app.jobs.list()).jobs == []

    await app.close()


async def test_a_url_of_an_unknown_database():
    app = Windlass("oracle://127.0.0.1/jobs", settings=Settings())

    with pytest.raises(UnsupportedDatabase) as caught:
        await app.enqueue("note")

    assert is_complete(caught.value, "WL1103")


@pytest.mark.parametrize(
    ("url", "listen_url"),
    [("sqlite:///x.db", None), ("mariadb://h/x", None), ("postgresql://h/x", "postgresql://h/y")],
)
async def test_row_security_on_a_database_without_it(url, listen_url):
    on = Settings(database=DatabaseSettings(row_security=True, listen_url=listen_url))
    app = Windlass(url, settings=on)

    with pytest.raises(RowSecurityUnavailable) as caught:
        await app.enqueue("note")

    assert is_complete(caught.value, "WL1104")


def test_invalid_settings_are_reported_all_at_once(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINDLASS_WORKER_LEASE_SECONDS", "0")
    monkeypatch.setenv("WINDLASS_WORKER_CONCURRENCY", "many")
    app = Windlass()

    with pytest.raises(SettingsInvalid) as caught:
        app.job(lambda: None)

    assert is_complete(caught.value, "WL1301")
    assert {problem.key for problem in caught.value.problems} == {
        "worker.lease_seconds",
        "worker.concurrency",
    }


def test_the_url_comes_from_the_environment_or_a_local_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WINDLASS_DATABASE_URL", raising=False)
    assert Windlass().settings.database.url == "sqlite:///windlass.db"

    monkeypatch.setenv("WINDLASS_DATABASE_URL", "sqlite:///other.db")
    assert Windlass().settings.database.url == "sqlite:///other.db"
    assert list(tmp_path.iterdir()) == []
