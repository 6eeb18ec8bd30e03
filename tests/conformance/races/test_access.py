"""Races of audited changes with one chain, and of operations against workers."""

import asyncio

from tests.conformance.account_builders import (
    a_member,
    a_token,
    a_user,
    accepted,
    an_entry,
    begun,
    hash_of,
    invite,
)
from tests.conformance.races.race import ROUNDS, in_one_place, race
from tests.support.job_builders import ACME, MINUTE, a_tenant, claim, end, enqueue, state_of
from windlass.core.access.audit import first_break
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.states import ENDED, JobState
from windlass.ids import new_session_id


async def test_concurrent_changes_are_all_in_the_chain(storage, twin):
    await a_tenant(storage, ACME)
    users = [await a_user(storage, f"u{n}") for n in range(4)]
    for user in users:
        await a_member(storage, user, ACME)
    sides = (storage, twin) * 4

    await asyncio.gather(
        *[
            side.access.create_token(a_token(tenant=ACME), hash_of(str(n)), entry=an_entry(ACME))
            for n, side in enumerate(sides)
        ],
        *[
            side.access.update_member(user, ACME, "tenant_admin", entry=an_entry(ACME))
            for user in users
            for side in (storage, twin)
        ],
        *[side.access.update_user(users[0], disabled=True, entry=an_entry(ACME)) for side in sides],
    )

    end = await storage.access.audit_chain_end(ACME)
    entries = await storage.access.audit_entries_after(ACME, 0, last=end.last)
    assert len(entries) == len(users) + 24
    assert first_break(entries) == end.recorded


async def test_concurrent_revocations_of_a_token_leave_one_entry(storage, twin):
    for number in range(ROUNDS):
        token = a_token()
        await storage.access.create_token(token, hash_of("t"))

        results = await race(
            number,
            storage.access.revoke_token(ALL_TENANTS, token.id, entry=an_entry()),
            twin.access.revoke_token(ALL_TENANTS, token.id, entry=an_entry()),
        )

        assert sorted(results) == [False, True]
        assert len(await storage.access.entries(None, most=100)) == number + 1


async def test_deleting_a_user_against_granting_it_a_role(storage, twin):
    await a_tenant(storage, ACME)
    for number in range(ROUNDS):
        user = await a_user(storage, f"u{number}")
        offered = await invite(storage, f"u{number}", ACME)

        gone, _ = await race(
            number,
            storage.access.delete_user(user, entry=an_entry()),
            twin.access.accept_invitation(offered, user, session=None, entry_of=accepted),
        )

        assert gone
        assert await storage.access.members(ALL_TENANTS, user=user) == []


async def test_deleting_a_user_against_what_it_creates(storage, twin):
    for number in range(ROUNDS):
        user = await a_user(storage, f"u{number}")
        token = a_token(created_by=user)

        gone, created = await race(
            number, storage.access.delete_user(user), twin.access.create_token(token, hash_of("t"))
        )

        assert gone
        kept = {each.id: each for each in await storage.access.tokens(ALL_TENANTS)}
        assert (token.id in kept) is created
        assert not created or kept[token.id].revoked_at is not None


async def test_deleting_a_user_against_its_login(storage, twin):
    for number in range(ROUNDS):
        user = await a_user(storage, f"u{number}")
        session = new_session_id()

        await race(
            number,
            storage.access.delete_user(user),
            twin.access.create_session(
                session, hash_of(str(session)), user, idle=MINUTE, longest=MINUTE
            ),
        )

        assert await storage.access.session(hash_of(str(session)), fresh=MINUTE) is None


async def test_an_operation_against_workers_leaves_each_job_in_one_state(storage, twin):
    for number in range(ROUNDS):
        ids = [await enqueue(storage) for _ in range(8)]
        operation = await begun(storage, ids)

        async def work(operation=operation):
            while (
                worked := await storage.jobs.work_operation(operation, most=3, hold=MINUTE)
            ) and worked.looked:
                pass

        async def run():
            for _ in range(4):
                for lease in await claim(twin, 2):
                    await end(twin, lease)

        await race(number, work(), run())

        after = await storage.jobs.operation(ALL_TENANTS, operation.id)
        assert (after.done + after.skipped, after.failed) == (8, 0)
        states = [await state_of(storage, id) for id in ids]
        assert set(states) <= ENDED | {JobState.RUNNING}
        for id in ids:
            assert await in_one_place(storage, id)
        await storage.jobs.finish_operation(operation, "completed")


async def test_a_stop_against_a_batch_takes_effect_with_the_next(storage, twin):
    for number in range(ROUNDS):
        ids = [await enqueue(storage) for _ in range(4)]
        operation = await begun(storage, ids)

        worked, stopped = await race(
            number,
            storage.jobs.work_operation(operation, most=2, hold=MINUTE),
            twin.jobs.stop_operation(ALL_TENANTS, operation.id),
        )

        assert stopped
        assert worked.settled in (0, 2)
        assert (await storage.jobs.work_operation(operation, most=2, hold=MINUTE)).stop_requested
        await storage.jobs.finish_operation(operation, "stopped")
