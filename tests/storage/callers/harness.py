"""Test harness: verbs in a caller's transaction, and a view from outside it."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tests.support.caller_transactions import Caller
from tests.support.job_builders import claim
from windlass.core.jobs.models import ALL_TENANTS, Job, NewJob
from windlass.ids import JobId
from windlass.storage.callers import caller_session, drive
from windlass.storage.jobs.jobs import EnqueueResult, store
from windlass.storage.storage import Storage


@dataclass(frozen=True)
class Windlass:
    """Windlass beside the application, on connections of its own."""

    storage: Storage
    runner: asyncio.Runner
    url: str

    def enqueue(self, caller: Caller, *jobs: NewJob) -> list[EnqueueResult]:
        """Enqueue in the caller's transaction."""
        return self.enqueue_in(caller.tx, *jobs, run=caller.run)

    def enqueue_in(
        self, tx: object, *jobs: NewJob, run: Callable[[Coroutine[Any, Any, Any]], Any] = drive
    ) -> list[EnqueueResult]:
        """Enqueue in whatever an application gives as its transaction."""
        stored: list[EnqueueResult] = run(store(caller_session(tx, self.storage.database), jobs))
        return stored

    def enqueue_alone(self, *jobs: NewJob) -> list[EnqueueResult]:
        """Enqueue in a transaction of Windlass's own."""
        return self.runner.run(self.storage.jobs.enqueue(jobs))

    def job(self, id: JobId) -> Job | None:
        return self.runner.run(self.storage.jobs.get(ALL_TENANTS, id))

    def claimed(self) -> list[JobId]:
        return [lease.job_id for lease in self.runner.run(claim(self.storage, limit=10))]
