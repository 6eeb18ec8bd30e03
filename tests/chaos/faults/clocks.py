"""Processes whose clock is wrong."""

from tests.chaos.processes.fleet import Member
from tests.chaos.run import Bite, ChaosRun, Fault
from tests.chaos.setups import Setup
from tests.databases.packages import FAKETIME, program

_WRONG = 3600


async def run_with_wrong_clocks(run: ChaosRun) -> Bite:
    """Two workers come back with clocks an hour ahead and an hour behind."""
    ran = 0
    for offset, worker in zip((_WRONG, -_WRONG), run.fleet.workers()[1:], strict=False):
        worker.environment = wrong_clock(offset)
        ran += bool(await _runs_anew(run, worker))
    await run.more(20, within=10)
    for worker in run.fleet.workers()[1:]:
        worker.environment = {}
        if worker.process is not None:
            worker.process.terminate()
    return Bite(ran, f"{ran} workers ran jobs by a clock an hour off")


async def _runs_anew(run: ChaosRun, worker: Member) -> bool:
    """Stop a worker; whether the process that took its place announced a wrong clock and ran."""
    before = worker.process
    if before is not None:
        before.terminate()

    def look() -> bool:
        if worker.process in (None, before):
            return False
        seen = run.progress.seen.get(worker.pid, {})
        return seen.get("what") == "started" and abs(run.progress.clocks[worker.pid]) > _WRONG / 2

    return bool(await run.until(look))


def wrong_clock(offset: int) -> dict[str, str]:
    """The environment of a process whose clock is off; waits are as long as ever."""
    return {
        "LD_PRELOAD": str(program(FAKETIME, "libfaketime.so.1")),
        "FAKETIME": f"{offset:+d}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_NO_CACHE": "1",
    }


def faults_of(setup: Setup) -> dict[str, Fault]:
    """On SQLite the machine's clock is the database's: only a server's clock is another one."""
    if setup.server is None:
        return {}
    return {"wrong clocks": run_with_wrong_clocks}
