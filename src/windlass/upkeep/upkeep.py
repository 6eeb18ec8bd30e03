"""All loops of upkeep together; any process may run them."""

from datetime import timedelta

from windlass.engine.engine import Engine
from windlass.engine.loop import Loop
from windlass.upkeep.alerting import LOOK_SECONDS, AlertSender
from windlass.upkeep.bulk_operations import OperationRunner
from windlass.upkeep.housekeeping import GateUpdater, Housekeeping, SlotMaker, Sweeper
from windlass.upkeep.scheduler import Scheduler

#: Often enough that a dead worker's job starts again within one and a half leases, the second
#: look included.
_LOOKS_PER_LEASE = 20
_REAP_SECONDS = (0.1, 3.0)
_HOUSEKEEPING_SECONDS = 5.0
_REGATING_SECONDS = 300.0
_SWEEPING_SECONDS = 600.0
_CLOCK_SECONDS = 60.0
#: Every minute gets its note about workers.
_ROLLUP_SECONDS = 30.0


class Upkeep:
    """Reaping, housekeeping, regating, sweeping, roll-ups, clock repair, bulk operations, alerts and
    scheduling; the last one if `scheduling`, and by default if scheduler.enabled is on. Any number
    of processes may run it at once."""

    def __init__(
        self, engine: Engine, *, lease_time: timedelta, scheduling: bool | None = None
    ) -> None:
        self._loops: list[Loop | Scheduler | OperationRunner] = [
            Loop(
                "reaping",
                engine.reaper(lease_time=lease_time).tick,
                seconds=look_seconds(lease_time),
                telemetry=engine.telemetry,
            ),
            Loop(
                "housekeeping",
                Housekeeping(engine).tick,
                seconds=_HOUSEKEEPING_SECONDS,
                telemetry=engine.telemetry,
            ),
            Loop(
                "regating",
                GateUpdater(engine).tick,
                seconds=_REGATING_SECONDS,
                telemetry=engine.telemetry,
            ),
            Loop(
                "sweeping",
                Sweeper(engine).tick,
                seconds=_SWEEPING_SECONDS,
                telemetry=engine.telemetry,
            ),
            Loop(
                "rolling up statistics",
                SlotMaker(engine).tick,
                seconds=_ROLLUP_SECONDS,
                telemetry=engine.telemetry,
            ),
            Loop(
                "correcting what a wrong clock wrote",
                engine.clock_repair.tick,
                seconds=_CLOCK_SECONDS,
                telemetry=engine.telemetry,
            ),
            OperationRunner(engine),
        ]
        alerting = AlertSender(engine)
        if alerting.wanted:
            self._loops.append(
                Loop("alerting", alerting.tick, seconds=LOOK_SECONDS, telemetry=engine.telemetry)
            )
        if engine.settings.scheduler.enabled if scheduling is None else scheduling:
            ticks = engine.settings.scheduler.tick_seconds
            self._loops.append(Scheduler(engine, tick_seconds=ticks))

    async def tick(self) -> None:
        """One round of everything, the scheduler first."""
        for loop in reversed(self._loops):
            await loop.tick()

    def start(self) -> None:
        for loop in self._loops:
            loop.start()

    async def stop(self) -> None:
        for loop in reversed(self._loops):  # the scheduler first
            await loop.stop()


def look_seconds(lease_time: timedelta) -> float:
    """The interval of the check for expired leases."""
    shortest, longest = _REAP_SECONDS
    return min(longest, max(shortest, lease_time.total_seconds() / _LOOKS_PER_LEASE))
