"""Counts: how many jobs are where, kept without scanning; and whether they are right."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windlass.core.models import ALL_TENANTS, Scope
from windlass.core.states import JobState
from windlass.storage.base import Storage

_LOOKS = 4
_PAUSE_SECONDS = 0.25

_Totals = dict[tuple[str, str, str, str], int]


@dataclass(frozen=True, slots=True)
class Miscount:
    """A total that does not say what there is."""

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

        Jobs that move between the two readings look like a mistake, so one has to show in the
        same place by the same amount in several looks.
        """
        wrong = await self._differences(scope)
        for _ in range(_LOOKS - 1):
            if not wrong:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
            again = await self._differences(scope)
            wrong = {
                place: now
                for place, now in again.items()
                if place in wrong and _off(now) == _off(wrong[place])
            }
        return [Miscount(*place, kept, counted) for place, (kept, counted) in sorted(wrong.items())]

    async def _differences(self, scope: Scope) -> dict[tuple[str, str, str, str], tuple[int, int]]:
        kept = _totals(await self._storage.counts(scope))
        counted = _totals(await self._storage.recount(scope))
        return {
            place: (kept.get(place, 0), counted.get(place, 0))
            for place in kept.keys() | counted.keys()
            if kept.get(place, 0) != counted.get(place, 0)
        }


def _off(totals: tuple[int, int]) -> int:
    kept, counted = totals
    return kept - counted


def _totals(found: Sequence[Mapping[str, Any]]) -> _Totals:
    return {
        (row["tenant_id"], row["queue"], row["definition"], str(state)): int(row[state])
        for row in found
        for state in JobState
    }
