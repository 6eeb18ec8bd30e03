"""The audit chains: gap-free whoever writes at once, and any tampering is found."""

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


async def test_entries_follow_each_other_in_the_chain_of_their_tenant(storage, clock):
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
async def test_what_is_read_back_is_what_was_hashed(storage, value):
    made = await storage.access.append_audit_entry(
        an_entry(ACME, before=value, after=value, outcome="refused")
    )

    [told] = await entries_of(storage, ACME)
    assert told == made
    assert first_break([told]) == ChainEnd(1, told.hash)


async def test_entries_are_told_newest_first_page_by_page(storage):
    for number in range(5):
        await storage.access.append_audit_entry(an_entry(ACME, target_id=str(number)))

    first = await storage.access.entries(ACME, most=2)
    rest = await storage.access.entries(ACME, before=first[-1].sequence)

    assert [entry.target_id for entry in first + rest] == ["4", "3", "2", "1", "0"]
    assert await storage.access.entries(GLOBEX) == []


async def test_entries_written_at_once_have_numbers_without_a_gap(storage, twin):
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


async def test_a_change_that_is_undone_leaves_no_entry_and_no_gap(storage):
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
async def test_tampering_is_found_where_it_was_done(storage, how):
    for number in range(4):
        await storage.access.append_audit_entry(an_entry(ACME, after={"n": number}))
    statement, place = TAMPERING[how]

    await storage.database.script(f"{statement};\n")

    found = first_break(await entries_of(storage, ACME))
    assert isinstance(found, ChainBreak)
    assert found.sequence == place


async def test_two_entries_that_changed_places_are_found(storage):
    for number in range(3):
        await storage.access.append_audit_entry(an_entry(ACME, after={"n": number}))
    one, two, three = await entries_of(storage, ACME)

    swapped = [one, replace(three, sequence=2), replace(two, sequence=3)]

    assert first_break(swapped) == ChainBreak(2, "entry 2 does not follow the one before it")


async def test_entries_cut_off_at_the_end_differ_from_where_the_chain_is_said_to_end(storage):
    for _ in range(3):
        await storage.access.append_audit_entry(an_entry(ACME))
    said = (await storage.access.audit_chain_end(ACME)).recorded

    await storage.database.script("delete from windlass_audit where sequence = 3;\n")

    assert (await storage.access.audit_chain_end(ACME))[:2] == (said, 2)
    assert first_break(await entries_of(storage, ACME)) != said


def test_no_entries_are_whole():
    assert first_break([]) == EMPTY_CHAIN
