"""Invariants of every database, checked after each test."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.job_builders import DAY, as_uuid
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import ENDED, OPEN
from windlass.core.leases.gates import counted_by
from windlass.storage.connection.virtual_clock import VirtualClock
from windlass.storage.storage import Storage

_STATES = ("pending", "queued", "running", "completed", "canceled", "dead_letter")


async def check_invariants(storage: Storage, clock: VirtualClock) -> None:
    """Assert that rows agree with each other and totals with rows. Moves the clock and folds."""
    jobs = [
        {**row, "table": table, "id": as_uuid(row["id"])}
        for table in ("live", "later", "ended")
        for row in await _rows(storage, f"select * from windlass_{table}")
    ]
    _each_job_rests_in_one_place(jobs)
    _leases_are_whole(jobs)
    await _keys_guard_open_jobs(storage, jobs)
    await _waits_are_the_parents_left(storage, jobs)
    await _holds_belong_to_running_jobs(storage, jobs)
    await _nothing_hangs_on_a_job_that_is_gone(storage, jobs)
    await _counts_equal_a_recount(storage)
    await _every_lease_is_found_when_it_runs_out(storage, clock, jobs)


def _each_job_rests_in_one_place(jobs: Sequence[Mapping[str, Any]]) -> None:
    places = Counter(job["id"] for job in jobs)
    assert not [id for id, count in places.items() if count > 1], "a job is in two tables"
    for job in jobs:
        allowed = {
            "live": {"queued", "running"},
            "later": {"pending", "queued"},
            "ended": ENDED,
        }[job["table"]]
        assert job["state"] in allowed, (job["table"], job["state"])
        assert (job["finished_at"] is not None) == (job["state"] in ENDED)
        assert 0 <= job["attempts"] <= job["max_attempts"]
        assert job["attempts"] <= job["lease_token"]


def _leases_are_whole(jobs: Sequence[Mapping[str, Any]]) -> None:
    for job in jobs:
        if job["state"] == "running":
            assert job["lease_token"] > 0
            assert job["attempts"] > 0
            for column in ("lease_expires_at", "worker_id", "started_at", "last_started_at"):
                assert job[column] is not None, f"a running job without {column}"
        else:
            assert job["lease_expires_at"] is None, "a lease outlived its run"
        if job["table"] == "live":
            assert job["waits"] == 0
            assert not job["held"]
            assert job["queued_at"] is not None


async def _keys_guard_open_jobs(storage: Storage, jobs: Sequence[Mapping[str, Any]]) -> None:
    found = await _rows(storage, "select job_id, kind, open from windlass_keys")
    guarded = {(as_uuid(row["job_id"]), row["kind"]) for row in found if row["open"]}
    for job in jobs:
        if job["state"] in OPEN and job["dedupe_key"] is not None:
            assert (job["id"], "dedupe") in guarded, "an open job without its dedupe key"
        if job["idempotency_key"] is not None:
            assert (job["id"], "idempotency") in guarded, "a job without its idempotency key"
    open_ids = {job["id"] for job in jobs if job["state"] in OPEN}
    assert {id for id, kind in guarded if kind == "dedupe"} <= open_ids, "a key nobody holds"


async def _waits_are_the_parents_left(storage: Storage, jobs: Sequence[Mapping[str, Any]]) -> None:
    edges = await _rows(storage, "select child_id, parent_id, settled from windlass_parents")
    left = Counter(as_uuid(edge["child_id"]) for edge in edges if not edge["settled"])
    for job in jobs:
        if job["state"] == "pending":
            assert job["waits"] == left[job["id"]], (
                "a job waits for more, or less, than its parents"
            )
            assert job["waits"] or job["held"] or job["cancel_to"], "a job waits for nothing"
        else:
            assert not left[job["id"]], f"a {job['state']} job still has parents to wait for"
    stored = {job["id"] for job in jobs}
    waited_for = {as_uuid(edge["parent_id"]) for edge in edges if not edge["settled"]}
    assert waited_for <= stored, "a job waits for one that is gone"


async def _holds_belong_to_running_jobs(
    storage: Storage, jobs: Sequence[Mapping[str, Any]]
) -> None:
    held = {
        (as_uuid(row["job_id"]), row["name"])
        for row in await _rows(storage, "select job_id, name from windlass_holds")
    }
    running = [job for job in jobs if job["state"] == "running"]
    assert {id for id, _ in held} <= {job["id"] for job in running}, "a hold outlived its lease"
    limits = {row["name"]: row for row in await _rows(storage, "select * from windlass_limits")}
    for job in running:
        whose = f"definition:{job['definition']}"
        for name in (whose, f"tenant:{job['tenant_id']}", f"queue:{job['queue']}"):
            assert name not in limits or (job["id"], name) in held, f"{name} is not counted"
        if whose in limits and limits[whose]["max_per_key"] and (key := counted_by(job["gate"])):
            assert (job["id"], key) in held, f"{key!r} is not counted"


async def _nothing_hangs_on_a_job_that_is_gone(
    storage: Storage, jobs: Sequence[Mapping[str, Any]]
) -> None:
    stored = {job["id"] for job in jobs}
    for table, column in (
        ("windlass_attempts", "job_id"),
        ("windlass_transitions", "job_id"),
        ("windlass_logs", "job_id"),
        ("windlass_parents", "child_id"),
    ):
        found = await _rows(storage, f"select distinct {column} as id from {table}")
        assert {as_uuid(row["id"]) for row in found} <= stored, f"{table} outlived its job"
    found = await _rows(storage, "select job_id from windlass_done")
    assert {as_uuid(row["job_id"]) for row in found} <= stored, "what was done outlived its job"
    found = await _rows(storage, "select job_id from windlass_keys where kind = 'idempotency'")
    assert {as_uuid(row["job_id"]) for row in found} <= stored, "a key outlived its job"


async def _counts_equal_a_recount(storage: Storage) -> None:
    recount = _totals((await storage.jobs.recount(ALL_TENANTS)).counted)
    assert _totals(await storage.jobs.state_counts(ALL_TENANTS)) == recount, (
        "counts differ before folding"
    )
    while await storage.monitoring.roll_up_counts():
        pass
    assert _totals(await storage.jobs.state_counts(ALL_TENANTS)) == recount, (
        "counts differ after folding"
    )


async def _every_lease_is_found_when_it_runs_out(
    storage: Storage, clock: VirtualClock, jobs: Sequence[Mapping[str, Any]]
) -> None:
    await clock.advance(400 * DAY)
    await storage.leases.drop_ended_claims()
    seen = {
        (lease.job_id, lease.token) for lease in await storage.leases.expired_leases(most=100_000)
    }
    running = {(job["id"], job["lease_token"]) for job in jobs if job["state"] == "running"}
    assert seen == running, "the reaper would miss a lease, or see one that is not"


def _totals(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, str], dict[str, int]]:
    totals = {
        (row["tenant_id"], row["queue"], row["definition"]): {
            state: int(row[state]) for state in _STATES if int(row[state])
        }
        for row in rows
    }
    return {group: counts for group, counts in totals.items() if counts}


async def _rows(storage: Storage, text: str) -> Sequence[Mapping[str, Any]]:
    return [dict(row) for row in await storage.database.query(text, {})]
