"""Counts: check and correct the running totals of jobs by tenant, queue, definition and state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.jobs.states import JobState
from windlass.storage.jobs.jobs import CountCorrection
from windlass.storage.storage import Storage

_Totals = dict[tuple[str, str, str, str], int]


@dataclass(frozen=True, slots=True)
class Miscount:
    """A total that differs from a recount."""

    tenant: str
    queue: str
    definition: str
    state: str
    kept: int
    counted: int


class Counts:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def check(self, scope: Scope = ALL_TENANTS) -> Sequence[Miscount]:
        """Compare the totals with a recount, which reads every job. Empty if all is right.

        One statement reads both, so jobs that move meanwhile cause no false alarm.
        """
        found = await self._storage.jobs.recount(scope)
        kept, counted = _totals(found.kept), _totals(found.counted)
        return [
            Miscount(*place, kept.get(place, 0), counted.get(place, 0))
            for place in sorted(kept.keys() | counted.keys())
            if kept.get(place, 0) != counted.get(place, 0)
        ]

    async def correct(self, wrong: Sequence[Miscount]) -> None:
        """Correct totals that a check found wrong, once. Adds the difference: it stays the same
        however many jobs have moved since."""
        off: dict[tuple[str, str, str], dict[str, int]] = {}
        for each in wrong:
            place = off.setdefault((each.tenant, each.queue, each.definition), {})
            place[each.state] = each.counted - each.kept
        if off:
            await self._storage.jobs.correct_counts(
                [
                    CountCorrection(
                        tenant=tenant, queue=queue, definition=definition, missing=missing
                    )
                    for (tenant, queue, definition), missing in off.items()
                ]
            )


def _totals(found: Sequence[Mapping[str, Any]]) -> _Totals:
    return {
        (row["tenant_id"], row["queue"], row["definition"], str(state)): int(row[state])
        for row in found
        for state in JobState
    }
