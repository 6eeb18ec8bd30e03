"""change_definitions and move_to_current_gate: rows that follow the code."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest

from tests.support.job_builders import (
    DEFINITIONS,
    a_definition,
    claim_all,
    new_jobs,
    regate,
    set_enabled,
)
from windlass.core.definitions import merge
from windlass.core.definitions.definition import Definition
from windlass.ids import DefinitionKey, JobId, QueueName

FULL = Definition(
    key=DefinitionKey("mail.send – ü"),
    title="Send mail",
    description="Sends one mail.\n'Quoted' – 😀",
    kind="path",
    queue=QueueName("mail"),
    priority=-50,
    max_attempts=100,
    backoff='{"kind": "list", "delays": [60, 300.5]}',
    timeout_seconds=0.5,
    isolation="process",
    max_concurrency=7,
    payload_schema='{"type": "object", "properties": {"to": {"type": "string"}}}',
    default_payload='{"to": "😀"}',
    tags=("a", "b ü"),
    system=True,
    idempotent=True,
    requires_permission="mail",
    dedupe="payload",
    dedupe_window_seconds=1.5,
    on_duplicate="error",
    on_parent_failure="wait",
    retention_days=0.0,
    log_retention_days=7.25,
    retention_count=100,
    handler="shop.mail:send – ü",
    limit_key="args.account",
    max_per_key=3,
    rate_count=100,
    rate_seconds=60.0,
    key_rate_count=5,
    key_rate_seconds=0.5,
    runs_after=("plain", "other – ü"),
    on_dead_letter="plain",
    memory_limit_mb=512,
    version=7,
    metadata={"team": "mail – ü", "sla": {"hours": 4}},
    code_hash="abc",
)


async def definition(storage, key) -> Definition:
    return next(d for d in await storage.definitions.definitions() if d.key == key)


async def test_a_definition_reads_back_as_it_was_declared(storage):
    changed = await storage.definitions.sync_definitions([FULL])

    assert changed == {FULL.key}
    assert await definition(storage, FULL.key) == replace(
        merge.merge_with_code(None, FULL), gate=FULL.key
    )


async def test_a_plain_definition_reads_back_with_its_defaults(storage):
    plain = Definition(key=DefinitionKey("bare"), title="Bare")

    await storage.definitions.sync_definitions([plain])

    assert await definition(storage, "bare") == merge.merge_with_code(None, plain)


async def test_definitions_are_listed_by_key(storage):
    await a_definition(storage, "a")
    await a_definition(storage, "z")

    assert [d.key for d in await storage.definitions.definitions()] == [
        "a",
        "limited",
        "other",
        "plain",
        "z",
    ]


async def test_unchanged_definitions_are_not_written(storage):
    assert await storage.definitions.sync_definitions(DEFINITIONS) == set()
    assert await storage.definitions.sync_definitions([]) == set()


async def test_a_changed_definition_follows_the_code(storage):
    await storage.definitions.sync_definitions([FULL])
    changed = replace(
        FULL,
        title="New",
        max_concurrency=None,
        max_per_key=None,
        rate_count=None,
        key_rate_count=None,
        tags=(),
        code_hash="def",
    )

    result = await storage.definitions.sync_definitions([*DEFINITIONS, changed])

    assert result == {FULL.key}
    assert await definition(storage, FULL.key) == replace(
        merge.merge_with_code(None, changed), gate=""
    )


async def test_the_hash_decides_whether_a_definition_changed(storage):
    same_hash = replace(DEFINITIONS[0], title="Another title")

    assert await storage.definitions.sync_definitions([same_hash]) == set()
    assert (await definition(storage, "plain")).title == "Plain"


async def test_a_definition_no_longer_declared_stays(storage):
    await storage.definitions.sync_definitions([DEFINITIONS[0]])

    assert len(await storage.definitions.definitions()) == len(DEFINITIONS)


async def test_a_disabled_definition_stays_disabled_when_its_code_changes(storage):
    await set_enabled(storage, "plain", False)

    await storage.definitions.sync_definitions([replace(DEFINITIONS[0], code_hash="2")])

    changed = await definition(storage, "plain")
    assert (changed.enabled, changed.gate) == (False, "plain")


async def test_a_definition_is_enabled_and_disabled_by_name(storage):
    assert await set_enabled(storage, "plain", False)
    assert not (await definition(storage, "plain")).enabled
    assert await set_enabled(storage, "plain", True)
    assert await definition(storage, "plain") == merge.merge_with_code(None, DEFINITIONS[0])
    assert not await set_enabled(storage, "nobody's", False)


@pytest.mark.parametrize(
    ("key", "enabled", "gate"),
    [("plain", True, ""), ("plain", False, "plain"), ("limited", True, "limited")],
)
async def test_limited_and_disabled_definitions_have_their_own_gate(storage, key, enabled, gate):
    await set_enabled(storage, key, enabled)

    assert (await definition(storage, key)).gate == gate


async def test_concurrent_syncs_declare_each_definition_once(storage, twin):
    declared = [Definition(key=DefinitionKey(f"d{n}"), title="x") for n in range(20)]

    results = await asyncio.gather(
        *(
            (storage, twin)[n % 2].definitions.sync_definitions(declared[:: (-1) ** n])
            for n in range(6)
        )
    )

    assert sorted(key for result in results for key in result) == sorted(d.key for d in declared)
    assert len(await storage.definitions.definitions()) == len(DEFINITIONS) + 20


async def test_old_and_new_versions_may_sync_concurrently(storage, twin):
    newer = [replace(d, code_hash="2", max_concurrency=3) for d in DEFINITIONS]

    await asyncio.gather(
        storage.definitions.sync_definitions(newer),
        twin.definitions.sync_definitions(DEFINITIONS[::-1]),
    )

    for found in await storage.definitions.definitions():
        assert found.gate == ("" if found.max_concurrency is None else found.key)


async def test_regating_processes_all_jobs_in_batches(storage):
    await storage.jobs.enqueue(new_jobs(25))
    await a_definition(storage, "plain", max_concurrency=100, code_hash="2")
    cursor, steps = JobId(UUID(int=0)), 0

    while cursor := await storage.definitions.move_to_current_gate(cursor, most=10):
        steps += 1

    assert steps == 3
    assert len(await claim_all(storage)) == 25


async def test_regating_an_empty_queue_is_done_at_once(storage):
    await regate(storage)

    assert await claim_all(storage) == []
