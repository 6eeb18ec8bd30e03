"""Payload fields marked secret are encrypted at rest, on each database."""

import base64
import hashlib
import sys
from datetime import timedelta

import pytest
from pydantic import SecretStr

from tests.databases.connect import execute
from tests.support.app_fixtures import connect
from windlass import Permanent, Settings, Windlass
from windlass.core.payloads.encrypted_fields import is_sealed
from windlass.engine.jobs.payload_encryption import create_sealer, new_key, read_keys
from windlass.errors import (
    EncryptionKeyInvalid,
    ExtraMissing,
    PayloadInvalid,
    PayloadKeyMissing,
    PayloadUndecryptable,
)
from windlass.ids import WorkerId
from windlass.settings import EncryptionSettings, WorkerSettings

SECRET = "tuna-sandwich-42"
SCHEMA = {
    "type": "object",
    "properties": {
        "pin": {"type": "string", "writeOnly": True},
        "logins": {
            "type": "array",
            "items": {"properties": {"phrase": {"format": "password"}, "user": {}}},
        },
        "to": {"type": "string"},
    },
}
OLD, NEW = new_key(), new_key()


def settings(*keys, **more):
    return Settings(
        encryption=EncryptionSettings(keys=keys, **more),
        worker=WorkerSettings(handler_paths=("shop",)),
    )


@pytest.fixture
async def wl(database):
    """An app with a key."""
    app = Windlass(database.url, settings=settings(NEW))
    yield app
    await app.close()


@pytest.fixture
def rows(database):
    """All that the database has in the tables of jobs, as text."""

    def look():
        tables = ("live", "later", "ended")
        return str([execute(database.url, f"select * from windlass_{table}") for table in tables])

    return look


@pytest.fixture
def login(wl):
    @wl.job("login", max_attempts=1)
    def login(user: str, phrase: SecretStr) -> str:
        if user == "nobody":
            raise Permanent(f"not {phrase.get_secret_value()}")
        return f"{user} {len(phrase.get_secret_value())}"

    return login


async def test_a_secret_is_encrypted_in_the_database_and_plain_for_the_handler(wl, login, rows):
    receipt = await login.enqueue(user="ada", phrase=SECRET)

    at_rest = rows()
    async with wl.running():
        await receipt.wait("30s")
        ended = await wl.jobs.get(receipt.job_id)

    assert "ada" in at_rest
    assert SECRET not in at_rest
    assert SECRET not in rows()
    assert ended.result == f"ada {len(SECRET)}"
    assert ended.payload == {"user": "ada", "phrase": "•••"}


async def test_without_a_key_nothing_is_encrypted(database, rows):
    async with Windlass(database.url, settings=Settings()) as wl:

        @wl.job("login")
        def login(phrase: SecretStr) -> None: ...

        receipt = await login.enqueue(phrase=SECRET)

        assert (await wl.jobs.get(receipt.job_id)).payload == {"phrase": SECRET}
        assert SECRET in rows()


async def test_reveal_returns_the_original_payload(wl, login):
    receipt = await login.enqueue(user="ada", phrase=SECRET)

    assert (await wl.jobs.reveal(receipt.job_id)).payload == {"user": "ada", "phrase": SECRET}


async def test_nested_and_multiple_secrets_are_encrypted_and_restored(wl, rows):
    payload = {
        "pin": SECRET,
        "logins": [{"phrase": {"a": [SECRET, 1.5]}, "user": "u"}, {"phrase": None}],
        "to": "ada",
    }
    await wl.ready()
    await wl.definitions.create("nested", path="shop.jobs.nested", payload_schema=SCHEMA)

    receipt = await wl.enqueue("nested", payload)

    job = await wl.jobs.get(receipt.job_id)
    assert SECRET not in rows()
    assert job.payload == {
        "pin": "•••",
        "logins": [{"phrase": "•••", "user": "u"}, {"phrase": None}],
        "to": "ada",
    }
    assert (await wl.jobs.reveal(job.id)).payload == payload


@pytest.mark.parametrize("way", ["many", "transaction", "replace", "event", "schedule run by hand"])
async def test_every_way_to_create_a_job_encrypts(wl, login, rows, database, way):
    payload = {"user": "ada", "phrase": SECRET}
    await wl.ready()
    match way:
        case "many":
            await wl.enqueue_many([login.make(**payload), login.make(**payload)])
        case "transaction":
            connection = connect(database)
            login.blocking.options(tx=connection).enqueue(**payload)
            connection.commit()
            connection.close()
        case "replace":
            once = login.options(dedupe_key="k", delay="1h", on_duplicate="replace")
            await once.enqueue(user="ada", phrase="first-phrase")
            await once.enqueue(**payload)
        case "event":
            template = {"user": "ada", "phrase": "{{event.phrase}}"}
            about = {"definition": "login", "event": "asked", "payload": template}
            await wl.triggers.create("on-login", **about)
            await wl.emit("asked", {"phrase": SECRET})
            await wl.engine.events.match_waiting()
        case "schedule run by hand":
            about = {"definition": "login", "schedule": "0 3 * * *", "payload": payload}
            trigger = await wl.schedules.create("daily", **about)
            await wl.schedules.run(str(trigger.id))

    jobs = (await wl.jobs.list(limit=10)).jobs

    assert jobs
    assert SECRET not in rows()
    for job in jobs:
        assert (await wl.jobs.reveal(job.id)).payload == payload


