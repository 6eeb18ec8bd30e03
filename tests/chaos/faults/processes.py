"""Processes that are killed, suspended or stopped."""

import signal
import time

from tests.chaos.run import Bite, ChaosRun, Fault
from tests.journeys.journey import freeze

#: Tokens up to which a job may be hit: the third death in a row would set it aside, rightly.
_SPARED_FROM = 3


async def kill_worker(run: ChaosRun) -> Bite:
    """SIGKILL to a worker that runs jobs."""
    busy = await run.busy_worker(run.lease)
    if busy is None or not _may_be_hit(run, busy[0].pid):
        return Bite(0, "no worker was busy")
    worker, job, fence = busy
    assert worker.process is not None
    run.kill(worker.process)
    killed = time.monotonic()
    again = await run.again(job, fence)
    if not again:
        return Bite(0, f"the job of {worker.name} did not start again")
    return Bite(1, f"the job of {worker.name} started again", again - killed)


async def freeze_worker(run: ChaosRun) -> Bite:
    """SIGSTOP to a worker for longer than its leases last, then SIGCONT."""
    busy = await run.busy_worker(run.lease)
    if busy is None or not _may_be_hit(run, busy[0].pid):
        return Bite(0, "no worker was busy")
    worker, job, fence = busy
    process = worker.process
    assert process is not None
    await freeze(process, run.wl)
    frozen = time.monotonic()
    again = await run.again(job, fence)
    process.thaw()
    if not again:
        return Bite(0, "the job of the frozen worker did not start elsewhere")
    await run.until(lambda: (job, fence) not in run.progress.under_way, within=20)
    return Bite(1, f"the job of {worker.name} ran elsewhere meanwhile", again - frozen)


async def stop_worker(run: ChaosRun) -> Bite:
    """SIGTERM to a worker that runs jobs: it drains."""
    busy = await run.busy_worker(0.5)
    if busy is None:
        return Bite(0, "no worker was busy")
    worker, job, _fence = busy
    process = worker.process
    assert process is not None
    process.terminate()
    code = await run.until(lambda: not process.is_running and str(process.code))
    ended = await run.until(lambda: job in run.progress.last_end, within=20)
    return Bite(
        int(code == "0" and bool(ended)), f"{worker.name} drained and ended with exit code {code}"
    )


async def stop_and_kill_worker(run: ChaosRun) -> Bite:
    """SIGTERM, and SIGKILL before it has drained."""
    busy = await run.busy_worker(run.lease)
    if busy is None or not _may_be_hit(run, busy[0].pid):
        return Bite(0, "no worker was busy")
    worker, job, fence = busy
    process = worker.process
    assert process is not None
    process.terminate()
    run.kill(process)
    killed = time.monotonic()
    again = await run.again(job, fence)
    return Bite(
        int(bool(again)), f"{worker.name} was killed while it drained", again and again - killed
    )


async def kill_others(run: ChaosRun) -> Bite:
    """SIGKILL to a scheduler, a producer, the operator and the server."""
    hit = 0
    for kind in ("scheduler", "producer", "operator", "server"):
        member = run.random.choice(run.fleet.of(kind))
        process = member.process
        if process is None:
            continue
        process.signal(signal.SIGKILL)
        await run.until(lambda process=process: not process.is_running)
        hit += process.code == -signal.SIGKILL
    return Bite(
        hit, f"{hit} processes were killed: a scheduler, a producer, the operator, the server"
    )


def _may_be_hit(run: ChaosRun, pid: int) -> bool:
    hit = [run for run, line in run.progress.under_way.items() if line["pid"] == pid]
    return all(fence < _SPARED_FROM for _, fence in hit)


FAULTS: dict[str, Fault] = {
    "worker killed": kill_worker,
    "worker frozen past its lease": freeze_worker,
    "worker told to stop": stop_worker,
    "worker killed while draining": stop_and_kill_worker,
    "other processes killed": kill_others,
}
