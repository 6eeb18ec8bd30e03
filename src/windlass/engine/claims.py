"""One worker's way of claiming: look which lines have jobs, share between them, draw.

To look, and to draw from the front of a line, is to step over everything that lies there: jobs that
run, jobs this worker does not know and, while something holds an old snapshot of a PostgreSQL
database, all jobs that ended since. So both are done sparingly, and a claim in between goes on where
the last one stopped. What has come to stand before that place is found from the front: after a
while, and at once when a claim brings less than was wanted. See docs/decisions/0008.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from windlass import clock
from windlass.core import share
from windlass.core.models import Lease, Line, Place, Quota, Survey
from windlass.ids import WorkerId
from windlass.storage.base import Storage

#: Something that took this long, in seconds, is done again only after ten times as long.
_LONG = 0.02
_TIMES = 10.0


class Claims:
    """Keeps its turn among tenants and its place in each line, so make one per worker."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._cursor = ""
        self._survey = Survey(lines=(), next_due_in=None)
        self._places: dict[Line, Place] = {}
        self._looks = _Sparingly(short=1.0)
        self._fronts = _Sparingly(short=_TIMES)

    async def claim(
        self,
        worker: WorkerId,
        wanted: int,
        *,
        queues: Collection[str] | None,
        known: Collection[str],
        lease_time: timedelta,
    ) -> tuple[list[Lease], timedelta | None]:
        """Lease up to `wanted` jobs; also how long until a job not yet due becomes so."""

        async def draw(wanted: int) -> list[Lease]:
            quotas = [
                replace(quota, after=self._places.get(quota.line))
                for quota in share.quotas(self._survey.lines, wanted)
            ]
            if not quotas:
                return []
            began = clock.monotonic()
            leases = await self._storage.claim(worker, quotas, known, lease_time=lease_time)
            if all(quota.after is None for quota in quotas):
                self._fronts.took(clock.monotonic() - began)
            self._remember(quotas, leases)
            return leases

        looked = self._looks.due or self._is_due
        if looked:
            await self._look(queues, known)
        if self._fronts.due:
            self._places.clear()
        from_front = not self._places
        leases = await draw(wanted)
        if len(leases) < wanted and not (looked and from_front):
            self._places.clear()
            await self._look(queues, known)
            leases += await draw(wanted - len(leases))
        return leases, self._survey.next_due_in

    @property
    def _is_due(self) -> bool:
        """Whether a job that was not yet due at the last look has become so."""
        due_in = self._survey.next_due_in
        return due_in is not None and self._looks.since >= due_in.total_seconds()

    async def _look(self, queues: Collection[str] | None, known: Collection[str]) -> None:
        began = clock.monotonic()
        survey = await self._storage.survey(queues, known, cursor=self._cursor)
        if survey.next_due_in is not None and survey.next_due_in <= timedelta():
            await self._storage.promote()
            began = clock.monotonic()
            survey = await self._storage.survey(queues, known, cursor=self._cursor)
        self._looks.took(clock.monotonic() - began)
        self._survey = survey

    def _remember(self, quotas: Sequence[Quota], leases: Sequence[Lease]) -> None:
        """Note how far each line was drawn, and whose turn is next."""
        self._cursor = share.next_cursor(self._survey.lines, quotas)
        lines = {(line.queue, line.tenant, line.gate): line for line in self._survey.lines}
        for lease in leases:
            key = lease.queue, lease.tenant
            if line := lines.get((*key, lease.definition)) or lines.get((*key, "")):
                self._places[line] = Place(lease.priority, lease.due_at, lease.job_id)


class _Sparingly:
    """When to do something again that must not take up all the time."""

    def __init__(self, *, short: float) -> None:
        self._short = short
        self._last = self._next = float("-inf")

    def took(self, seconds: float) -> None:
        """It was done, and took so long."""
        self._last = clock.monotonic()
        self._next = self._last + seconds * (_TIMES if seconds > _LONG else self._short)

    @property
    def due(self) -> bool:
        return clock.monotonic() >= self._next

    @property
    def since(self) -> float:
        """Seconds since it was done."""
        return clock.monotonic() - self._last
