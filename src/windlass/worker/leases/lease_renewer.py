"""Lease renewal: renews leases, and stops attempts that are canceled or have lost theirs."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from windlass import clock
from windlass.core.leases.lease import LeaseRef
from windlass.worker.attempt import LiveAttempt
from windlass.worker.backend import LeaseBackend
from windlass.worker.context import StopReason

Stop = Callable[[LiveAttempt, StopReason], object]


class LeaseRenewer:
    """Renews all leases of one worker with one statement."""

    def __init__(
        self,
        leases: LeaseBackend,
        held: Callable[[], Mapping[LeaseRef, LiveAttempt]],
        *,
        lease_time: timedelta,
        stop: Stop = LiveAttempt.stop,
    ) -> None:
        self._stop = stop
        self._leases = leases
        self._held = held
        self._lease_time = lease_time

    async def tick(self) -> list[LiveAttempt]:
        """Renew every lease held now. Returns the runs whose lease is lost; they were stopped."""
        asked = {held: run for held, run in self._snapshot().items() if _is_ours(run)}
        if not asked:
            return []
        lease_ends_at = clock.boottime() + self._lease_time.total_seconds()
        renewed = await self._leases.renew(list(asked), lease_time=self._lease_time)
        alive = set()
        for renewal in renewed:
            held = LeaseRef(renewal.job_id, renewal.token)
            alive.add(held)
            asked[held].lease_ends_at = lease_ends_at
            if renewal.cancel_requested:
                self._stop(asked[held], "canceled")
        # A run that ended while the statement ran has lost nothing: its end is being recorded.
        lost = [
            run
            for held, run in asked.items()
            if held not in alive and not run.ended and _is_ours(run)
        ]
        for run in lost:
            self._stop(run, "lost")
        return lost

    def overdue(self) -> list[LiveAttempt]:
        """The runs whose leases have run out by this machine's clock. A late renewal still succeeds
        unless the reaper has taken them back."""
        now = clock.boottime()
        return [
            run
            for run in self._snapshot().values()
            if _is_ours(run) and not run.ended and run.lease_ends_at <= now
        ]

    async def poll_cancel_requests(self) -> None:
        """Stop the runs of canceled jobs, without waiting for the next renewal."""
        running = [run for run in self._snapshot().values() if not run.ended and _is_ours(run)]
        if not running:
            return
        asked = await self._leases.stops([run.held for run in running])
        for run in running:
            if run.held.job_id in asked:
                self._stop(run, "canceled")

    def _snapshot(self) -> dict[LeaseRef, LiveAttempt]:
        return dict(self._held())  # another thread may change it


def _is_ours(run: LiveAttempt) -> bool:
    return not (run.lost or run.completed)
