"""Builders of handlers, leases and runs."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

from tests.support.job_builders import started
from windlass import Settings, Windlass
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.leases.lease import Lease
from windlass.core.payloads.known_secrets import NO_SECRETS, KnownSecrets
from windlass.core.payloads.redact import Redactor
from windlass.storage.storage import Storage
from windlass.worker.attempt import AttemptResources, LiveAttempt
from windlass.worker.context import TransactionalCompletion
from windlass.worker.handlers import Handler
from windlass.worker.isolation.process import ProcessRunner
from windlass.worker.isolation.threads import ThreadPool


def a_handler(function: Callable[..., Any], **options: Any) -> Handler:
    """The handler of a function, as `@wl.job` makes it."""
    wl = Windlass("sqlite:///never-opened.db", settings=Settings())
    return wl.job("plain", **options)(function).handler


async def a_lease(storage: Storage, payload: str = "{}", **changes: Any) -> Lease:
    return await started(storage, payload=payload, **changes)


class Sink:
    """Where a run's words go, remembered."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []
        self.steps: list[tuple[float, str | None]] = []
        self.completed: list[object] = []

    def log(
        self,
        lease: Lease,
        level: str,
        message: str,
        fields: Any,
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        self.lines.append((level, secrets.hide(message), dict(fields)))

    def progress(
        self,
        lease: Lease,
        fraction: float,
        note: str | None,
        secrets: KnownSecrets = NO_SECRETS,
    ) -> None:
        self.steps.append((fraction, note and secrets.hide(note)))

    def complete(
        self, lease: Lease, tx: object, result: object, warnings: Any, *more: Any
    ) -> TransactionalCompletion:
        async def record() -> None:
            self.completed.append(result)

        return TransactionalCompletion(record(), blocking=False)


class Run:
    """One attempt, and how it ended."""

    def __init__(
        self,
        lease: Lease,
        handler: Handler,
        around: Any = (),
        children: ProcessRunner | None = None,
        sink: Any = None,
    ) -> None:
        self.sink = sink or Sink()
        self.threads = ThreadPool()
        self.ends: asyncio.Queue[AttemptEnd | None] = asyncio.Queue()
        self.attempt = LiveAttempt(
            lease,
            handler,
            AttemptResources(
                sink=self.sink,
                threads=self.threads,
                children=children or ProcessRunner(),
                around=around,
                random=Random(1),
                redactor=Redactor(),
                on_end=lambda attempt, finish: self.ends.put_nowait(finish),
            ),
        )
        self.attempt.start()

    async def end(self, within: float = 30) -> AttemptEnd | None:
        async with asyncio.timeout(within):
            return await self.ends.get()


SOON = timedelta(milliseconds=20)
