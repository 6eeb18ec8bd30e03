"""Log lines and progress are buffered, bounded and written in batches, and never delay an outcome."""

import asyncio
import threading

import pytest
import structlog
from sqlalchemy import create_engine

from tests.support.busy_loops import no_busy_loop
from tests.support.job_builders import ALDER, finish, held, job, started
from tests.support.wait import until
from windlass.core.payloads.known_secrets import KnownSecrets
from windlass.core.payloads.redact import Redactor
from windlass.engine.leases.leases import LINE_BYTES
from windlass.errors import DatabaseUnreachable, Stopped
from windlass.storage.callers import drive
from windlass.telemetry import Telemetry
from windlass.worker.context import JobContext
from windlass.worker.reporting import log_buffer
from windlass.worker.reporting import log_writer as module
from windlass.worker.reporting.log_writer import LogWriter

OUTAGE = DatabaseUnreachable("postgresql://db/shop")


@pytest.fixture
async def reports(engine, storage, heard, seconds):
    return LogWriter(
        engine.leases(worker=ALDER),
        engine.join,
        Telemetry(heard),
        buffer_lines=100,
        buffer_seconds=5.0,
        redactor=Redactor(patterns=("acme_live_*",)),
    )


@pytest.fixture(autouse=True)
def quiet():
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
async def lease(storage):
    return await started(storage)


@pytest.fixture
def written(storage):
    async def of(lease):
        return [line.message for line in await storage.jobs.logs(await job(storage, lease.job_id))]

    return of


@pytest.fixture
def away(storage, monkeypatch):
    """The database answers nothing for a while."""

    async def fail(*_):
        raise OUTAGE

    with monkeypatch.context() as patch:
        patch.setattr(storage.leases, "append_logs", fail)
        patch.setattr(storage.leases, "record_progress", fail)
        yield patch


async def test_a_hundred_lines_are_flushed(reports, lease, written):
    for number in range(99):
        reports.log(lease, "info", f"line {number}", {})
    assert await reports.tick() is False

    reports.log(lease, "info", "line 99", {})

    assert await reports.tick() is True
    assert await written(lease) == [f"line {number}" for number in range(100)]


async def test_lines_wait_for_five_seconds_at_most(reports, lease, written, seconds):
    reports.log(lease, "info", "alone", {})
    seconds.pass_by(4.9)
    assert await reports.tick() is False

    seconds.pass_by(0.1)

    assert await reports.tick() is True
    assert await written(lease) == ["alone"]


async def test_progress_is_written_at_the_next_tick(reports, lease, storage):
    reports.progress(lease, 0.25, "a quarter")
    reports.progress(lease, 0.5, "half")

    assert await reports.tick() is True

    seen = await job(storage, lease.job_id)
    assert (seen.progress, seen.progress_note) == (0.5, "half")
    assert await reports.tick() is False


async def test_a_hundred_lines_wake_the_loop_at_once_from_any_thread(reports, lease, written):
    running = asyncio.create_task(reports.run())

    def tell():
        for number in range(100):
            reports.log(lease, "info", str(number), {})

    thread = threading.Thread(target=tell)
    thread.start()

    async def all_written():
        return len(await written(lease)) == 100

    await until(all_written)
    thread.join()
    running.cancel()


async def test_the_loop_waits_after_a_flush_by_another_task(reports, lease, written):
    running = asyncio.create_task(reports.run())
    await asyncio.sleep(0)

    with no_busy_loop():
        for number in range(120):
            reports.log(lease, "info", str(number), {})
        await reports.flush()
        # Time enough for thousands of rounds of a loop that spins.
        await asyncio.sleep(0.3)
        reports.log(lease, "info", "one more", {})
        await reports.flush()

    assert len(await written(lease)) == 121
    running.cancel()


async def test_the_loop_does_not_spin_during_an_outage(reports, lease, away, heard, monkeypatch):
    running = asyncio.create_task(reports.run())
    tries = []
    trouble = reports._telemetry.trouble
    monkeypatch.setattr(
        reports._telemetry, "trouble", lambda *about: (tries.append(1), trouble(*about))
    )

    for number in range(2_000):
        reports.log(lease, "info", str(number), {})
        await asyncio.sleep(0)

    assert len(tries) < 100
    running.cancel()


async def test_many_lines_of_a_thread_wake_the_event_loop_once(reports, lease, monkeypatch):
    calls = []
    monkeypatch.setattr(reports._loop, "call_soon_threadsafe", lambda *call: calls.append(call))

    thread = threading.Thread(
        target=lambda: [reports.log(lease, "info", str(number), {}) for number in range(1_000)]
    )
    thread.start()
    thread.join()

    assert len(calls) == 1


async def test_lines_survive_an_outage_in_order(reports, lease, written, away, heard):
    reports.log(lease, "info", "before", {})
    with pytest.raises(DatabaseUnreachable):
        await reports.flush()
    reports.log(lease, "info", "meanwhile", {})

    away.undo()
    await reports.flush()

    assert await written(lease) == ["before", "meanwhile"]
    assert not reports.unwritten_lines


