"""A worker process's own probe: `/healthz`, `/readyz` and `/metrics` on a port of its own.

A few lines of HTTP rather than a framework: a probe must answer when little else does.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from windlass.core.orders import Order
from windlass.engine.connections import ConnectionLimits
from windlass.worker.worker import Worker

#: A probe that takes longer is not worth waiting for.
_SECONDS = 5.0
_MOST_BYTES = 8192
#: Connections open at once: more would take files that the worker needs for its jobs.
_CONNECTIONS, _CONNECTIONS_PER_ADDRESS = 64, 16

#: What is told of each worker in this process, and what it means.
PROCESS_METRICS = {
    "windlass_process_slots": "Slots of the workers in this process.",
    "windlass_process_running": "Attempts under way in this process.",
    "windlass_process_claim_age_seconds": "Since a worker here last looked for work with success.",
}


class Answer(NamedTuple):
    status: str
    body: bytes
    type: str = "text/plain; charset=utf-8"


_OK = Answer("200 OK", b"ok\n")


class Health:
    """Answers for all workers of a process; `workers` may grow while it does."""

    def __init__(self, workers: Sequence[Worker], *, host: str, port: int) -> None:
        self._workers = workers
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._limits = ConnectionLimits(total=_CONNECTIONS, per_address=_CONNECTIONS_PER_ADDRESS)

    @property
    def port(self) -> int:
        """Where it listens once started; 0 was asked for any."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def start(self) -> None:
        """Listen. Raises OSError if the port is taken."""
        self._server = await asyncio.start_server(
            self._serve, self._host, self._port, limit=_MOST_BYTES
        )

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def answer(self, path: str) -> Answer:
        """What a path says."""
        match path.partition("?")[0]:
            case "/healthz":
                return _OK
            case "/readyz":
                why = await self._unready()
                return Answer("503 Service Unavailable", f"{why}\n".encode()) if why else _OK
            case "/metrics":
                registry = CollectorRegistry()
                registry.register(_Workers(self._workers))
                ProcessCollector(registry=registry)
                return Answer("200 OK", generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4)
            case _:
                return Answer("404 Not Found", b"/healthz, /readyz, /metrics\n")

    async def _unready(self) -> str:
        """Why no work is to be expected of this process; empty if it is."""
        if not self._workers:
            return "starting"
        for worker in self._workers:
            if worker.doing is not Order.RUN:
                return "draining"
            if not worker.claims_go_on:
                return "claims do not go on"
            try:
                async with asyncio.timeout(_SECONDS / 2):
                    await worker.see_database()
            except Exception:  # noqa: BLE001  whatever it is, the worker's own log tells it
                return "the database does not answer"
        return ""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        if self._limits.take(address) is not None:
            writer.close()
            return
        try:
            await self._respond(reader, writer)
        finally:
            self._limits.give_back(address)
            writer.close()

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_SECONDS):
                method, path, *_ = (await reader.readline()).decode("latin-1").split()
                while (await reader.readline()).strip():
                    pass
                refused = Answer("405 Method Not Allowed", b"")
                answer = await self.answer(path) if method in ("GET", "HEAD") else refused
                writer.write(_head(answer) + (b"" if method == "HEAD" else answer.body))
                await writer.drain()


class _Workers(Collector):
    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers

    def collect(self) -> Iterator[Metric]:
        values = (
            sum(worker.slots for worker in self._workers),
            sum(worker.running for worker in self._workers),
            max((worker.claim_age for worker in self._workers), default=0.0),
        )
        for (name, tells), value in zip(PROCESS_METRICS.items(), values, strict=True):
            yield GaugeMetricFamily(name, tells, value)


def _head(answer: Answer) -> bytes:
    return (
        f"HTTP/1.1 {answer.status}\r\ncontent-type: {answer.type}\r\n"
        f"content-length: {len(answer.body)}\r\nconnection: close\r\n"
        "cache-control: no-store\r\nx-content-type-options: nosniff\r\n"
        "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n\r\n"
    ).encode("latin-1")
