"""Health probe of a worker process: `/healthz`, `/readyz` and `/metrics` on a port of its own.

A few lines of HTTP instead of a framework, in a thread of its own: the probe must respond while the
workers' event loop is blocked, and report that.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from windlass.core.leases.worker_orders import WorkerOrder
from windlass.engine.access.connection_limits import ConnectionLimits
from windlass.worker.leases.loop_thread import LoopThread
from windlass.worker.worker import Worker

#: The most seconds for one request.
_SECONDS = 5.0
_MOST_BYTES = 8192
#: Connections open at once: more would use up descriptors that the jobs need.
_CONNECTIONS, _CONNECTIONS_PER_ADDRESS = 64, 16

#: Metrics of the workers in this process, with their help texts.
PROCESS_METRICS = {
    "windlass_process_slots": "Slots of the workers in this process.",
    "windlass_process_running": "Attempts under way in this process.",
    "windlass_process_claim_age_seconds": "Seconds since a worker here last claimed with success.",
    "windlass_process_blocked_seconds": "Seconds since the handlers' event loop is blocked; 0 if it is not.",
}


class HealthResponse(NamedTuple):
    """An HTTP response of the probe."""

    status: str
    body: bytes
    type: str = "text/plain; charset=utf-8"


_OK = HealthResponse("200 OK", b"ok\n")


class HealthServer:
    """Serves the probe for all workers of a process; `workers` may grow meanwhile."""

    def __init__(self, workers: Sequence[Worker], *, host: str, port: int) -> None:
        self._workers = workers
        self._host = host
        self._port = port
        self._thread = LoopThread("windlass health")
        self._workers_loop: asyncio.AbstractEventLoop | None = None
        self._bound_port = 0
        self._limits = ConnectionLimits(total=_CONNECTIONS, per_address=_CONNECTIONS_PER_ADDRESS)

    @property
    def port(self) -> int:
        """The port it listens on once started, also if it was created with port 0."""
        return self._bound_port

    async def start(self) -> None:
        """Listen, in a thread of its own. Called in the workers' event loop. Raises OSError if the
        port is taken."""
        self._workers_loop = asyncio.get_running_loop()
        listening: Future[int] = Future()
        self._thread.start(partial(self._listen, listening))
        self._bound_port = await asyncio.wrap_future(listening)

    async def stop(self) -> None:
        """Stop listening."""
        await self._thread.stop(within=_SECONDS)

    async def respond(self, path: str) -> HealthResponse:
        """The response for a path."""
        match path.partition("?")[0]:
            case "/healthz":
                return _health(self._fatal_reason())
            case "/readyz":
                return _health(await self._unready_reason())
            case "/metrics":
                registry = CollectorRegistry()
                registry.register(_WorkerCollector(self._workers))
                ProcessCollector(registry=registry)
                return HealthResponse("200 OK", generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4)
            case _:
                return HealthResponse("404 Not Found", b"/healthz, /readyz, /metrics\n")

    async def _listen(self, listening: "Future[int]") -> None:
        try:
            server = await asyncio.start_server(
                self._serve, self._host, self._port, limit=_MOST_BYTES
            )
        except OSError as error:
            listening.set_exception(error)
            return
        listening.set_result(server.sockets[0].getsockname()[1])
        async with server:
            await asyncio.Event().wait()

    def _fatal_reason(self) -> str:
        """The reason to restart this process; empty if it is alive."""
        blockages = [worker.renewal.blockage for worker in self._workers]
        if any(blockage is not None and blockage.is_over for blockage in blockages):
            return "the event loop is blocked"
        return ""

    async def _unready_reason(self) -> str:
        """The reason why this process takes no jobs; empty if it does."""
        if not self._workers:
            return "starting"
        for worker in self._workers:
            if blockage := worker.renewal.blockage:
                where = "" if blockage.lease is None else f" in {blockage.lease.definition}"
                return f"the event loop is blocked{where}"
            if worker.effective_order is not WorkerOrder.RUN:
                return "draining"
            if not worker.pace.is_on_time:
                return "no recent claim"
            try:
                async with asyncio.timeout(_SECONDS / 2):
                    await self._check_database(worker)
            except Exception:  # noqa: BLE001  the worker's own log shows the cause
                return "the database does not answer"
        return ""

    async def _check_database(self, worker: Worker) -> None:
        """Raise unless the database answers the worker. Runs in the workers' event loop."""
        loop = self._workers_loop
        if loop is None or loop is asyncio.get_running_loop():
            await worker.check_database()
        else:
            check = asyncio.run_coroutine_threadsafe(worker.check_database(), loop)
            await asyncio.wrap_future(check)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        if self._limits.take(address) is not None:
            writer.close()
            return
        try:
            await self._handle(reader, writer)
        finally:
            self._limits.give_back(address)
            writer.close()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_SECONDS):
                method, path, *_ = (await reader.readline()).decode("latin-1").split()
                while (await reader.readline()).strip():
                    pass
                refused = HealthResponse("405 Method Not Allowed", b"")
                response = await self.respond(path) if method in ("GET", "HEAD") else refused
                writer.write(_head(response) + (b"" if method == "HEAD" else response.body))
                await writer.drain()


class _WorkerCollector(Collector):
    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers

    def collect(self) -> Iterator[Metric]:
        values = (
            sum(worker.slots for worker in self._workers),
            sum(worker.running for worker in self._workers),
            max((worker.pace.claim_age for worker in self._workers), default=0.0),
            max((_blocked_seconds(worker) for worker in self._workers), default=0.0),
        )
        for (name, text), value in zip(PROCESS_METRICS.items(), values, strict=True):
            yield GaugeMetricFamily(name, text, value)


def _blocked_seconds(worker: Worker) -> float:
    blockage = worker.renewal.blockage
    return 0.0 if blockage is None else blockage.seconds


def _health(problem: str) -> HealthResponse:
    return HealthResponse("503 Service Unavailable", f"{problem}\n".encode()) if problem else _OK


def _head(response: HealthResponse) -> bytes:
    return (
        f"HTTP/1.1 {response.status}\r\ncontent-type: {response.type}\r\n"
        f"content-length: {len(response.body)}\r\nconnection: close\r\n"
        "cache-control: no-store\r\nx-content-type-options: nosniff\r\n"
        "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n\r\n"
    ).encode("latin-1")
