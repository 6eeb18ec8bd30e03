"""Takes back leases that ran out, on its second look.

An expired lease is its holder's until then: a database that paused, or a worker that was slow to
renew, must not make everything start again.
"""

import random
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import TypeVar

from windlass import clock
from windlass.core.leases.lease import LeaseRef
from windlass.engine.leases.leases import NO_WORKER, Leases
from windlass.storage.leases.expired import ExpiredLease
from windlass.storage.storage import Storage

T = TypeVar("T")

#: How many leases are taken back at once, so that many orphans do not all start together.
_MOST = 200


class Reaper:
    def __init__(self, leases: Leases, storage: Storage, *, lease_time: timedelta) -> None:
        self._leases = leases
        self._storage = storage
        self._lease_time = lease_time
        self._second_look = lease_time.total_seconds() / 3
        self._first_seen: dict[LeaseRef, float] = {}
        self._seen: dict[LeaseRef, tuple[float, ExpiredLease]] = {}
        self._patient_until = 0.0
        #: Whether the last look found a database that takes no renewals.
        self._refused = False

    async def tick(self) -> int:
        """Look once; take back what had run out a renewal's time ago already. Returns how many."""
        expired = await self._timed_answer(self._leases.expired())
        if expired:
            # A database may let us look and yet not write: a backup's lock on all tables, or
            # somebody's on a file. A look counts only if a renewal would get through.
            await self._check_writable()
        now = clock.monotonic()
        seen = {LeaseRef(lease.job_id, lease.token): lease for lease in expired}
        self._remember(expired, now)
        self._first_seen = {key: self._first_seen.get(key, now) for key in seen}
        due = [
            lease for key, lease in seen.items() if now - self._first_seen[key] >= self._second_look
        ]
        if not due or clock.monotonic() < self._patient_until:
            return 0
        there = [lease for _, lease in self._seen.values()]
        return len(await self._leases.reap(_sample(due), there))

    async def _check_writable(self) -> None:
        """Raises unless a renewal would get through. The first one that does after others did not
        begins the time in which all may find back."""
        refused, self._refused = self._refused, True
        await self._timed_answer(
            self._storage.leases.renew(NO_WORKER, [], lease_time=self._lease_time)
        )
        self._refused = False
        if refused:
            self._patient_until = clock.monotonic() + 2 * self._second_look

    def _remember(self, expired: Sequence[ExpiredLease], now: float) -> None:
        """Note what ran out, for some time: leases of one worker run out within a renewal's time of
        each other, and are taken back one part after the other."""
        since = now - 2 * self._lease_time.total_seconds()
        self._seen = {held: seen for held, seen in self._seen.items() if seen[0] > since}
        self._seen.update((lease.held, (now, lease)) for lease in expired)

    async def _timed_answer(self, asked: Awaitable[T]) -> T:
        """An answer. If it fails or comes late, the database was away or stood still, and nobody
        could renew: earlier looks do not count, and all get some more time to find back to it."""
        asked_at = clock.monotonic()
        came = False
        try:
            answer = await asked
            came = clock.monotonic() - asked_at <= self._second_look / 2
        finally:
            if not came:
                self._first_seen = {}
                self._patient_until = clock.monotonic() + 2 * self._second_look
        return answer


def _sample(due: list[ExpiredLease]) -> list[ExpiredLease]:
    """A capped part, in no order two reapers share."""
    return random.sample(due, min(len(due), _MOST))
