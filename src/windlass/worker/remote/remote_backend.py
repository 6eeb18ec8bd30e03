"""Backend over HTTP: for workers that reach a server and no database.

Nothing is retried here. The worker's own loops retry with the same lease tokens, which is harmless;
so a server may go away and come back at any time.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from types import TracebackType
from typing import Any, Self

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.models import LogLine, WorkerRow
from windlass.core.jobs.outcome import AttemptEnd
from windlass.core.jobs.states import JobState
from windlass.core.leases import worker_wire as wire
from windlass.core.leases.gates import versions
from windlass.core.leases.lease import Lease, LeaseRef, ProgressReport, RenewedLease
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.core.monitoring.latency import LatencyBuffer
from windlass.core.text import clean
from windlass.engine.leases.leases import (
    LINE_BYTES,
    NOTE_BYTES,
    ClaimResult,
    storable_finish,
    without_text,
)
from windlass.errors import OnceUnavailable, RequestRefused
from windlass.ids import JobId, TenantId, WorkerId, new_job_id
from windlass.settings import Settings
from windlass.storage.callers import CallerSession
from windlass.telemetry import Telemetry
from windlass.worker.remote.server_client import ServerClient

#: The most jobs that one request asks for.
_MOST_SLOTS = 1000


class RemoteBackend:
    """A Windlass server as a worker's backend. Use it as an async context manager."""

    def __init__(self, server: ServerClient, settings: Settings, telemetry: Telemetry) -> None:
        self._server = server
        self.settings = settings
        self.telemetry = telemetry
        self.definitions = RemoteDefinitionBackend()
        self.workers = RemoteWorkerBackend(server, telemetry)
        self.nudges = LocalNudges()
        self.latency = DiscardedLatency()

    def leases(
        self, who: Callable[[LeaseRef], Lease | None], *, worker: WorkerId
    ) -> "RemoteLeaseBackend":
        return RemoteLeaseBackend(self._server, self.telemetry, worker)

    def reopen(self, *, lease_time: timedelta) -> "RemoteBackend":
        """The same server over connections of its own."""
        return RemoteBackend(
            self._server.reopen(lease_time=lease_time), self.settings, self.telemetry
        )

    async def close(self) -> None:
        await self._server.close()

    async def now(self) -> None:
        """Raise unless the server answers. Its clock is not used here."""
        await self.ready()

    async def ready(self) -> None:
        """Return if the server answers and accepts the token; else ServerUnreachable,
        NotAuthenticated or Forbidden."""
        await self._server.ask("worker/heartbeat", {"worker": "nobody", "renew": False})

    def join(self, tx: object) -> CallerSession | None:
        """None: a handler's transaction never reaches the jobs' database, so its end is recorded
        when it returns."""
        return None

    async def watch(self, queues: Sequence[str] | None) -> "PollingWatch":
        return PollingWatch()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class PollingWatch:
    """A watch that is never nudged: a remote worker polls."""

    async def wait(self, timeout: float) -> Collection[str]:
        await asyncio.sleep(timeout)
        return ()

    async def close(self) -> None:
        """Nothing is open."""


class LocalNudges:
    """Nudges within this process only; no server announces new jobs to a remote worker."""

    def __init__(self) -> None:
        self.local_listeners: set[Callable[[Collection[str]], None]] = set()

    def wake_local(self, queues: Collection[str]) -> None:
        for listener in self.local_listeners:
            listener(queues)


class DiscardedLatency:
    """Discards latencies: the server measures how long jobs waited and ran."""

    async def flush(self, latencies: LatencyBuffer) -> None:
        latencies.take()


