"""Notes how long jobs waited and ran: a batch at a time, in memory until the next heartbeat."""

from collections.abc import Sequence

from windlass.core.leases.lease import Lease
from windlass.core.monitoring.latency import LatencyBuffer, sample
from windlass.worker.attempt import LiveAttempt
from windlass.worker.backend import LatencyBackend


class LatencyRecorder:
    """One worker's. What it has noted since the last flush is lost with its process."""

    def __init__(self, latency: LatencyBackend) -> None:
        self._latency = latency
        self._tally = LatencyBuffer()

    def started(self, leases: Sequence[Lease]) -> None:
        """Jobs were claimed."""
        self._tally.waited(leases)

    def ended(self, attempts: Sequence[LiveAttempt]) -> None:
        """Attempts have ended and are recorded."""
        some, weight = sample(attempts)
        self._tally.observe(
            "run",
            [(run.lease.queue, run.lease.definition, run.ended_at - run.began_at) for run in some],
            weight,
        )

    async def flush(self) -> None:
        """Store what was noted."""
        await self._latency.flush(self._tally)
