"""Runs chaos: `python -m tests.chaos sqlite --seed 1 --jobs 100000 --minutes 5`.

It exits with 0 when every invariant held and every fault bit, and with 1 otherwise.
"""

import argparse
import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("CHAOS_RELEASE", "2")  # the driver enqueues what only the second one knows

from tests.chaos import page
from tests.chaos.checks.checker import Evidence, check
from tests.chaos.checks.database_records import read
from tests.chaos.faults import lanes_of
from tests.chaos.processes.fleet import Fleet, leftovers
from tests.chaos.processes.handlers import wl as known
from tests.chaos.processes.ledger_lines import note
from tests.chaos.progress import Progress
from tests.chaos.report import figures, told
from tests.chaos.run import ChaosRun, Plan, drain, inject, start_fleet, supervised
from tests.chaos.setups import SETUPS, Setup, leave_common_mounts, open_setup
from tests.databases.scratch import open_to_all, use_memory
from tests.support.processes.fork_server import FORK_SERVER
from tests.support.processes.ledger import GATES, LEDGER, Ledger, read_lines
from tests.support.processes.processes import Processes


def main() -> int:
    asked = _arguments()
    leave_common_mounts()
    use_memory()
    # Told to end, it ends what it started.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    passed = [_one(asked, setup) for setup in asked.setups or SETUPS]
    return 0 if all(passed) else 1


def _one(asked: argparse.Namespace, name: str) -> bool:
    """Run chaos on one set-up; whether it passed. What a failed run left stays for a look."""
    plan = Plan(
        setup=name,
        seed=asked.seed,
        jobs=asked.jobs,
        minutes=asked.minutes,
        workers=asked.workers,
        lease_seconds=asked.lease,
        backlog=asked.backlog,
        pause=asked.pause,
    )
    folder = Path(tempfile.mkdtemp(prefix="windlass-chaos-", dir=open_to_all()))
    folder.chmod(0o755)
    print(f"{plan}, in {folder}", flush=True)
    began = time.monotonic()
    evidence = _evidence(plan, folder, asked)
    verdict = check(evidence)
    found = figures(plan, evidence, verdict, time.monotonic() - began)
    print(told(found), verdict, sep="\n", flush=True)
    if verdict.passed:
        shutil.rmtree(folder)
    if asked.page:
        page.keep(found)
    return verdict.passed


def _evidence(plan: Plan, folder: Path, asked: argparse.Namespace) -> Evidence:
    ledger = Ledger(folder / "ledger")
    with open_setup(plan.setup, folder, asked.disk) as setup:
        os.environ |= {LEDGER: str(ledger.path), GATES: str(folder)}
        processes = Processes(setup.url, ledger, folder)
        try:
            faults = asyncio.run(_run(plan, setup, processes, asked.only))
            FORK_SERVER.close()  # it knows the ledger as well
            return Evidence(
                lines=read_lines(ledger.path)[0],
                records=read(setup.direct_url),
                faults=faults,
                leftovers=list(leftovers(ledger.path)),
            )
        finally:
            processes.kill_all()
            FORK_SERVER.close()
            del os.environ[LEDGER]  # the next run's servers are none of this one


async def _run(plan: Plan, setup: Setup, processes: Processes, only: list[str]) -> list[str]:
    settings = {
        "worker_lease_seconds": plan.lease_seconds,
        "worker_poll_interval_ms": 300,
        "worker_shutdown_timeout_seconds": 10,
        **setup.settings,
    }
    known.use_database(setup.direct_url)
    fleet = Fleet(processes, settings, plan.concurrency)
    run = ChaosRun(plan, setup, fleet, Progress(Path(os.environ[LEDGER])), known)
    lanes = [
        {kind: fault for kind, fault in lane.items() if not only or kind in only}
        for lane in lanes_of(setup)
    ]
    await start_fleet(run)
    try:
        async with supervised(fleet):
            await inject(run, [lane for lane in lanes if lane])
            await drain(run)
    finally:
        await known.close()
    note("over")
    return sorted(kind for lane in lanes for kind in lane)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("setups", nargs="*", metavar="SETUP", help=f"of {', '.join(SETUPS)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=300, help="jobs to acknowledge at least")
    parser.add_argument("--minutes", type=float, default=0.0, help="how long at least")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--lease", type=int, default=3, help="seconds")
    parser.add_argument("--backlog", type=int, default=40, help="jobs that may wait")
    parser.add_argument("--pause", type=float, default=0.0, help="of producers, in seconds")
    parser.add_argument("--disk", type=int, default=600, help="room for the database in MB")
    parser.add_argument("--only", action="append", default=[], help="only this kind of fault")
    parser.add_argument("--page", action="store_true", help="write the figures into the docs")
    asked = parser.parse_args()
    if unknown := set(asked.setups) - set(SETUPS):
        parser.error(f"no set-up {', '.join(unknown)}; there are {', '.join(SETUPS)}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
