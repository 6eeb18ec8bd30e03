"""Lost claims: hands back jobs that a failed claim took without this worker learning of it."""

from collections.abc import Collection
from datetime import timedelta

from windlass import clock
from windlass.core.leases.lease import LeaseRef
from windlass.telemetry import Telemetry
from windlass.worker.backend import LeaseBackend

#: A failed claim may still run at the server: the number of looks while a lease lasts.
_LOOKS = 6


class LostClaimRecovery:
    """Releases leases whose claim failed on the way back. They would run out and use up an attempt."""

    def __init__(
        self, leases: LeaseBackend, telemetry: Telemetry, *, lease_time: timedelta
    ) -> None:
        self._leases = leases
        self._telemetry = telemetry
        self._pause = lease_time.total_seconds() / _LOOKS
        self._looks_left = 0
        self._look_at = 0.0

    def expect(self) -> None:
        """Look from now on, for as long as a lease lasts: a claim has failed."""
        self._looks_left = _LOOKS + 1
        self._look_at = clock.monotonic()

    async def release(self, held: Collection[LeaseRef]) -> None:
        """Hand back this worker's leases that are not among `held`, if it is time to look. Must not
        be called while a claim is under way: its jobs are not in `held` yet."""
        if not self._looks_left or clock.monotonic() < self._look_at:
            return
        try:
            await self._leases.release_unknown(held)
        except Exception as error:  # noqa: BLE001  the next look may succeed
            self._telemetry.trouble("releasing lost claims", error)
        else:
            self._looks_left -= 1
        self._look_at = clock.monotonic() + self._pause
