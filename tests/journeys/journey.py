"""A journey: the actions of a test, and the checks at its end."""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.support.processes.ledger import Ledger, Line
from tests.support.processes.processes import Process, Processes
from tests.support.wait import until
from windlass import Job, Windlass
from windlass.core.access.tenant import Tenant
from windlass.core.jobs.models import ALL_TENANTS, Attempt
from windlass.core.jobs.states import ENDED, JobState, Outcome
from windlass.engine.leases.leases import UNCOUNTED
from windlass.errors import DatabaseOutage
from windlass.ids import JobId, TenantId

#: Short, so that tests are; a dead worker's job must start again within one and a half.
LEASE_SECONDS = 2
#: What a busy machine may add to any time that is promised; `make bench BENCH=recovery` measures.
SLACK_SECONDS = 20.0
RECOVERY_SECONDS = 1.5 * LEASE_SECONDS + SLACK_SECONDS

_NOBODY = TenantId("nobody")
_STATES = ("pending", "queued", "running", "completed", "canceled", "dead_letter")


@dataclass(frozen=True)
class Journey:
    url: str
    wl: Windlass
    ledger: Ledger
    processes: Processes

    async def worker(self, slots: int = 4, **settings: object) -> Process:
        """A worker in a process of its own, ready to claim."""
        [process] = await self.workers(1, slots, **settings)
        return process

    async def workers(self, count: int, slots: int = 4, **settings: object) -> list[Process]:
        """So many workers, all ready."""
        processes = [self.start_worker(slots, **settings) for _ in range(count)]
        for process in processes:
            await self.ready(process)
        return processes

    def start_worker(self, slots: int = 4, **settings: object) -> Process:
        given = {
            "worker_lease_seconds": LEASE_SECONDS,
            "worker_poll_interval_ms": 500,
            **settings,
        }
        return self.processes.start("worker", str(slots), settings=given)

    async def command_worker(self, slots: int = 4, **settings: object) -> Process:
        """A process of `windlass worker`, ready to claim."""
        given = {"worker_lease_seconds": LEASE_SECONDS, "worker_concurrency": slots, **settings}
        process = self.processes.start("command_worker", settings=given)
        await self.ready(process)
        return process

    async def enqueuers(self, count: int, *, pause: float, seconds: float = 0) -> list[Process]:
        """Processes that enqueue quick jobs, which take so long, with a pause between two."""
        processes = [
            self.processes.start(
                "enqueuer", f"{place}000000", f"{pause}", f"{seconds}", settings={}
            )
            for place in range(count)
        ]
        for process in processes:
            await self.ready(process)
        return processes

    async def acknowledged(self, enqueuers: list[Process]) -> set[str]:
        """Stop the enqueuers in good order; the ids of all jobs they were given a receipt for."""
        for process in enqueuers:
            process.terminate()
        for process in enqueuers:
            assert await process.ended(60) == 0
        return {line["job"] for line in self.ledger.lines("acknowledged")}

    async def check_delivery(self, acknowledged: set[str]) -> None:
        """Every acknowledged job ended by the rules, and ran no more often than it was tried."""
        jobs = {str(job.id): job for job in await self.all_jobs()}
        ran = Counter(line["job"] for line in self.ledger.lines("done"))
        assert acknowledged <= jobs.keys(), "an acknowledged job is gone"
        for id in acknowledged:
            job = jobs[id]
            assert job.state is JobState.COMPLETED or (
                job.state is JobState.DEAD_LETTER and job.attempts == job.max_attempts
            ), f"job {id} is {job.state}"
            assert (ran[id] >= 1) or job.state is JobState.DEAD_LETTER, f"job {id} never ran"
        for id, times in ran.items():
            assert times <= jobs[id].lease_token, f"job {id} ran {times} times"

    async def ready(self, process: Process) -> Line:
        def look() -> Line | None:
            assert process.is_running, f"{process.name} has ended"
            return next(iter(self.ledger.lines("ready", pid=process.pid)), None)

        line: Line = await until(look, within=60, waiting_for=f"{process.name} to be ready")
        return line

    async def enqueue(self, key: str, /, gate: str | None = None, **options: Any) -> JobId:
        payload = {} if gate is None else {"gate": gate}
        return (await self.wl.enqueue(key, payload, **options)).job_id

    async def started(self, key: str, /, gate: str | None = None, **options: Any) -> JobId:
        """A job whose handler is under way."""
        job = await self.enqueue(key, gate, **options)
        await self.ledger.moment("started", job=job)
        return job

    def let_end(self, gate: str = "gate") -> None:
        """From now on, handlers that wait for this gate come to their end."""
        self.processes.open_gate(gate)

    async def holder(self, id: JobId) -> Process:
        """The worker that runs a job now."""
        return self.processes.by_pid(int(str((await self.job(id)).worker_id).split(":")[1]))

    async def job(self, id: JobId | str) -> Job:
        return await (await self.wl.ready()).jobs.get(id)

    async def ended(self, id: JobId | str, *, within: float = 60.0) -> Job:
        """The job once it has ended, however."""

        async def look() -> Job | None:
            job = await self.job(id)
            return job if job.ended else None

        job: Job = await until(look, within=within, waiting_for=f"the end of job {id}")
        return job

    async def now(self) -> datetime:
        """The database's clock."""
        return await (await self.wl.ready()).storage.now()

    async def freeze(self, process: Process) -> None:
        """Stop a process, but not in the middle of a write."""
        await freeze(process, self.wl)

    async def said(self, process: Process, pattern: str) -> None:
        """Wait until a process has said something like this."""
        await until(
            lambda: re.search(pattern, process.output.read_text()),
            within=60,
            waiting_for=f"{process.name} to say {pattern!r}",
        )

    async def all_ended(self, ids: set[str], *, within: float = 60.0) -> None:
        """Wait until all these jobs have ended."""

        async def look() -> bool:
            return not any(str(job.id) in ids for job in await self.all_jobs() if not job.ended)

        await until(look, within=within, waiting_for=f"the end of {len(ids)} jobs")

    async def attempts(self, id: JobId | str) -> list[Attempt]:
        return await (await self.wl.ready()).jobs.attempts(id)

    async def outcomes(self, id: JobId | str) -> list[str]:
        """How each attempt at a job ended, oldest first; "" for one under way."""
        return [attempt.outcome or "" for attempt in await self.attempts(id)]

    async def all_jobs(self) -> list[Job]:
        """Every job there is."""
        jobs: list[Job] = []
        after = None
        while True:
            page = await (await self.wl.ready()).lists.page(limit=500, after=after)
            jobs += page.jobs
            after = page.next
            if after is None:
                return jobs

    async def check_records(self) -> None:
        """Counts equal a recount; tokens rise; each job has at most one end, and it fits."""
        storage = (await self.wl.ready()).storage
        assert _counted(await storage.jobs.state_counts(ALL_TENANTS)) == _counted(
            (await storage.jobs.recount(ALL_TENANTS)).counted
        )
        for job in await self.all_jobs():
            # Of a job that completed at once, the row itself is all there is to tell.
            if job.lease_token != 1 or job.state is not JobState.COMPLETED:
                self._check_attempts(job, await self.attempts(job.id))

    def _check_attempts(self, job: Job, attempts: list[Attempt]) -> None:
        numbers = [attempt.number for attempt in attempts]
        assert numbers == list(range(1, job.lease_token + 1)), "an attempt is not recorded"
        outcomes = Counter(attempt.outcome for attempt in attempts)
        given_back = sum((attempt.error or "").endswith(UNCOUNTED) for attempt in attempts)
        assert job.attempts == len(attempts) - outcomes[Outcome.RELEASED] - given_back
        assert job.attempts <= job.max_attempts
        assert outcomes[Outcome.SUCCEEDED] == (job.state is JobState.COMPLETED)
        assert outcomes[None] == (job.state is JobState.RUNNING)
        assert (job.finished_at is not None) == (job.state in ENDED)


async def freeze(process: Process, wl: Windlass) -> None:
    """Stop a process, but not in the middle of a write: on SQLite nobody else could write."""
    engine = await wl.ready()
    while True:
        process.freeze()
        try:
            async with asyncio.timeout(1):
                await engine.storage.access.create_tenant(Tenant(id=_NOBODY, name="-"))
            return
        except (TimeoutError, DatabaseOutage):
            process.thaw()
            await asyncio.sleep(0.05)


def _counted(rows: list[Any]) -> dict[tuple[str, str, str], tuple[int, ...]]:
    counted = {
        (row["tenant_id"], row["queue"], row["definition"]): tuple(int(row[s]) for s in _STATES)
        for row in rows
    }
    return {key: counts for key, counts in counted.items() if any(counts)}