async def test_the_loop_survives_an_outage(reports, lease, away, heard, monkeypatch):
    monkeypatch.setattr(module, "_PROGRESS_SECONDS", 0.001)
    reports.progress(lease, 0.5, None)
    running = asyncio.create_task(reports.run())

    await until(lambda: "writing logs failed" in heard.events())

    assert not running.done()
    running.cancel()


async def test_a_full_buffer_drops_the_oldest_lines_and_logs_it(
    reports, lease, written, away, heard, monkeypatch
):
    monkeypatch.setattr(log_buffer, "MOST_LINES", 5)
    for number in range(8):
        reports.log(lease, "info", str(number), {})

    away.undo()
    await reports.flush()

    assert await written(lease) == ["3", "4", "5", "6", "7"]
    [(_, event, about)] = heard.said
    assert "log lines dropped" in event
    assert about == {"lines": 3}


async def test_lines_logged_during_a_write_are_not_lost(
    reports, lease, written, storage, monkeypatch
):
    monkeypatch.setattr(log_buffer, "MOST_LINES", 4)
    log = storage.leases.append_logs

    async def slowly(worker, lines):
        for number in range(3):
            reports.log(lease, "info", f"new {number}", {})
        monkeypatch.setattr(storage.leases, "append_logs", log)
        return await log(worker, lines)

    monkeypatch.setattr(storage.leases, "append_logs", slowly)
    for number in range(4):
        reports.log(lease, "info", f"old {number}", {})
    await reports.flush()
    await reports.flush()

    assert await written(lease) == [f"old {n}" for n in range(4)] + [f"new {n}" for n in range(3)]


async def test_lines_of_a_lost_lease_are_dropped(reports, lease, written, storage):
    reports.log(lease, "info", "too late", {})
    await storage.leases.finish(ALDER, [finish(lease)])

    await reports.flush()

    assert await written(lease) == []
    assert not reports.unwritten_lines


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "a\x00b\ud800"},
        {"nan": float("nan")},
        {"object": object()},
        {("odd", "key"): 1},
        {"event": "named like ours", "level": "x", "job_id": "y"},
        {"long": "x" * 1_000_000},
        {"deep": [[[[[[]]]]]] * 10},
    ],
)
async def test_fields_of_any_type_are_stored(reports, lease, storage, fields):
    reports.log(lease, "info", "strange", fields)

    await reports.flush()

    [line] = await storage.jobs.logs(await job(storage, lease.job_id))
    assert line.message == "strange"
    assert len(str(line.fields)) <= LINE_BYTES


async def test_secrets_reach_neither_the_database_nor_the_logger(
    reports, lease, storage, quiet, written
):
    reports.log(lease, "info", "key acme_live_12345678", {"password": "hunter2", "user": "ada"})

    await reports.flush()

    [line] = await storage.jobs.logs(await job(storage, lease.job_id))
    assert line.message == "key •••"
    assert line.fields == {"password": "•••", "user": "ada"}
    assert "hunter2" not in str(quiet)
    assert "12345678" not in str(quiet)


async def test_secrets_of_the_job_are_hidden_in_lines_fields_and_notes(
    reports, lease, storage, written
):
    secrets = KnownSecrets(["lovelace"])

    reports.log(lease, "info", "with 6c6f76656c616365", {"who": "lovelace"}, secrets)
    reports.progress(lease, 0.5, "trying lovelace", secrets)
    await reports.flush()

    found = await job(storage, lease.job_id)
    [line] = await storage.jobs.logs(found)
    assert (line.message, line.fields) == ("with •••", {"who": "•••"})
    assert found.progress_note == "trying •••"


async def test_a_field_may_be_named_like_a_parameter(lease):
    told = []

    class Listener:
        def log(self, lease, level, message, fields):
            told.append((level, message, dict(fields)))

    JobContext(lease, Listener()).log.info("said", message="a field", level="deep", self=1)

    assert told == [("info", "said", {"message": "a field", "level": "deep", "self": 1})]


@pytest.fixture
def connection(file_url):
    engine = create_engine(file_url)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


async def test_a_completion_in_the_handlers_transaction_writes_its_lines(
    reports, lease, written, storage, connection
):
    reports.log(lease, "info", "nearly there", {})

    drive(reports.complete(lease, connection, {"sent": 3}, ["one was skipped"]).recording)
    connection.commit()

    ended = await job(storage, lease.job_id)
    assert (ended.state, ended.result, ended.warnings) == (
        "completed",
        {"sent": 3},
        ("one was skipped",),
    )
    assert await written(lease) == ["nearly there"]
    assert not reports.unwritten_lines


async def test_a_completion_for_a_lost_lease_is_refused(reports, lease, storage, connection):
    await storage.leases.finish(ALDER, [finish(held(lease))])

    with pytest.raises(Stopped, match="lost"):
        drive(reports.complete(lease, connection, None, []).recording)
