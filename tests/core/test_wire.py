"""The JSON that the command line and the API show."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from windlass.core import wire
from windlass.core.jobs.models import (
    Attempt,
    Job,
    JobPage,
    LogLine,
    Receipt,
    ReceiptStatus,
    Transition,
)
from windlass.core.jobs.states import JobState, Outcome
from windlass.core.payloads.redact import MASK, Redactor
from windlass.ids import DefinitionKey, JobId, QueueName, TenantId, WorkerId, uuid7

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ID = JobId(uuid7(1_700_000_000_000, 1, 1))
REDACTOR = Redactor()


JOB = Job(
    id=ID,
    tenant=TenantId("acme"),
    definition=DefinitionKey("mail.send"),
    queue=QueueName("mail"),
    state=JobState.QUEUED,
    priority=100,
    due_at=AT,
    attempts=1,
    max_attempts=3,
    created_at=AT,
    updated_at=AT,
)


def a_job(**changes) -> Job:
    return replace(JOB, **changes)


def shown(job: Job, **more):
    return wire.job(job, now=AT, redactor=REDACTOR, **more)


def test_a_job_becomes_json_with_utc_times_and_tenant_id():
    body = shown(a_job(started_at=AT.astimezone(timezone(timedelta(hours=2)))))

    assert json.loads(json.dumps(body)) == body
    assert body["id"] == str(ID)
    assert body["tenant_id"] == "acme"
    assert "tenant" not in body
    assert body["due_at"] == body["started_at"] == "2026-03-01T12:00:00.000000Z"
    assert body["finished_at"] is None


def test_the_view_is_the_displayed_state():
    assert shown(a_job())["view"] == "queued"
    assert shown(a_job(due_at=AT + timedelta(hours=1)))["view"] == "scheduled"
    assert shown(a_job(outcome=Outcome.FAILED))["view"] == "retrying"
    assert shown(a_job(state=JobState.PENDING))["view"] == "waiting"


def test_fields_marked_secret_are_hidden_everywhere():
    schema = {"type": "object", "properties": {"pin": {"writeOnly": True}}}
    job = a_job(
        payload={"pin": "4711-4711", "to": "ada", "api_key": "x"},
        reason="4711-4711 is wrong",
        warnings=("4711-4711 is weak",),
        result={"token": "abc", "note": "4711-4711"},
        metadata={"password": "abc"},
    )

    body = shown(job, schema=schema)

    assert "4711" not in json.dumps(body)
    assert body["payload"] == {"pin": MASK, "to": "ada", "api_key": MASK}
    assert body["result"] == {"token": MASK, "note": MASK}
    assert body["metadata"] == {"password": MASK}


def test_values_redacted_before_storing_are_shown_unchanged():
    job = a_job(last_error="password=a", error_trace="password=b", progress_note="password=c")

    body = shown(job)

    assert (body["last_error"], body["error_trace"], body["progress_note"]) == (
        "password=a", "password=b", "password=c",
    )  # fmt: skip


def test_a_list_omits_fields_it_does_not_load():
    body = wire.page(JobPage([a_job(payload={"a": 1})], ID), now=AT, redactor=REDACTOR)

    [item] = body["items"]
    assert body["next_cursor"] == str(ID)
    assert item.keys() < shown(a_job()).keys()
    assert {"payload", "result", "error_trace"} & item.keys() == set()


def test_receipts_attempts_steps_and_lines_become_json():
    attempt = Attempt(
        job_id=ID,
        number=2,
        worker_id=WorkerId("w"),
        started_at=AT,
        finished_at=AT + timedelta(milliseconds=1500),
        outcome=Outcome.FAILED,
        error="it failed",
    )
    bodies = {
        "receipt": wire.receipt(Receipt(ReceiptStatus.CREATED, ID)),
        "attempt": wire.attempt(attempt),
        "step": wire.transition(
            Transition(at=AT, from_state=None, to_state=JobState.QUEUED, message="x"), REDACTOR
        ),
        "line": wire.line(
            LogLine(job_id=ID, attempt=1, level="info", message="hi", at=AT, fields={"a": "x"})
        ),
    }

    assert json.loads(json.dumps(bodies)) == bodies
    assert bodies["receipt"] == {"status": "created", "job_id": str(ID), "because": None}
    assert bodies["attempt"]["duration_ms"] == 1500
    assert bodies["attempt"]["error"] == "it failed"
    assert (bodies["line"]["message"], bodies["line"]["fields"]) == ("hi", {"a": "x"})
    assert bodies["step"]["to_state"] == "queued"
