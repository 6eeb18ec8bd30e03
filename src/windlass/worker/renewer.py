"""Keeps leases alive, and tells an attempt when its lease is gone or its job should stop."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from windlass.core.lease import Held
from windlass.worker.attempt import LiveAttempt
from windlass.worker.side import LeaseSide


class Renewer:
    """Looks after all leases of one worker, one statement a round."""

    def __init__(
        self,
        leases: LeaseSide,
        held: Callable[[], Mapping[Held, LiveAttempt]],
        *,
        lease_time: timedelta,
    ) -> None:
        self._leases = leases
        self._held = held
        self._lease_time = lease_time

    async def tick(self) -> list[LiveAttempt]:
        """Renew every lease held now. Answers the runs whose lease is lost; they were told."""
        asked = {held: run for held, run in self._held().items() if _is_ours(run)}
        if not asked:
            return []
        renewed = await self._leases.renew(list(asked), lease_time=self._lease_time)
        alive = set()
        for renewal in renewed:
            held = Held(renewal.job_id, renewal.token)
            alive.add(held)
            if renewal.cancel_requested:
                asked[held].stop("canceled")
        # A run that ended while the statement ran has lost nothing: its end is being recorded.
        lost = [
            run
            for held, run in asked.items()
            if held not in alive and not run.ended and _is_ours(run)
        ]
        for run in lost:
            run.stop("lost")
        return lost

    async def look_for_stops(self) -> None:
        """Find jobs asked to stop without waiting for the next renewal."""
        running = [run for run in self._held().values() if not run.ended and _is_ours(run)]
        if not running:
            return
        asked = await self._leases.stops([run.held for run in running])
        for run in running:
            if run.held.job_id in asked:
                run.stop("canceled")


def _is_ours(run: LiveAttempt) -> bool:
    return not (run.lost or run.context.completed)
