"""Runs the workers of the given apps until they have ended, and handles signals."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from windlass.app.windlass import Windlass
from windlass.cli.framework.exit_codes import Exit
from windlass.cli.run.signals import on_stop_signals
from windlass.engine.startup_wait import wait_until_ready
from windlass.errors import PortUnavailable
from windlass.errors.wording import address, counted
from windlass.settings import Settings
from windlass.worker.isolation.memory import settle
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

if TYPE_CHECKING:
    from windlass.cli.connect.server_address import ServerAddress

#: Time limit for the process to end after its jobs' time limit, whatever hangs.
_LAST_SECONDS = 20.0
#: Time limit for writing the last line.
_WRITE_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFlags:
    """Flags of the workers; None means the setting. With a `server` they use no database."""

    concurrency: int | None = None
    queues: Sequence[str] | None = None
    drain: bool = False
    scheduling: bool | None = None
    server: "ServerAddress | None" = None

    def options(self, settings: Settings) -> WorkerOptions:
        options = WorkerOptions.of(settings, concurrency=self.concurrency, queues=self.queues)
        return replace(options, drain=self.drain)


@dataclass(slots=True)
class WorkerGroup:
    """The running workers. `stop` drains them; a second `stop` hands their jobs back.

    `ready` is called when all of them have their rows and are about to claim.
    """

    said: Callable[[str], None]
    ready: Callable[[], None]
    expected: int = 1
    patience: float = 0.0
    answering: str = "database"
    workers: list[Worker] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    at_stop: Callable[[], object] = lambda: None
    stops: int = 0
    _registered: int = 0
    _last: asyncio.TimerHandle | None = None
    _ending: threading.Lock = field(default_factory=threading.Lock)

    def stop(self) -> None:
        self.stops += 1
        self.at_stop()
        running = sum(worker.running for worker in self.workers)
        if running and self.stops == 1:
            self.said(f"Letting {counted(running, 'running job')} finish; stop again to hand back.")
        elif running:
            self.said(f"Handing back {counted(running, 'running job')}.")
        for worker in self.workers:
            worker.stop()
        self._set_deadline(_LAST_SECONDS + (self.patience if self.stops == 1 else 0.0))

    def done(self) -> None:
        """All workers have ended: cancel the deadline."""
        if self._last is not None:
            self._last.cancel()

    def add(self, worker: Worker, place: str) -> None:
        self.places[worker.id] = place
        worker.on_stop_order = self.stop
        worker.renewal.kill_worker_process = self.end_blocked
        worker.on_registered = self._note_registered
        self.workers.append(worker)
        if self.stops:
            worker.stop()

    def describe(self, worker: Worker) -> str:
        """A worker's database or server, its queues and its number of slots."""
        queues = worker.queues
        served = "all queues" if queues is None else f"queues {', '.join(queues)}"
        return f"{self.places[worker.id]}: {served}, {counted(worker.slots, 'slot')}"

    def _note_registered(self) -> None:
        self._registered += 1
        if self._registered == self.expected:
            self.ready()

    async def end_blocked(self) -> None:
        """End this process: its event loop is blocked and does not return. Called in the renewal
        thread of any of its workers."""
        if not self._ending.acquire(blocking=False):
            return  # another worker's thread is doing it
        self._write_error(
            "A handler blocks the event loop past its time limit: ending this worker."
        )
        handed_back = await asyncio.gather(
            *(worker.renewal.hand_back() for worker in list(self.workers))
        )
        if not all(handed_back):
            self._write_error(f"The {self.answering} does not answer; leaving without it.")
        os._exit(Exit.BLOCKED)

    @property
    def all_slots_stuck(self) -> bool:
        return any(worker.all_slots_stuck for worker in self.workers)

    def _write_error(self, line: str) -> None:
        # In a thread, with a time limit: the blocked handler may hold the stream's lock.
        writing = threading.Thread(target=os.write, args=[2, f"{line}\n".encode()], daemon=True)
        writing.start()
        writing.join(_WRITE_SECONDS)

    def _set_deadline(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if self._last is None or self._last.when() > loop.time() + seconds:
            self.done()
            self._last = loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        # Closing a database that does not respond can take forever, and nothing is lost: lease
        # recovery finds outcomes that are not recorded.
        self.said(f"The {self.answering} does not answer; leaving without it.")
        left = sum(len(worker.held) for worker in self.workers)
        self.report_lost_outcomes(left)
        os._exit(Exit.LEFT_BEHIND if left else Exit.OK)

    def report_lost_outcomes(self, count: int) -> None:
        """Report how many jobs' outcomes are lost, if any are."""
        if count:
            self.said(
                f"{counted(count, 'outcome')} could not be recorded; once the leases have run out, "
                f"{'that job runs' if count == 1 else 'those jobs run'} again."
            )


async def work(apps: Sequence[Windlass], flags: WorkerFlags, group: WorkerGroup) -> int:
    """Run a worker for each app until all have ended; returns the exit code.

    The first worker that cannot reach its database ends them all, but only at the start: a running
    worker survives outages.
    """
    if flags.server is None:
        for app in apps:
            await wait_until_ready(app.ready, app.telemetry)
    else:
        group.answering = "server"
    settle()
    group.expected = len(apps)
    group.patience = max(app.settings.worker.shutdown_timeout_seconds for app in apps)
    with on_stop_signals(group.stop):
        async with _health(apps[0].settings, group):
            left = await asyncio.gather(*(_worker_context(app, flags, group) for app in apps))
        group.done()
    if sum(left):
        group.report_lost_outcomes(sum(left))
        return Exit.LEFT_BEHIND
    # Above its memory limit a worker exits with 0, to be restarted. If runs that ignored their
    # stop hold every slot, something is wrong: the exit code tells the supervisor.
    return Exit.FAILED if group.all_slots_stuck else Exit.OK


@asynccontextmanager
async def _health(settings: Settings, group: WorkerGroup) -> AsyncIterator[None]:
    """Serve health probes while the block lasts, if a port is set."""
    worker = settings.worker
    if worker.health_port is None:
        yield
        return
    from windlass.worker.health_probe import HealthServer

    health = HealthServer(group.workers, host=worker.health_host, port=worker.health_port)
    try:
        await health.start()
    except OSError as error:
        raise PortUnavailable(
            worker.health_host, worker.health_port, cause=error, option="worker.health_port"
        ) from None
    try:
        yield
    finally:
        await health.stop()


def _worker_context(
    app: Windlass, flags: WorkerFlags, group: WorkerGroup
) -> Coroutine[Any, Any, int]:
    options = flags.options(app.settings)
    if flags.server is None:
        place = f"on {app.url.partition(':')[0]} {address(app.url)}"
    else:
        place = f"for {flags.server.url}"

    def started(worker: Worker) -> None:
        group.add(worker, place)

    if flags.server is None:
        return app.work(options, started, scheduling=flags.scheduling)
    # It imports an HTTP client, which other workers do not need.
    from windlass.cli.run.run_remote_worker import work_for

    return work_for(flags.server, app, options, started)
