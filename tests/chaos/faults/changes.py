"""Changes as faults: misbehaving handlers, deploys, migrations, operators."""

import asyncio
import time
from typing import Any
from unittest.mock import patch

from tests.chaos.processes.definitions import MISBEHAVING
from tests.chaos.run import PATIENCE, Bite, ChaosRun, Fault
from windlass.storage import migrate as migrating
from windlass.storage.migrate import Migration, migrations


async def misbehave(run: ChaosRun) -> Bite:
    """One job of every definition whose handler misbehaves."""
    jobs = {key: await run.enqueue(key, **_payload(run, key)) for key in MISBEHAVING}
    lost_before = {m.process for m in run.fleet.workers()}

    async def ended() -> bool:
        found = [await run.wl.jobs.get(job) for job in jobs.values()]
        return all(job.ended for job in found)

    deadline = time.monotonic() + 2 * PATIENCE
    while time.monotonic() < deadline:
        if await run.surely(ended):
            break
        await asyncio.sleep(0.2)
    started = [key for key, job in jobs.items() if job in run.progress.look().last_start]
    fallen = len(lost_before - {m.process for m in run.fleet.workers()})
    return Bite(
        int(len(started) == len(jobs)),
        f"{len(started)} of {len(jobs)} kinds ran, and {fallen} workers fell",
    )


def _payload(run: ChaosRun, key: str) -> dict[str, Any]:
    return {"seconds": 1.6 * run.lease} if key == "blocking" else {}


async def deploy(run: ChaosRun) -> Bite:
    """A worker comes back with a release that knows what others do not."""
    workers = run.fleet.workers()
    worker = run.random.choice(workers)
    for other in workers:
        other.release = "1"
    waiting = await run.enqueue("newcomer")
    worker.release = "2"
    if worker.process is not None:
        worker.process.terminate()
    started = await run.until(lambda: run.progress.last_start.get(waiting))
    return Bite(int(bool(started)), f"a new definition waited until {worker.name} knew it")


async def migrate(run: ChaosRun) -> Bite:
    """A migration that builds an index, and is taken back, while jobs run."""
    up = "-- An index for a chaos run.\ncreate index windlass_chaos on windlass_ended (created_at);"
    down = "drop index windlass_chaos"
    down += " on windlass_ended;" if run.setup.kind == "mariadb" else ";"
    known = migrations(run.wl.engine.storage.database.kind)
    extra = Migration(9000, "chaos", up, down)
    before = run.progress.look().ended
    with patch.object(migrating, "migrations", lambda kind: [*known, extra]):
        applied = await run.surely(lambda: migrating.migrate(run.wl.engine.storage))
        taken_back = await run.surely(
            lambda: migrating.downgrade(run.wl.engine.storage, to=known[-1].number)
        )
    ended = run.progress.look().ended - before
    return Bite(len(applied) + len(taken_back), f"an index came and went while {ended} runs ended")


async def operate(run: ChaosRun) -> Bite:
    """The operator's deeds, each at least once."""
    deeds = {"cancel", "retry", "pause", "edit", "emit"}
    seen: set[str] = set()

    def look() -> bool:
        if line := run.progress.last.get("operated"):
            seen.add(line["deed"])
        return seen >= deeds

    await run.until(look)
    return Bite(len(seen & deeds), f"an operator did: {', '.join(sorted(seen))}")


FAULTS: dict[str, Fault] = {
    "handlers that misbehave": misbehave,
    "deploy with unknown definitions": deploy,
    "migration under load": migrate,
    "operator at work": operate,
}
