"""Latency of jobs that remote workers run, recorded by the server they ask.

Workers with a database note it themselves.
"""

import asyncio
import contextlib
from collections.abc import Sequence

from windlass.core.leases.lease import Lease, LeasedJob
from windlass.core.monitoring.latency import LatencyBuffer
from windlass.engine.monitoring.latency import Latency
from windlass.errors import WindlassError
from windlass.tasks import spawn_unbound
from windlass.telemetry import Telemetry

#: What is noted is stored together with what else comes within this time.
_GATHER_SECONDS = 2.0


class RemoteLatencyRecorder:
    """Of all workers that ask this server. What was noted in the last moments is lost with its process."""

    def __init__(self, latency: Latency, telemetry: Telemetry) -> None:
        self._latency = latency
        self._telemetry = telemetry
        self._tally = LatencyBuffer()
        self._closing = asyncio.Event()
        self._storing: asyncio.Task[None] | None = None

    def started(self, leases: Sequence[Lease]) -> None:
        """Jobs were claimed."""
        if leases:
            self._tally.waited(leases)
            self._store_soon()

    def ended(self, runs: Sequence[LeasedJob]) -> None:
        """Attempts have ended, as they stood when that was told, and are recorded."""
        if runs:
            self._tally.ran((run, run.ran_seconds) for run in runs)
            self._store_soon()

    async def flush(self) -> None:
        """Store what was noted."""
        await self._latency.flush(self._tally)

    async def close(self) -> None:
        """Store what was noted. What is being stored is not cut short."""
        self._closing.set()
        if self._storing is not None:
            await self._storing

    def _store_soon(self) -> None:
        if self._storing is None or self._storing.done():
            self._storing = spawn_unbound(self._store())

    async def _store(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GATHER_SECONDS):
                await self._closing.wait()
        try:
            await self.flush()
        except WindlassError as error:  # kept, and tried again with what comes next
            self._telemetry.trouble("storing how long jobs took", error)
