"""Several processes on one SQLite file: nothing is lost, doubled or corrupted."""

import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.storage.sqlite.load_process import KEY, PAYLOAD
from windlass.core.definitions.definition import Definition
from windlass.ids import DefinitionKey
from windlass.storage.storage import open_storage

_ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)

Process = subprocess.Popen[str]


@pytest.fixture
async def path(database) -> Path:
    """A migrated file with one definition."""
    storage = open_storage(database.url)
    await storage.definitions.sync_definitions([Definition(key=DefinitionKey(KEY), title="Plain")])
    await storage.close()
    return Path(database.url.removeprefix("sqlite:///"))


async def test_four_processes_store_and_finish_each_job_exactly_once(path):
    with hammers(path, 4, jobs=600) as processes:
        told = [process.communicate(timeout=100)[0].split() for process in processes]

    assert [process.returncode for process in processes] == [0] * 4
    stored = Counter(line[1:] for lines in told for line in lines if line[0] == "+")
    finished = Counter(line[1:] for lines in told for line in lines if line[0] == "-")
    assert len(stored) == 4 * 600
    assert finished == stored
    assert all(any(line[0] == "-" for line in lines) for lines in told), "one did all the work"
    assert rows(path, "pragma integrity_check") == [("ok",)]
    assert rows(path, "select id, state, attempts from windlass_jobs order by id") == [
        (id, "completed", 1) for id in sorted(stored)
    ]


async def test_the_log_does_not_outgrow_what_is_copied_back(path):
    with hammers(path, 2, jobs=2000) as processes:
        told = [said_until(process, 1500) for process in processes]
        log = path.with_name(f"{path.name}-wal").stat().st_size

    written = sum(len(lines) for lines in told) * len(PAYLOAD)
    assert log < 4 * 1024 * 1024 < written


async def test_a_process_killed_in_the_middle_of_a_write_leaves_a_good_file(path):
    kept: set[str] = set()
    for _ in range(4):
        with hammers(path, 2, jobs=100_000) as processes:
            for process in processes:
                kept |= said_until(process, 200)
            for process in processes:
                process.kill()
            for process in processes:
                kept |= set(process.stdout.read().split("\n")[:-1])

        assert rows(path, "pragma integrity_check") == [("ok",)]
    there = {id for (id,) in rows(path, "select id from windlass_jobs")}
    ended = {id for (id,) in rows(path, "select id from windlass_ended")}
    assert {line[1:] for line in kept if line.startswith("+")} <= there
    assert {line[1:] for line in kept if line.startswith("-")} <= ended


@contextmanager
def hammers(path: Path, count: int, *, jobs: int) -> Iterator[Sequence[Process]]:
    command = [
        sys.executable,
        "-m",
        "tests.storage.sqlite.load_process",
        f"sqlite:///{path}",
        str(jobs),
    ]
    processes = [
        subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stdout.close()


def said_until(process: Process, lines: int) -> set[str]:
    """The output of a process, up to that many lines."""
    return {process.stdout.readline().strip() for _ in range(lines)}


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()
