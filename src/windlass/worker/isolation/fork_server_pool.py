"""The stems of one worker: processes with a handler's module imported, to fork runs from.

See decision 0012.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from windlass import clock
from windlass.worker.isolation.fork_server_client import Stem, Surroundings

_MOST = 8
#: How long a stem without a run is kept, and a module found unfit is not tried again.
_IDLE_SECONDS = 300.0

Where = tuple[str, str | None, str]


class Stems:
    """Lends stems, makes them when they are first asked for, and ends those nobody uses."""

    def __init__(self, *, most: int = _MOST, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._most = most
        self._idle_seconds = idle_seconds
        #: The one that was asked for last stands last.
        self._kept: dict[Surroundings, Stem] = {}
        self._unfit: dict[tuple[str, str | None], float] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._kept)

    @asynccontextmanager
    async def lent(self, where: Where) -> AsyncIterator[Stem | None]:
        """A stem of the module a handler stands in; None if its runs must start afresh."""
        module, file, _ = where
        if not self._may_be_fit(module, file):
            yield None
            return
        surroundings = Surroundings.of(module, file)
        stem = self._find(surroundings)
        if stem is None:
            yield None
            return
        stem.users += 1
        try:
            fit = await stem.fit()
            if not fit:
                self._unfit[module, file] = clock.monotonic()
            yield stem if fit else None
        finally:
            stem.users -= 1
            stem.last_used = clock.monotonic()
            if not stem.users and not stem.is_fit:
                # It cannot be used, or nobody waits for it any more: its import may hang.
                self._drop(surroundings, stem)

    async def close(self) -> None:
        """End all of them."""
        if self._timer is not None:
            self._timer.cancel()
        for surroundings, stem in list(self._kept.items()):
            self._drop(surroundings, stem)
        await asyncio.gather(*self._ending)

    def sweep(self) -> None:
        """End stems that were idle for long; does it again later while there are any."""
        before = clock.monotonic() - self._idle_seconds
        for surroundings, stem in list(self._kept.items()):
            if not stem.users and stem.last_used <= before:
                self._drop(surroundings, stem)
        self._timer = None
        self._sweep_later()

    def _may_be_fit(self, module: str, file: str | None) -> bool:
        found_at = self._unfit.get((module, file))
        if found_at is None:
            return True
        if clock.monotonic() - found_at < self._idle_seconds:
            return False
        del self._unfit[module, file]
        return True

    def _find(self, surroundings: Surroundings) -> Stem | None:
        """The stem for these surroundings, a new one if need be; None if all are in use."""
        stem = self._kept.pop(surroundings, None)
        if stem is None or stem.ended:
            if not self._has_room():
                return None
            stem = Stem(surroundings)
        self._kept[surroundings] = stem
        self._sweep_later()
        return stem

    def _has_room(self) -> bool:
        if len(self._kept) < self._most:
            return True
        for surroundings, stem in self._kept.items():
            if not stem.users:
                self._drop(surroundings, stem)
                return True
        return False

    def _drop(self, surroundings: Surroundings, stem: Stem) -> None:
        if self._kept.get(surroundings) is stem:
            del self._kept[surroundings]
        ending = stem.close()
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _sweep_later(self) -> None:
        if self._kept and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._idle_seconds, self.sweep)
