"""Audit chains: concurrent writers leave no gap, and any tampering is detected."""

import asyncio
from dataclasses import replace

import pytest

from tests.conformance.account_builders import an_entry
from tests.support.job_builders import ACME, GLOBEX, MINUTE, START
from windlass.core.access.audit import EMPTY_CHAIN, GENESIS, ChainBreak, ChainEnd, first_break
from windlass.storage.access.audit import StoredChainEnd, append


async def entries_of(storage, tenant=None):
    end = await storage.access.audit_chain_end(tenant)
    return await storage.access.audit_entries_after(tenant, 0, last=end.last)


async def test_entries_form_a_chain_per_tenant(storage, clock):
    await storage.access.append_audit_entry(an_entry(ACME, action="jobs.cancel"))
    await clock.advance(MINUTE)
    await storage.access.append_audit_entry(an_entry(ACME, action="jobs.retry", request_id="r-1"))
    await storage.access.append_audit_entry(an_entry(None))

    first, second = await entries_of(storage, ACME)
    assert (first.sequence, first.previous_hash, first.at) == (1, GENESIS, START)
    assert (second.sequence, second.previous_hash) == (2, first.hash)
    assert (second.at, second.request_id) == (START + MINUTE, "r-1")
    assert [entry.sequence for entry in await entries_of(storage)] == [1]
    assert await storage.access.audit_chains() == [None, ACME]
    assert first_break([first, second]) == ChainEnd(2, second.hash)
    assert (await storage.access.audit_chain_end(ACME))[:2] == (ChainEnd(2, second.hash), 2)
    assert await storage.access.audit_chain_end(GLOBEX) == StoredChainEnd(None, 0)


VALUES = [
    None,
    {"b": 1, "a": [1, 2.5, None, True], "n": {"deep": "é"}},
    "text with \u0000 nul and \ud800 half and 🎉",
    10**30,
    [],
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
async def test_stored_entries_match_their_hashes(storage, value):
    created = await storage.access.append_audit_entry(
        an_entry(ACME, before=value, after=value, outcome="refused")
    )

    [entry] = await entries_of(storage, ACME)
    assert entry == created
    assert first_break([entry]) == ChainEnd(1, entry.hash)


async def test_entries_are_listed_newest_first_in_pages(storage):
    for number in range(5):
        await storage.access.append_audit_entry(an_entry(ACME, target_id=str(number)))

    first = await storage.access.entries(ACME, most=2)
    rest = await storage.access.entries(ACME, before=first[-1].sequence)

    assert [entry.target_id for entry in first + rest] == ["4", "3", "2", "1", "0"]
    assert await storage.access.entries(GLOBEX) == []


async def test_concurrent_entries_are_numbered_without_gaps(storage, twin):
    await asyncio.gather(
        *[
            side.access.append_audit_entry(an_entry(tenant, target_id=str(number)))
            for number in range(6)
            for side in (storage, twin)
            for tenant in (ACME, None)
        ]
    )

    for tenant in (ACME, None):
        entries = await entries_of(storage, tenant)
        assert [entry.sequence for entry in entries] == list(range(1, 13))
        assert first_break(entries) == (await storage.access.audit_chain_end(tenant)).recorded


async def test_a_rolled_back_change_leaves_no_entry_and_no_gap(storage):
    async def fails() -> None:
        async with storage.database.transaction() as session:
            await append(session, an_entry(ACME, target_id="undone"))
            raise RuntimeError

    await storage.access.append_audit_entry(an_entry(ACME))
    with pytest.raises(RuntimeError):
        await fails()
    await storage.access.append_audit_entry(an_entry(ACME))

    entries = await entries_of(storage, ACME)
    assert [entry.target_id for entry in entries] == ["mail", "mail"]
    assert isinstance(first_break(entries), ChainEnd)


TAMPERING = {
    "an edit": ("update windlass_audit set actor_name = 'eve' where sequence = 2", 2),
    "an edited value": (
        """update windlass_audit set value_after = '{"n":9}' where sequence = 2""",
        2,
    ),
    "another outcome": ("update windlass_audit set outcome = 'refused' where sequence = 3", 3),
    "another tenant": ("update windlass_audit set tenant_id = 'globex' where sequence = 2", 2),
    "a gap": ("delete from windlass_audit where sequence = 2", 2),
    "a lost start": ("delete from windlass_audit where sequence = 1", 1),
    "a forged hash": (f"update windlass_audit set hash = '{'a' * 64}' where sequence = 2", 2),
    "a forged link": (
        f"update windlass_audit set previous_hash = '{'a' * 64}' where sequence = 3",
        3,
    ),
}


@pytest.mark.parametrize("how", TAMPERING)
async def test_tampering_is_located(storage, how):
    for number in range(4):
        await storage.access.append_audit_entry(an_entry(ACME, after={"n": number}))
    statement, place = TAMPERING[how]

    await storage.database.script(f"{statement};\n")

    found = first_break(await entries_of(storage, ACME))
    assert isinstance(found, ChainBreak)
    assert found.sequence == place


async def test_swapped_entries_are_detected(storage):
    for number in range(3):
        await storage.access.append_audit_entry(an_entry(ACME, after={"n": number}))
    one, two, three = await entries_of(storage, ACME)

    swapped = [one, replace(three, sequence=2), replace(two, sequence=3)]

    assert first_break(swapped) == ChainBreak(2, "entry 2 does not follow the one before it")


async def test_truncation_is_detected_by_the_recorded_head(storage):
    for _ in range(3):
        await storage.access.append_audit_entry(an_entry(ACME))
    statement = (await storage.access.audit_chain_end(ACME)).recorded

    await storage.database.script("delete from windlass_audit where sequence = 3;\n")

    assert (await storage.access.audit_chain_end(ACME))[:2] == (statement, 2)
    assert first_break(await entries_of(storage, ACME)) != statement


def test_an_empty_chain_is_valid():
    assert first_break([]) == EMPTY_CHAIN
