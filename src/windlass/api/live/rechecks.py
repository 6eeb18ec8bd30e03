"""Rechecks the permission of open streams, once for all streams of one credential."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import NamedTuple

from windlass import clock
from windlass.api.live.intervals import StreamIntervals


class _PermissionCheck(NamedTuple):
    began_at: float
    verdict: "asyncio.Task[bool]"


class PermissionRechecks:
    """Permission results, shared by streams while fresh. A check that times out is a refusal."""

    def __init__(self, pace: StreamIntervals) -> None:
        self._pace = pace
        self._recent: OrderedDict[Hashable, _PermissionCheck] = OrderedDict()

    async def may_listen(self, key: Hashable, check: Callable[[], Awaitable[bool]]) -> bool:
        """Return the result of `check`, or a fresh one from another stream with this key."""
        self._forget()
        recheck = self._recent.get(key)
        if recheck is None:
            recheck = _PermissionCheck(
                clock.monotonic(), asyncio.create_task(self._check_with_timeout(check))
            )
            self._recent[key] = recheck
        return await asyncio.shield(recheck.verdict)

    async def _check_with_timeout(self, check: Callable[[], Awaitable[bool]]) -> bool:
        try:
            async with asyncio.timeout(self._pace.recheck_timeout_seconds):
                return await check()
        except TimeoutError:
            return False

    def _forget(self) -> None:
        before = clock.monotonic() - self._pace.recheck_shared_seconds
        while self._recent and next(iter(self._recent.values())).began_at <= before:
            self._recent.popitem(last=False)
