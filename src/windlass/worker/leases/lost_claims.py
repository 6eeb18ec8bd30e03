"""After a claim failed: hands back what it may have taken, of which this worker was never told."""

from collections.abc import Collection
from datetime import timedelta

from windlass import clock
from windlass.core.leases.lease import LeaseRef
from windlass.telemetry import Telemetry
from windlass.worker.backend import LeaseBackend

#: The statement of a failed claim may still run at the server: so often, in a lease's time, is looked.
_LOOKS = 6


class LostClaimRecovery:
    """Leases that a claim took whose answer was lost. They would run out and use up an attempt."""

    def __init__(
        self, leases: LeaseBackend, telemetry: Telemetry, *, lease_time: timedelta
    ) -> None:
        self._leases = leases
        self._telemetry = telemetry
        self._pause = lease_time.total_seconds() / _LOOKS
        self._looks_left = 0
        self._look_at = 0.0

    def expect(self) -> None:
        """A claim failed: look from now on, for as long as a lease lasts."""
        self._looks_left = _LOOKS + 1
        self._look_at = clock.monotonic()

    async def release(self, held: Collection[LeaseRef]) -> None:
        """Look if it is time to, and hand back what is not among the leases `held`. Must not be
        called while a claim is under way, whose answer is still to come."""
        if not self._looks_left or clock.monotonic() < self._look_at:
            return
        try:
            await self._leases.release_unknown(held)
        except Exception as error:  # noqa: BLE001  the next look may succeed
            self._telemetry.trouble("looking for lost claims", error)
        else:
            self._looks_left -= 1
        self._look_at = clock.monotonic() + self._pause