class RemoteLeaseBackend:
    """The leases of one worker, held through a server."""

    def __init__(self, server: ServerClient, telemetry: Telemetry, worker: WorkerId) -> None:
        self._server = server
        self._telemetry = telemetry
        self._worker = worker
        self._claiming: str | None = None

    async def claim(
        self,
        worker: WorkerId,
        limit: int,
        *,
        queues: Collection[str] | None,
        known: Collection[str],
        lease_time: timedelta,
        nudged: bool = False,
    ) -> ClaimResult:
        if limit < 1 or not known:
            return ClaimResult((), None)
        # The key is kept until a claim returns: repeating it brings the jobs of a lost response.
        self._claiming = self._claiming or str(new_job_id())
        answer = await self._server.ask(
            "worker/jobs/claim",
            {
                "worker": worker,
                "slots": min(limit, _MOST_SLOTS),
                "definitions": versions(known),
                "queues": None if queues is None else list(queues),
                "lease_seconds": lease_time.total_seconds(),
                "nudged": nudged,
                "key": self._claiming,
            },
        )
        self._claiming = None
        due = answer["next_due_seconds"]
        leases = [wire.parse_lease(lease) for lease in answer["leases"]]
        self._telemetry.claimed(worker, leases)
        return ClaimResult(leases, None if due is None else timedelta(seconds=due))

    async def release_unknown(self, held: Collection[LeaseRef]) -> int:
        """Ask the server to hand them back. One of an older version cannot, and leaves them to
        lease recovery."""
        try:
            await self._heartbeat(list(held), renew=False, complete=True)
        except RequestRefused as error:
            self._telemetry.trouble("handing back jobs", error)
        return 0

    async def renew(self, held: Sequence[LeaseRef], *, lease_time: timedelta) -> list[RenewedLease]:
        stops = await self._heartbeat(held, lease_seconds=lease_time.total_seconds())
        return [
            RenewedLease(*one, cancel_requested=stop == "canceled")
            for one, stop in stops.items()
            if stop != "lost"
        ]

    async def stops(self, held: Sequence[LeaseRef]) -> set[JobId]:
        stops = await self._heartbeat(held, renew=False)
        return {one.job_id for one, stop in stops.items() if stop == "canceled"}

    async def report(self, progress: Sequence[ProgressReport]) -> None:
        if progress:
            steps = [
                {
                    **wire.lease_ref(LeaseRef(each.job_id, each.token)),
                    "fraction": each.fraction,
                    "note": each.note and clean(each.note, NOTE_BYTES),
                }
                for each in progress
            ]
            await self._heartbeat((), renew=False, progress=steps)

    async def log(self, lines: Sequence[LogLine]) -> None:
        """Send log lines. Lines that the server refuses are dropped, so that their jobs' outcomes
        can be recorded."""
        if not lines:
            return
        try:
            await self._heartbeat((), renew=False, lines=[_log_line_fields(line) for line in lines])
        except RequestRefused as error:
            self._telemetry.trouble("writing logs", error)

    async def is_done(self, tenant: TenantId, key: str) -> bool:
        raise OnceUnavailable("a worker without a database cannot look it up")

    async def finish(self, finishes: Sequence[AttemptEnd]) -> dict[LeaseRef, JobState]:
        """Report outcomes. Their content cannot make it fail: a batch that is refused is reported
        one by one, and finally without its text."""
        try:
            ended = await self._finish([storable_finish(finish) for finish in finishes])
        except RequestRefused as error:
            self._telemetry.trouble("finish", error)
            ended = {}
            for finish in finishes:
                ended |= await self._finish_without_text(finish)
        self._telemetry.finished(finishes, ended)
        return ended

    async def _finish_without_text(self, finish: AttemptEnd) -> dict[LeaseRef, JobState]:
        for shortened in (storable_finish(finish), without_text(finish)):
            try:
                return await self._finish([shortened])
            except RequestRefused as error:
                self._telemetry.trouble("finish", error, job_id=finish.job_id)
        return {}  # the others must not wait for it; its lease will run out

    async def _finish(self, finishes: Sequence[AttemptEnd]) -> dict[LeaseRef, JobState]:
        answer = await self._server.ask(
            "worker/finish",
            {"worker": self._worker, "ends": [wire.attempt_end(finish) for finish in finishes]},
        )
        return {
            wire.parse_lease_ref(end): JobState(end["state"])
            for end in answer["ends"]
            if end["state"] is not None
        }

    async def _heartbeat(
        self, held: Sequence[LeaseRef], **more: object
    ) -> dict[LeaseRef, str | None]:
        answer = await self._server.ask(
            "worker/heartbeat",
            {"worker": self._worker, "leases": [wire.lease_ref(one) for one in held], **more},
        )
        return {wire.parse_lease_ref(lease): lease["stop"] for lease in answer["leases"]}


class RemoteDefinitionBackend:
    """Definitions as the code declares them; a time limit set by an operator comes with each lease."""

    rows: Collection[Definition] = ()

    async def refresh(self) -> None:
        """There are no rows to read."""

    def effective(self, declared: Definition) -> Definition:
        return declared


class RemoteWorkerBackend:
    """The worker's row, kept by the server."""

    def __init__(self, server: ServerClient, telemetry: Telemetry) -> None:
        self._server = server
        self._telemetry = telemetry
        self._unknown: Sequence[str] = ()

    async def beat(self, worker: WorkerRow) -> WorkerOrder:
        row = {name: getattr(worker, name) for name in _ROW}
        answer = await self._server.ask("worker/beat", {"worker": worker.id, **row})
        unknown = answer["unknown_definitions"]
        if unknown and unknown != self._unknown:
            self._telemetry.warn(
                "the server does not know these definitions, it must import them too",
                definitions=unknown,
            )
        self._unknown = unknown
        return WorkerOrder(answer["wanted"])

    async def leave(self, worker: WorkerId) -> None:
        await self._server.ask("worker/leave", {"worker": worker})


#: Columns of a worker's row that the server fills in.
_SERVER_FIELDS = ("id", "started_at", "last_seen_at", "age", "wanted", "wanted_by", "wanted_at")
_ROW = tuple(field.name for field in fields(WorkerRow) if field.name not in _SERVER_FIELDS)


def _log_line_fields(line: LogLine) -> Mapping[str, Any]:
    line = replace(line, message=clean(line.message, LINE_BYTES))
    return {
        **wire.lease_ref(LeaseRef(line.job_id, line.attempt)),
        "level": line.level,
        "message": line.message,
        "at": line.at.isoformat(),
        "fields": dict(line.fields),
    }
