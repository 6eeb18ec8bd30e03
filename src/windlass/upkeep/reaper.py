"""Takes back leases that ran out, on its second look.

An expired lease is its holder's until then: a database that paused, or a worker that was slow to
renew, must not make everything start again.
"""

import random
from datetime import timedelta

from windlass import clock
from windlass.core.models import Held
from windlass.engine.leases import Leases
from windlass.storage.base import Storage
from windlass.storage.expired import Expired

#: How many leases are taken back at once, so that many orphans do not all start together.
_MOST = 200


class Reaper:
    def __init__(self, leases: Leases, storage: Storage, *, lease_time: timedelta) -> None:
        self._leases = leases
        self._storage = storage
        self._second_look = lease_time.total_seconds() / 3
        self._first_seen: dict[Held, float] = {}
        self._patient_until = 0.0

    async def tick(self) -> int:
        """Look once; take back what was already run out a renewal's time ago. Answers how many."""
        expired = await self._look()
        now = clock.monotonic()
        seen = {Held(lease.job_id, lease.token): lease for lease in expired}
        self._first_seen = {key: self._first_seen.get(key, now) for key in seen}
        due = [
            lease for key, lease in seen.items() if now - self._first_seen[key] >= self._second_look
        ]
        if not due or now < self._patient_until:
            if not expired:
                await self._storage.tidy_claims()
            return 0
        return len(await self._leases.reap(_some(due)))

    async def _look(self) -> list[Expired]:
        asked_at = clock.monotonic()
        try:
            expired = await self._leases.expired()
        except Exception:
            self._begin_anew()
            raise
        if clock.monotonic() - asked_at > self._second_look / 2:
            self._begin_anew()
        return expired

    def _begin_anew(self) -> None:
        """The database was away or stood still, so that nobody could renew: earlier looks do not
        count, and everybody gets some more time to find back to it."""
        self._first_seen = {}
        self._patient_until = clock.monotonic() + 2 * self._second_look


def _some(due: list[Expired]) -> list[Expired]:
    """A capped part, in no order two reapers share."""
    return random.sample(due, min(len(due), _MOST))
