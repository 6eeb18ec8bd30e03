"""A stopped process is recognized, and blocks others no more than necessary."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.job_builders import DEFINITIONS, enqueue, new_job
from windlass.errors import DatabaseTimeout
from windlass.storage.connection.address import Address
from windlass.storage.sqlite.database import SqliteDatabase
from windlass.storage.sqlite.lock_holders import lock_holders
from windlass.storage.storage import Storage

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

#: Stands still in the place next in line: it holds no lock of SQLite.
IN_LINE = """
import fcntl, sys
file = open(sys.argv[1] + "-next", "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("there", flush=True)
sys.stdin.read()
"""
#: Stands still inside a write, under both locks.
WRITING = """
import fcntl, sqlite3, sys
file = open(sys.argv[1] + "-lock", "a")
fcntl.flock(file, fcntl.LOCK_EX)
sql = sqlite3.connect(sys.argv[1], isolation_level=None)
sql.execute("begin immediate")
sql.execute("update windlass_definitions set title = 'Half'")
print("there", flush=True)
sys.stdin.read()
"""


@pytest.fixture
async def storage(database):
    storage = Storage(SqliteDatabase(Address.parse(database.url), deadline=3))
    await storage.definitions.sync_definitions(DEFINITIONS)
    yield storage
    await storage.close()


@pytest.fixture
def path(database) -> Path:
    return Path(database.url.removeprefix("sqlite:///"))


async def test_a_stopped_waiter_does_not_block_writers(storage, path):
    with stopped(IN_LINE, path):
        await enqueue(storage)


async def test_a_process_stopped_inside_a_write_is_named_and_can_be_killed(storage, path):
    with stopped(WRITING, path) as process:
        [holder] = lock_holders(str(path))
        with pytest.raises(DatabaseTimeout) as refused:
            await storage.jobs.enqueue([new_job()])
        [told] = await storage.database.stopped_writers()
        readable = await storage.definitions.definitions()
        process.kill()
        process.wait()
        await enqueue(storage)

    assert (holder.pid, holder.stopped) == (process.pid, True)
    assert told == holder.name
    assert f"process {process.pid} " in str(refused.value)
    assert "stopped" in str(refused.value)
    assert [each.title for each in readable] == ["Limited", "Other", "Plain"]
    assert [each.title for each in await storage.definitions.definitions()] == [
        "Limited",
        "Other",
        "Plain",
    ]


async def test_no_process_is_named_if_none_holds_a_lock(storage, path):
    await enqueue(storage)

    assert lock_holders(str(path)) == []
    assert await storage.database.stopped_writers() == []


@contextmanager
def stopped(script: str, path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that runs a script until it reports that it is ready, and is then stopped."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        os.kill(process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        yield process
    finally:
        process.kill()
        process.communicate()