async def test_a_scheduled_job_is_encrypted(wl, login):
    await wl.ready()
    payload = {"user": "ada", "phrase": SECRET}
    trigger = await wl.schedules.create(
        "daily", definition="login", schedule="0 3 * * *", payload=payload
    )

    job = await wl.engine.job_factory.at(trigger, await wl.engine.now())

    assert is_sealed(job.payload)
    assert SECRET not in job.payload


async def test_the_keys_of_a_job_reveal_nothing_of_its_secret(wl, rows):
    @wl.job("pin", dedupe="payload", max_per_key=1, key="args.pin")
    def pin(pin: SecretStr) -> None: ...

    first = await pin.enqueue(pin="4711")
    equal = await pin.enqueue(pin="4711")
    other = await pin.enqueue(pin="4712")

    assert (equal.status, equal.job_id) == ("existing", first.job_id)
    assert other.status == "created"
    assert "4711" not in rows()
    jobs = [await wl.jobs.get(r.job_id) for r in (first, other)]
    assert jobs[0].gate != jobs[1].gate
    for form in (b'["pin",{"pin":"4711"}]', b"4711"):
        assert hashlib.sha256(form).hexdigest()[:16] not in rows()


async def test_an_edit_is_encrypted_and_compared_in_plain(wl, login, rows, ended):
    receipt = await login.enqueue(user="nobody", phrase=SECRET)
    dead = await ended(receipt)

    await wl.dead.edit_retry(dead.id, {"user": "ada", "phrase": SECRET})

    steps = [step.message for step in await wl.jobs.history(dead.id)]
    assert SECRET not in rows()
    assert any("changed user" in (step or "") and "phrase" not in step for step in steps)
    assert (await wl.jobs.reveal(dead.id)).payload == {"user": "ada", "phrase": SECRET}
    assert SECRET not in (dead.last_error or "")


async def test_keys_are_rotated(database):
    async with Windlass(database.url, settings=settings(OLD)) as wl:
        login = wl.job("login")(_login)
        first = await login.enqueue(phrase=SECRET)
    async with Windlass(database.url, settings=settings(NEW, OLD)) as wl:
        login = wl.job("login")(_login)
        second = await login.enqueue(phrase=SECRET)
        both = [await wl.jobs.reveal(r.job_id) for r in (first, second)]
    async with Windlass(database.url, settings=settings(NEW)) as wl:
        with pytest.raises(PayloadKeyMissing):
            await wl.jobs.reveal(first.job_id)
        third = await wl.jobs.reveal(second.job_id)

    assert {job.payload["phrase"] for job in [*both, third]} == {SECRET}


async def test_payloads_in_every_state_are_reencrypted(database):
    async with Windlass(database.url, settings=settings(OLD)) as wl:
        login = wl.job("login")(_login)
        ended = await login.enqueue(phrase=SECRET)
        async with wl.running():
            await wl.jobs.wait(ended.job_id, "30s")
        waiting = await login.options(delay="1h").enqueue(phrase=SECRET)
        due = await login.enqueue(phrase=SECRET)
    async with Windlass(database.url, settings=settings(NEW, OLD)) as wl:
        engine = await wl.ready()
        first = await engine.reencrypt()
        again = await engine.reencrypt()
    async with Windlass(database.url, settings=settings(NEW)) as wl:
        jobs = [await wl.jobs.reveal(r.job_id) for r in (ended, waiting, due)]

    assert (first.changed, again.changed) == (3, 0)
    assert not first.failed
    assert [job.payload for job in jobs] == [{"phrase": SECRET}] * 3


async def test_undecryptable_payloads_are_left_unchanged_and_counted(database):
    async with Windlass(database.url, settings=settings(OLD)) as wl:
        receipt = await wl.job("login")(_login).enqueue(phrase=SECRET)
    async with Windlass(database.url, settings=settings(NEW)) as wl:
        engine = await wl.ready()
        done = await engine.reencrypt()
    async with Windlass(database.url, settings=settings(OLD)) as wl:
        job = await wl.jobs.reveal(receipt.job_id)

    assert done.changed == 0
    assert sum(done.failed.values()) == 1
    assert job.payload == {"phrase": SECRET}


def _login(phrase: SecretStr) -> int:
    return len(phrase.get_secret_value())


