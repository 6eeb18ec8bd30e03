"""The samples do what their README says, fact for fact, on each database."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest

from tests.databases.kinds import Database
from tests.support.wait import until
from windlass import JobFailed
from windlass.core.jobs.models import Job
from windlass.core.jobs.priority import NAMES as PRIORITIES

_JOBS = Path(__file__).parents[3] / "examples" / "samples" / "jobs.py"


@pytest.fixture
async def samples(database: Database) -> AsyncIterator[ModuleType]:
    """The example's module, freshly imported, at work on a database of its own."""
    spec = importlib.util.spec_from_file_location("samples_example", _JOBS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.wl.use_database(database.url)
    async with module.wl.running():
        yield module


async def test_a_success(samples):
    receipt = await samples.pdf_generation.enqueue(document="invoice-42")

    await samples.wl.jobs.wait(receipt.job_id, "30s")

    job = await samples.wl.jobs.get(receipt.job_id)
    assert (job.state, job.attempts) == ("completed", 1)
    assert (job.progress, job.progress_note) == (1.0, "3 pages in invoice-42.pdf")
    assert job.result == {"file": "invoice-42.pdf", "pages": 3}
    assert (job.last_error, job.finished_at is not None) == (None, True)
    assert await outcomes(samples, job) == ["succeeded"]
    assert await steps(samples, job) == ["queued", "running", "completed"]


async def test_a_dead_letter(samples):
    receipt = await samples.fax_send.enqueue(number="12", file="invoice-42.pdf")

    with pytest.raises(JobFailed):
        await samples.wl.jobs.wait(receipt.job_id, "30s")

    job = await samples.wl.jobs.get(receipt.job_id)
    assert (job.state, job.attempts, job.max_attempts) == ("dead_letter", 1, 6)
    assert (job.last_error, job.error_type) == (
        "Permanent: invalid fax number: 12",
        "windlass.errors.handlers.Permanent",
    )
    assert await outcomes(samples, job) == ["failed"]
    assert await steps(samples, job) == ["queued", "running", "failed", "dead_letter"]
    assert [dead.id for dead in (await samples.wl.jobs.list(states=["dead_letter"])).jobs] == [
        job.id
    ]


async def test_a_retry(samples):
    wl = samples.wl
    async with await asyncio.start_server(silence, "127.0.0.1", 0) as server:
        service = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        receipt = await samples.ocr_processing.enqueue(
            scan="letter.png", service=service, patience_seconds=0.1
        )

        async def tried_twice():
            job = await wl.jobs.get(receipt.job_id)
            return job if job.attempts == 2 and job.state == "queued" else None

        job = await until(tried_twice)
        now = await wl.engine.now()

    assert (job.attempts, job.max_attempts, job.view(now)) == (2, 6, "retrying")
    assert now < job.due_at <= now + timedelta(minutes=10)
    assert job.last_error == f"ConnectionError: connection to {service} timed out"
    assert await outcomes(samples, job) == ["failed", "failed"]
    assert await steps(samples, job) == [
        "queued", "running", "failed", "queued", "running", "failed", "queued",
    ]  # fmt: skip
    assert [one.id for one in (await wl.jobs.list(states=["retrying"])).jobs] == [job.id]


async def silence(reader, writer):
    await reader.read()
    writer.close()


async def test_the_sample_job_is_found_by_its_path(samples):
    wl = samples.wl
    receipt = await wl.enqueue("sample_job", {"steps": 3, "step_seconds": 0})

    await wl.jobs.wait(receipt.job_id, "30s")

    definition, job = await wl.definitions.get("sample_job"), await wl.jobs.get(receipt.job_id)
    assert (definition.title, definition.kind) == ("Sample Background Job", "path")
    assert (definition.timeout_seconds, definition.max_attempts, definition.enabled) == (
        60,
        4,
        True,
    )
    assert definition.priority == job.priority == PRIORITIES["normal"]
    assert (job.max_attempts, job.result, job.progress) == (4, {"steps": 3}, 1.0)
    assert job.progress_note == "3 steps done"


async def test_the_sample_job_stops_between_two_steps(samples):
    wl = samples.wl
    receipt = await wl.enqueue("sample_job", {"steps": 1000, "step_seconds": 0.02})
    job = await wl.jobs.get(receipt.job_id)

    async def underway():
        return (await job.refresh()).progress > 0

    await until(underway)
    await job.cancel()
    with pytest.raises(JobFailed):
        await job.wait("30s")

    ended = await job.refresh()
    assert (ended.state, 0 < ended.progress < 1) == ("canceled", True)


async def outcomes(samples: ModuleType, job: Job) -> list[str]:
    return [str(attempt.outcome) for attempt in await samples.wl.jobs.attempts(job.id)]


async def steps(samples: ModuleType, job: Job) -> list[str]:
    """The states a job went through, as its history tells."""
    return [str(step.to_state) for step in await samples.wl.jobs.history(job.id)]
