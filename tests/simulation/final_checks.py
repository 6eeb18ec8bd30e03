"""Checks of the rows when the simulation has come to rest."""

from collections import Counter
from datetime import timedelta
from typing import Any

from tests.simulation.ledger import InvariantBroken, Ledger
from tests.support.job_builders import START, as_uuid
from windlass.core.jobs.models import ALL_TENANTS
from windlass.storage.sql import rows as convert
from windlass.storage.storage import Storage


async def check_end(storage: Storage, ledger: Ledger) -> None:
    """Nothing was lost, doubled, or recorded otherwise than it happened."""
    found = await storage.database.query("select * from windlass_jobs", {})
    jobs = {as_uuid(row["id"]): row for row in found}
    _require(ledger.acknowledged <= jobs.keys(), "an acknowledged job is gone")
    states = {id: row["state"] for id, row in jobs.items()}
    _require(states == ledger.ended, "a job's row does not tell its recorded end")
    for id, row in jobs.items():
        for column, expected in (
            ("lease_token", ledger.tokens.get(id, 0)),
            ("attempts", ledger.attempts[id]),
            ("worker_deaths", ledger.deaths[id]),
        ):
            _require(row[column] == expected, f"{column} of {id} is {row[column]}, not {expected}")
    _require(not ledger.running, "a lease is left over")
    _no_key_made_two_jobs(list(jobs.values()))
    for operation in await storage.jobs.operations(ALL_TENANTS):
        settled = operation.done + operation.failed + operation.skipped
        _require(settled == operation.total, "a bulk operation settled not all, or some twice")
    await _each_due_time_made_one_job(storage, list(jobs.values()))
    await _each_event_made_one_job_per_trigger(storage, ledger, list(jobs.values()))


def _no_key_made_two_jobs(jobs: list[Any]) -> None:
    keys = Counter(
        (row["tenant_id"], row["idempotency_key"]) for row in jobs if row["idempotency_key"]
    )
    _require(max(keys.values(), default=1) == 1, "an idempotency key made two jobs")


async def _each_due_time_made_one_job(storage: Storage, jobs: list[Any]) -> None:
    for trigger in await storage.triggers.triggers(ALL_TENANTS):
        if trigger.next_run_at is None or trigger.interval_seconds is None:
            continue
        created = sorted(
            convert.instant(row["trigger_due_at"])
            for row in jobs
            if row["trigger_id"] and as_uuid(row["trigger_id"]) == trigger.id
        )
        _require(len(set(created)) == len(created), f"a due time of {trigger.name} made two jobs")
        step = timedelta(seconds=trigger.interval_seconds)
        times = []
        at = START
        while at < trigger.next_run_at:
            times.append(at)
            at += step
        if trigger.misfire == "all":
            _require(created == times, f"{trigger.name} missed a due time: {created} of {times}")
        else:
            _require(
                set(created) <= set(times) and bool(created), f"{trigger.name} fired at other times"
            )


async def _each_event_made_one_job_per_trigger(
    storage: Storage, ledger: Ledger, jobs: list[Any]
) -> None:
    triggers = [t for t in await storage.triggers.triggers(ALL_TENANTS) if t.next_run_at is None]
    created = Counter(
        (as_uuid(row["source_ref"].split()[0]), as_uuid(row["trigger_id"]))
        for row in jobs
        if row["source"] == "event"
    )
    expected = Counter((event, trigger.id) for event in ledger.events for trigger in triggers)
    _require(created == expected, "an event did not make exactly one job per trigger")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InvariantBroken(what)
