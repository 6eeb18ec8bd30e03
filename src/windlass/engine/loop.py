"""The one shape of a loop: start, tick, stop. It survives everything, and can be woken."""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable

from windlass.tasks import start_task
from windlass.telemetry import Telemetry

#: Work is to resume within 5 s of the database's return.
_LONGEST_SECONDS = 2.0


class Loop:
    """Calls `tick` again and again. A tick that fails is tried again, for ever."""

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
        """Tick again after so many seconds, at once by default, if that is sooner than otherwise.
        What is said during a tick counts for the next one."""
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
                # Also when it is woken: what wakes it may come faster than the tick can fail.
                await asyncio.sleep(self._pause(failures) * random.uniform(0.9, 1.1))
            else:
                await wait_for(self._woken, self._seconds * random.uniform(0.9, 1.1))

    def _silence(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _pause(self, failures: int) -> float:
        # A loop that fails gets faster, not slower: a late renewal may still save its leases from
        # a reaper, whose second look comes one round of renewals after its first.
        return min(self._seconds / 2, backoff_seconds(failures))


def backoff_seconds(failures: int) -> float:
    """How long to wait after so many failures in a row: short at first, jittered, capped."""
    return float(random.uniform(0.5, 1.0) * min(_LONGEST_SECONDS, 0.1 * 2.0 ** min(failures, 10)))


async def wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, so many seconds at most. Answers whether it came.

    Other tasks get their turn also if it is there already: a loop that asks again and again cannot
    keep the event loop for itself.
    """
    await asyncio.sleep(0)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
