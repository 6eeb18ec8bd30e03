"""Accepted values read back equal on every database."""

import json
from datetime import timedelta

import pytest

from tests.support.job_builders import (
    DAY,
    START,
    a_definition,
    a_tenant,
    claim,
    enqueue,
    job,
    new_job,
    offer,
    started,
)
from windlass.core.jobs.models import ALL_TENANTS
from windlass.ids import DefinitionKey, QueueName, new_trigger_id


async def test_every_field_of_a_job_reads_back_as_it_was_given(storage):
    new = new_job(
        definition=DefinitionKey("other"),
        payload='{"b": 1, "a": [null, true]}',
        tenant=await a_tenant(storage, "acme"),
        queue=QueueName("mail"),
        priority=-7,
        due_at=START + DAY + timedelta(microseconds=1),
        expires=2 * DAY,
        max_attempts=7,
        timeout_seconds=1.5,
        dedupe_key="d",
        idempotency_key="i",
        on_parent_failure="wait",
        correlation_id="request 1",
        source="event",
        source_ref="event 9",
        trigger_id=new_trigger_id(),
        trigger_due_at=START - timedelta(microseconds=1),
        created_by="ada",
        metadata='{"origin": "a hook", "depth": 2}',
    )

    await offer(storage, new)

    created = await job(storage, new.id)
    assert created.payload == {"b": 1, "a": [None, True]}
    assert list(created.payload) == ["b", "a"]
    assert created.metadata == {"origin": "a hook", "depth": 2}
    assert created.expires_at == START + 2 * DAY
    for field in [
        "id",
        "tenant",
        "definition",
        "queue",
        "priority",
        "due_at",
        "max_attempts",
        "timeout_seconds",
        "dedupe_key",
        "idempotency_key",
        "on_parent_failure",
        "correlation_id",
        "source",
        "source_ref",
        "trigger_id",
        "trigger_due_at",
        "created_by",
        "held",
    ]:
        assert getattr(created, field) == getattr(new, field), field


async def test_a_lease_carries_the_fields_a_handler_sees(storage, clock):
    lease = await started(
        storage,
        payload='{"a":1}',
        metadata='{"m":1}',
        correlation_id="c",
        source="schedule",
        source_ref="r",
        created_by="ada",
        trigger_due_at=START,
        timeout_seconds=2.5,
        max_attempts=5,
        priority=50,
    )

    assert json.loads(lease.payload) == {"a": 1}
    assert json.loads(lease.metadata) == {"m": 1}
    assert (lease.correlation_id, lease.source, lease.source_ref) == ("c", "schedule", "r")
    assert (lease.created_by, lease.trigger_due_at, lease.timeout_seconds) == ("ada", START, 2.5)
    assert (lease.max_attempts, lease.priority, lease.attempts, lease.token) == (5, 50, 1, 1)
    assert lease.created_at == lease.queued_at == lease.due_at == lease.started_at == clock.now


DEEP: object = 0
for _ in range(63):
    DEEP = [DEEP]


PAYLOADS = {
    "an empty object": {},
    "an empty list": [],
    "null": None,
    "a lone text": "text",
    "a large whole number": {"n": 2**63, "m": -(10**40)},
    "floats": [0.1, 1e-300, 1.5e300, -0.0, 1.0],
    "characters outside the basic plane": {"😀": "𝄞 mit Ü und 漢字"},
    "escapes": '\\ " / \b \f \n \r \t \x7f \u2028 <!-- \x01',
    "backslashes before letters": "\\u0041 \\n \\\\",
    "quotes of SQL": "'; drop table windlass_live; -- :id {now} %s ? $1",
    "an empty key": {"": {"": ""}},
    "keys that differ by case and by a trailing space": {"a": 1, "A": 2, "a ": 3},
    "something deep": DEEP,
    "something long": "x" * 200_000,
}


@pytest.mark.parametrize("ascii_only", [True, False], ids=["escaped", "plain"])
async def test_a_payload_reads_back_equal_from_job_and_lease(storage, ascii_only):
    for payload in PAYLOADS.values():
        text = json.dumps(payload, ensure_ascii=ascii_only)
        id = await enqueue(storage, payload=text, metadata=json.dumps({"kept": payload}))

        [lease] = await claim(storage)

        assert repr(json.loads(lease.payload)) == repr(payload)
        created = await job(storage, id)
        assert repr(created.payload) == repr(payload)
        assert repr(created.metadata) == repr({"kept": payload})


NAMES = ["a", "A", "a ", " a", "ä", "a\u0308", "ａ", "a\t", "á", "ß", "ss", "😀", "😁", "x" * 191]


async def test_names_that_differ_in_case_accents_or_spaces_are_different_names(storage):
    for name in NAMES:
        await a_tenant(storage, name)
        await a_definition(storage, name)
    new = [
        new_job(definition=name, tenant=name, queue=name, dedupe_key=name, idempotency_key=name)
        for name in NAMES
    ]

    stored = await storage.jobs.enqueue(new)

    assert [s.status for s in stored] == ["created"] * len(NAMES)
    assert len(await storage.jobs.state_counts(ALL_TENANTS)) == len(NAMES)
    for name, created in zip(NAMES, new, strict=True):
        [lease] = await claim(storage, 100, known=NAMES, queues=[name])
        assert (lease.job_id, lease.tenant, lease.queue) == (created.id, name, name)
        assert (await job(storage, created.id)).dedupe_key == name


async def test_a_similar_name_that_is_not_declared_is_unknown(storage):
    await a_definition(storage, "mail")

    stored = await storage.jobs.enqueue(
        [new_job(definition=DefinitionKey(name)) for name in ("Mail", "mail ", "maıl", "")]
    )

    assert {s.status for s in stored} == {"unknown_definition"}


async def test_a_key_that_differs_in_case_accents_or_spaces_matches_nothing(storage):
    await enqueue(storage, dedupe_key="key", idempotency_key="key")

    for other in ("KEY", "key ", "kéy", " key"):
        await enqueue(storage, dedupe_key=other, idempotency_key=other)


async def test_every_source_can_be_stored(storage):
    for source in ["manual", "event", "schedule", "system"]:
        id = await enqueue(storage, source=source)

        assert (await job(storage, id)).source == source
