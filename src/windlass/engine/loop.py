"""The shape of every loop: start, tick, stop. It survives every error, and can be woken."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable

from windlass.tasks import start_task
from windlass.telemetry import Telemetry

#: Longest pause after failures: work must resume within 5 s of the database's return.
_LONGEST_SECONDS = 2.0


class Loop:
    """Calls `tick` repeatedly. A tick that fails is tried again, for ever."""

    def __init__(
        self,
        name: str,
        tick: Callable[[], Awaitable[object]],
        *,
        seconds: float,
        telemetry: Telemetry,
    ) -> None:
        self.tick = tick
        self._name = name
        self._seconds = seconds
        self._telemetry = telemetry
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._alarm: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self._task = start_task(self._run(), name=f"windlass {self._name}")

    async def stop(self) -> None:
        self._silence()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def wake(self, *, after: float = 0.0) -> None:
        """Tick again after that many seconds, at once by default, if that is sooner than planned.
        A call during a tick counts for the next one."""
        loop = asyncio.get_running_loop()
        if after <= 0:
            self._woken.set()
        elif self._alarm is None or loop.time() + after < self._alarm.when():
            self._silence()
            self._alarm = loop.call_later(after, self._woken.set)

    async def _run(self) -> None:
        failures = 0
        while True:
            self._silence()
            self._woken.clear()
            try:
                await self.tick()
                failures = 0
            except Exception as error:  # noqa: BLE001  the next round may succeed
                failures += 1
                self._telemetry.trouble(self._name, error)
            if failures:
                # Pause even when woken: wake-ups may come faster than the tick can fail.
                await asyncio.sleep(self._pause(failures) * random.uniform(0.9, 1.1))
            else:
                await wait_for(self._woken, self._seconds * random.uniform(0.9, 1.1))

    def _silence(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _pause(self, failures: int) -> float:
        # A failing loop gets faster, not slower: a late renewal may still save its leases from the
        # reaper, whose second look comes one round of renewals after its first.
        return min(self._seconds / 2, backoff_seconds(failures))


def backoff_seconds(failures: int) -> float:
    """The pause after that many failures in a row: short at first, jittered, capped."""
    return float(random.uniform(0.5, 1.0) * min(_LONGEST_SECONDS, 0.1 * 2.0 ** min(failures, 10)))


async def wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, at most that many seconds. Returns True if it is set.

    Yields to other tasks even if the event is already set: a loop that calls this repeatedly must
    not block the event loop.
    """
    await asyncio.sleep(0)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
