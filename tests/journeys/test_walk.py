"""A job's way through the code stays short: each walk is traced and its Python files are counted.

The counts of a warm call, on SQLite. A change that makes a walk longer says here why.
"""

import asyncio
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import httpx2
import pytest

import windlass
from windlass import Windlass
from windlass.api.access.callers import open_access
from windlass.api.app import create_api
from windlass.cli.main import run
from windlass.worker.options import WorkerOptions

SOURCE = f"{Path(windlass.__file__).parent}/"
ROOT = Path(__file__).parents[2]

#: The shortest of so many calls counts: the first warms up, and on a busy machine another may be the
#: one that reads again what is kept for some seconds, such as definitions.
CALLS = 4
#: From `hello.enqueue()` to the recorded end of its attempt; the docs name this number.
MOST_FILES_OF_A_JOB = 30
MOST_FILES_OF_A_REQUEST = 35
MOST_FILES_OF_A_LIST = 49


class Tracer:
    """Notes the files of Windlass in which a function is called, in this and in new threads."""

    def __init__(self) -> None:
        self._files: set[str] | None = None
        self.walks: list[set[str]] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and self._files is not None and path.startswith(SOURCE):
            self._files.add(path.removeprefix(SOURCE))

    @contextmanager
    def walk(self) -> Iterator[None]:
        self._files = files = set()
        try:
            yield
        finally:
            self._files = None
            self.walks.append(files)

    @property
    def shortest(self) -> set[str]:
        return min(self.walks, key=len)


@pytest.fixture
def tracer() -> Iterator[Tracer]:
    tracer, before = Tracer(), sys.getprofile()
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    yield tracer
    sys.setprofile(before)
    threading.setprofile(None)


async def greet(name: str) -> str:
    return f"Hello {name}"


async def test_one_job_from_enqueue_to_its_end(tracer, tmp_path):
    async with Windlass(f"sqlite:///{tmp_path}/walk.db") as app:
        hello = app.job("hello")(greet)
        engine = await app.ready()
        async with app.worker(engine, WorkerOptions.of(app.settings)) as worker:
            for _ in range(CALLS):
                with tracer.walk():
                    receipt = await hello.enqueue(name="Ada")
                    assert await worker.tick() == 1
                    await worker.settled()
        job = await app.jobs.get(receipt.job_id)

    assert job.result == "Hello Ada"
    files = tracer.shortest
    assert len(files) <= MOST_FILES_OF_A_JOB, sorted(files)


async def test_a_request_that_enqueues(tracer, tmp_path):
    async with Windlass(f"sqlite:///{tmp_path}/walk.db") as app:
        app.job("hello")(greet)
        api = create_api(app, authenticate=open_access)
        transport = httpx2.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for _ in range(CALLS):
                with tracer.walk():
                    answer = await client.post(
                        "/api/v1/jobs", json={"definition": "hello", "payload": {"name": "Ada"}}
                    )

    assert answer.status_code == 201
    files = tracer.shortest
    assert len(files) <= MOST_FILES_OF_A_REQUEST, sorted(files)
    assert not any(file.startswith("app/enqueue") for file in files)


def test_a_list_of_jobs_at_the_command_line(tracer, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/walk.db"

    async def fill() -> None:
        async with Windlass(url) as app:
            await app.job("hello")(greet).enqueue(name="Ada")

    asyncio.run(fill())
    for _ in range(CALLS):
        with tracer.walk():
            assert run(["jobs", "list", "--db", url]) == 0

    assert "hello" in capsys.readouterr().out
    files = tracer.shortest
    assert len(files) <= MOST_FILES_OF_A_LIST, sorted(files)


def test_the_docs_name_the_length_of_a_jobs_walk():
    page = (ROOT / "docs/explain/how-it-works.md").read_text("utf-8")

    named = re.search(
        r"<!-- walk: enqueue, claim and finish -->(\d+) Python files<!-- /walk -->", page
    )
    assert named is not None
    assert int(named[1]) == MOST_FILES_OF_A_JOB
