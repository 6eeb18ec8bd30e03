"""Messages between a server and a remote worker round-trip unchanged."""

import json
from datetime import UTC, datetime, timedelta

from windlass.core.jobs import outcome
from windlass.core.jobs.outcome import DeadLetter, Failure, RetryAfter
from windlass.core.leases import worker_wire as wire
from windlass.core.leases.gates import needs, versions
from windlass.core.leases.lease import Lease, LeaseRef
from windlass.ids import DefinitionKey, QueueName, TenantId, new_job_id

AT = datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
HELD = LeaseRef(new_job_id(), 3)
LEASE = Lease(
    job_id=HELD.job_id,
    token=3,
    tenant=TenantId("acme"),
    definition=DefinitionKey("mail"),
    queue=QueueName("q"),
    payload='{"to":"Ada"}',
    priority=50,
    attempts=2,
    max_attempts=5,
    worker_deaths=1,
    created_at=AT,
    queued_at=AT,
    due_at=AT,
    started_at=AT,
    source="event",
    source_ref="ref",
    correlation_id="c",
    created_by="me",
    trigger_due_at=AT,
    timeout_seconds=1.5,
    metadata='{"a":1}',
    gate="mail\x1f2\x1ekey",
)


def round_trip(message):
    return json.loads(json.dumps(message))


def test_a_lease_round_trips():
    assert wire.parse_lease(round_trip(wire.lease(LEASE))) == LEASE


def test_a_minimal_lease_round_trips():
    little = LEASE._replace(metadata=None, trigger_due_at=None, timeout_seconds=None, gate="")

    assert wire.parse_lease(round_trip(wire.lease(little))) == little


def test_unknown_fields_of_a_newer_server_are_ignored():
    assert wire.parse_lease({**round_trip(wire.lease(LEASE)), "new": 1}) == LEASE


def test_an_end_carries_the_outcome_but_not_the_next_state():
    failure = Failure(error="no", error_type="E", permanent=True)
    again = outcome.failed(HELD, failure, RetryAfter(timedelta(hours=1)))
    dead = outcome.failed(HELD, failure, DeadLetter())

    assert wire.attempt_end(again) == wire.attempt_end(dead)
    assert wire.attempt_end(dead) == {
        **wire.lease_ref(HELD),
        "outcome": "failed",
        "error": "no",
        "error_type": "E",
        "permanent": True,
    }


def test_only_a_release_carries_a_delay():
    released = wire.attempt_end(outcome.released(HELD, delay=timedelta(seconds=5)))

    assert (released["outcome"], released["delay_seconds"]) == ("released", 5)
    assert "delay_seconds" not in wire.attempt_end(outcome.stopped(HELD))


def test_versions_round_trip():
    known = {"mail": 1, "sync": 3}

    assert versions(needs(known)) == known