async def test_a_worker_without_the_key_releases_the_job_with_a_reason(database, caplog):
    async with Windlass(database.url, settings=settings(OLD)) as wl:
        receipt = await wl.job("login")(_login).enqueue(phrase=SECRET)
    async with Windlass(database.url, settings=Settings()) as wl:
        wl.job("login")(_login)
        await wl.ready()

        claimed = await _claim(wl)
        job = await wl.jobs.get(receipt.job_id)
        explanation = await wl.jobs.explain(receipt.job_id)

    assert claimed == []
    assert (job.state, job.attempts) == ("queued", 0)
    assert job.due_at > job.created_at
    assert explanation.code == "key_missing"
    assert "is encrypted with the key" in caplog.text

    async with Windlass(database.url, settings=settings(OLD)) as wl:
        wl.job("login")(_login)
        await wl.jobs.run_now(receipt.job_id)
        async with wl.running():
            assert await wl.jobs.wait(receipt.job_id, "30s") == len(SECRET)


async def _claim(wl):
    claimed = await wl.engine.leases(worker=WorkerId("w")).claim(
        "w", 5, queues=None, known=["login"], lease_time=timedelta(seconds=30)
    )
    return [lease.job_id for lease in claimed.leases]


async def test_a_ciphertext_of_another_tenant_is_not_decrypted(wl, login, database):
    await wl.ready()
    for tenant in ("acme", "globex"):
        await wl.tenants.create(tenant)
    foreign = await login.options(tenant="acme").enqueue(user="a", phrase=SECRET)
    own = await login.options(tenant="globex").enqueue(user="b", phrase="my-own-phrase")
    execute(
        database.url,
        "update windlass_live set payload = (select payload from "
        "(select * from windlass_live) other where other.tenant_id = 'acme') "
        "where tenant_id = 'globex'",
    )

    with pytest.raises(PayloadUndecryptable):
        await wl.jobs.reveal(own.job_id)
    await _claim(wl)

    job = await wl.jobs.get(own.job_id)
    assert (job.state, job.error_type) == ("dead_letter", "PayloadUndecryptable")
    assert (await wl.jobs.get(foreign.job_id)).state == "running"


async def test_the_name_of_the_ciphertext_field_is_reserved(wl, login):
    await wl.ready()
    await wl.definitions.create("open", path="shop.jobs.open", payload_schema={"type": "object"})

    with pytest.raises(PayloadInvalid, match="reserved"):
        await wl.enqueue("open", {"windlass:sealed": "1.abc.def"})


async def test_a_secret_at_the_deepest_level_is_encrypted(wl):
    await wl.ready()
    deep: object = SECRET
    for _ in range(63):
        deep = [deep]
    schema = {"properties": {"deep": {"writeOnly": True}}}
    await wl.definitions.create("deeper", path="shop.jobs.deeper", payload_schema=schema)

    receipt = await wl.enqueue("deeper", {"deep": deep})

    assert (await wl.jobs.reveal(receipt.job_id)).payload == {"deep": deep}


async def test_a_nested_field_with_the_reserved_name_is_unchanged(wl, rows):
    await wl.ready()
    await wl.definitions.create("deep", path="shop.jobs.deep", payload_schema=SCHEMA)
    payload = {"pin": SECRET, "to": "ada", "more": {"windlass:sealed": "1.abc.def"}}

    receipt = await wl.enqueue("deep", payload)

    assert SECRET not in rows()
    assert (await wl.jobs.reveal(receipt.job_id)).payload == payload


def test_keys_can_be_read_from_a_file(tmp_path):
    file = tmp_path / "keys"
    file.write_text(f"# newest first\n{NEW}\n\n{OLD}  # until June\n")

    wl = Windlass("sqlite:///:memory:", settings=settings(key_file=str(file)))

    assert [key.id for key in read_keys(wl.settings)] == [
        key.id for key in read_keys(settings(NEW, OLD))
    ]


@pytest.mark.parametrize(
    "made",
    [
        lambda folder: settings("x" * 43),
        lambda folder: settings(base64.urlsafe_b64encode(b"short" * 8).decode()),
        lambda folder: settings(key_file=str(folder / "none")),
        lambda folder: settings(key_file=str(_empty(folder))),
    ],
    ids=["no base64", "another length", "no file", "an empty file"],
)
def test_an_invalid_key_is_refused_with_a_hint(made, tmp_path):
    with pytest.raises(EncryptionKeyInvalid, match="generate-key"):
        create_sealer(made(tmp_path))


def _empty(folder):
    (folder / "empty").write_text("# nothing yet\n")
    return folder / "empty"


def test_a_key_without_the_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)

    with pytest.raises(ExtraMissing, match=r"windlass\[encryption\]"):
        create_sealer(settings(NEW))
    create_sealer(Settings())


def test_keys_are_never_shown():
    created = settings(NEW)

    assert NEW not in repr(created)
    assert NEW not in repr(read_keys(created))
