"""Cancel watch: polls for cancel requests more often than leases are renewed."""

import asyncio
import contextlib
from datetime import timedelta

from windlass.telemetry import Telemetry
from windlass.worker.leases.lease_renewer import LeaseRenewer

#: Nudges come with every enqueue; the database is polled no more often than this.
_SHORTEST_SECONDS = 0.2


class CancelWatch:
    """Polls for cancel requests at each poll interval, and when nudged."""

    def __init__(self, renewer: LeaseRenewer, telemetry: Telemetry, *, poll: timedelta) -> None:
        self._renewer = renewer
        self._telemetry = telemetry
        self._poll = poll.total_seconds()
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        """Poll soon."""
        self._nudged.set()

    async def run(self) -> None:
        """Poll for ever."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll):
                    await self._nudged.wait()
            self._nudged.clear()
            try:
                await self._renewer.poll_cancel_requests()
            except Exception as error:  # noqa: BLE001  the next poll may succeed
                self._telemetry.trouble("polling for cancels", error)
            await asyncio.sleep(_SHORTEST_SECONDS)
