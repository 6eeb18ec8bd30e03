"""Tokens, sessions, one-time links and the counting of logins, by the database's clock."""

import asyncio
from datetime import timedelta

from tests.conformance.account_builders import a_session, a_token, a_user, hash_of
from tests.support.job_builders import ACME, DAY, GLOBEX, HOUR, MINUTE, SECOND, START, a_tenant
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.ids import new_session_id, new_token_id, new_user_id


async def test_a_token_reads_back_as_created(storage):
    await a_tenant(storage, ACME)
    ada = await a_user(storage)
    token = a_token(
        tenant=ACME,
        rights=frozenset({"jobs.read", "exports"}),
        permissions=frozenset({"exports"}),
        created_by=ada,
    )

    assert await storage.access.create_token(token, hash_of("t"), expires=HOUR)

    found = await storage.access.token(token.id, fresh=MINUTE)
    [stored] = await storage.access.tokens(ALL_TENANTS)
    assert found.token == stored
    assert (
        stored.name,
        stored.role,
        stored.tenant,
        stored.rights,
        stored.permissions,
        stored.created_by,
    ) == (
        token.name,
        token.role,
        ACME,
        token.rights,
        token.permissions,
        ada,
    )
    assert (stored.created_at, stored.expires_at) == (START, START + HOUR)
    assert (found.hash, found.valid, found.stale) == (hash_of("t"), True, True)
    assert await storage.access.token(new_token_id(), fresh=MINUTE) is None


async def test_a_token_requires_an_existing_tenant_and_user(storage):
    await a_tenant(storage, GLOBEX, state="deleted")

    assert not await storage.access.create_token(a_token(tenant="unheard"), hash_of("t"))
    assert not await storage.access.create_token(a_token(tenant=GLOBEX), hash_of("t"))
    assert not await storage.access.create_token(a_token(created_by=new_user_id()), hash_of("t"))
    assert await storage.access.tokens(ALL_TENANTS) == []


async def test_a_token_is_valid_until_it_expires_or_its_tenant_is_deleted(storage, clock):
    await a_tenant(storage, ACME)
    brief, bound, lasting = a_token(), a_token(tenant=ACME), a_token()
    await storage.access.create_token(brief, hash_of("a"), expires=HOUR)
    await storage.access.create_token(bound, hash_of("b"))
    await storage.access.create_token(lasting, hash_of("c"))

    await clock.advance(HOUR)
    await a_tenant(storage, ACME, state="deleted")

    valid = [
        (await storage.access.token(each.id, fresh=MINUTE)).valid
        for each in (brief, bound, lasting)
    ]
    assert valid == [False, False, True]


async def test_token_names_include_revoked_tokens(storage):
    await a_tenant(storage, ACME)
    bot, foreign, other = a_token(name="bot"), a_token(name="Hällo", tenant=ACME), a_token()
    for number, token in enumerate((bot, foreign, other)):
        await storage.access.create_token(token, hash_of(str(number)))
    await storage.access.revoke_token(ALL_TENANTS, bot.id)

    names = await storage.access.token_names([bot.id, foreign.id, new_token_id()])

    assert names == {bot.id: "bot", foreign.id: "Hällo"}


async def test_token_usage_is_recorded_periodically(storage, clock):
    token = a_token()
    await storage.access.create_token(token, hash_of("t"))

    await storage.access.touch_token(token.id, fresh=MINUTE)
    await clock.advance(30 * SECOND)
    within = await storage.access.token(token.id, fresh=MINUTE)
    await storage.access.touch_token(token.id, fresh=MINUTE)
    await clock.advance(MINUTE)

    after = await storage.access.token(token.id, fresh=MINUTE)
    assert not within.stale
    assert (after.token.last_used_at, after.stale) == (START, True)


async def test_a_token_is_revoked_once_and_only_in_scope(storage):
    await a_tenant(storage, ACME)
    token = a_token(tenant=ACME)
    await storage.access.create_token(token, hash_of("t"))

    assert not await storage.access.revoke_token(Scope(GLOBEX), token.id)
    assert await storage.access.revoke_token(Scope(ACME), token.id)
    assert not await storage.access.revoke_token(ALL_TENANTS, token.id)

    assert not (await storage.access.token(token.id, fresh=MINUTE)).valid


async def test_a_tenants_tokens_are_listed_newest_first(storage):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
    mine = [a_token(tenant=ACME) for _ in range(3)]
    for token in (*mine, a_token(tenant=GLOBEX), a_token()):
        await storage.access.create_token(token, hash_of("t"))

    first = await storage.access.tokens(Scope(ACME), most=2)
    rest = await storage.access.tokens(Scope(ACME), before=first[-1].id)

    assert [t.id for t in first + rest] == [t.id for t in reversed(mine)]
    assert len(await storage.access.tokens(ALL_TENANTS)) == 5


async def test_a_session_is_extended_by_use_up_to_its_maximum_age(storage, clock):
    ada = await a_user(storage, superadmin=True)
    id = await a_session(storage, ada)

    found = await storage.access.session(hash_of("s"), fresh=MINUTE)
    assert (found.session.id, found.name, found.superadmin, found.stale) == (id, "ada", True, False)
    await storage.access.touch_session(id, idle=6 * HOUR)
    for _ in range(4):
        await clock.advance(5 * HOUR)
        assert (await storage.access.session(hash_of("s"), fresh=MINUTE)).stale
        await storage.access.touch_session(id, idle=6 * HOUR)
    await clock.set(START + DAY)

    assert await storage.access.session(hash_of("s"), fresh=MINUTE) is None
    assert await storage.access.sessions(ada) == []
    assert (await storage.access.user(ada)).last_login_at == START


async def test_an_idle_session_expires_for_good(storage, clock):
    ada = await a_user(storage)
    id = await a_session(storage, ada)

    await clock.advance(10 * MINUTE)
    await storage.access.touch_session(id, idle=10 * MINUTE)

    assert await storage.access.session(hash_of("s"), fresh=MINUTE) is None


async def test_a_session_needs_an_enabled_user_and_the_right_hash(storage):
    ada = await a_user(storage)
    await a_session(storage, ada)

    assert await storage.access.session(hash_of("S"), fresh=MINUTE) is None
    await storage.access.update_user(ada, disabled=True)
    assert await storage.access.session(hash_of("s"), fresh=MINUTE) is None


async def test_sessions_are_ended_singly_and_all_at_once(storage):
    ada, bob = await a_user(storage, "ada"), await a_user(storage, "bob")
    one, _, three = [await a_session(storage, ada, str(n)) for n in range(3)]

    assert not await storage.access.delete_session(one, user=bob)
    assert await storage.access.delete_session(one, user=ada)
    assert not await storage.access.delete_session(new_session_id())
    await storage.access.delete_user_sessions(ada, but=three)

    assert [session.id for session in await storage.access.sessions(ada)] == [three]


async def test_a_link_works_once_for_its_purpose_before_it_expires(storage, clock):
    ada = await a_user(storage)
    await storage.access.create_link(hash_of("a"), "login", ada, expires=HOUR)
    await storage.access.create_link(hash_of("b"), "login", ada, expires=HOUR)

    assert await storage.access.use_link(hash_of("a"), "password") is None
    assert await storage.access.use_link(hash_of("a"), "login") == ada
    assert await storage.access.use_link(hash_of("a"), "login") is None
    await clock.advance(HOUR)
    assert await storage.access.use_link(hash_of("b"), "login") is None


async def test_a_deleted_user_gets_neither_session_nor_link(storage):
    gone = new_user_id()

    begun = await storage.access.create_session(
        new_session_id(), hash_of("s"), gone, idle=MINUTE, longest=HOUR
    )

    assert not begun
    assert not await storage.access.create_link(hash_of("l"), "login", gone, expires=HOUR)


async def test_concurrent_uses_of_a_link_succeed_once(storage, twin):
    ada = await a_user(storage)
    await storage.access.create_link(hash_of("a"), "login", ada, expires=HOUR)

    used = await asyncio.gather(
        *[side.access.use_link(hash_of("a"), "login") for side in (storage, twin) * 4]
    )

    assert [id for id in used if id] == [ada]


async def test_login_attempts_are_counted_within_their_window(storage, clock):
    window = 15 * MINUTE

    counted = [await storage.access.count_login_try("account:1", window=window) for _ in range(3)]
    await clock.advance(5 * MINUTE)
    later = await storage.access.count_login_try("account:1", window=window)
    await clock.advance(10 * MINUTE)
    anew = await storage.access.count_login_try("account:1", window=window)

    assert [tries.number for tries in counted] == [1, 2, 3]
    assert (later.number, later.left) == (4, 10 * MINUTE)
    assert (anew.number, anew.left) == (1, window)
    assert (await storage.access.count_login_try("account:2", window=window)).number == 1


async def test_concurrent_login_attempts_are_all_counted(storage, twin):
    counted = await asyncio.gather(
        *[side.access.count_login_try("address:1", window=HOUR) for side in (storage, twin) * 5]
    )

    assert sorted(tries.number for tries in counted) == list(range(1, 11))


async def test_a_successful_login_resets_the_counter(storage):
    await storage.access.count_login_try("account:1", window=HOUR)

    await storage.access.clear_login_tries("account:1")

    assert (await storage.access.count_login_try("account:1", window=HOUR)).number == 1


async def test_a_remembered_login_expires_counted_from_the_latest(storage, clock):
    await storage.access.remember_login("signed-in:1", lasts=HOUR)
    await clock.advance(30 * MINUTE)
    await storage.access.remember_login("signed-in:1", lasts=HOUR)
    await clock.advance(59 * MINUTE)

    before = await storage.access.remembered_login("signed-in:1")
    await clock.advance(MINUTE)
    await storage.access.prune_access()

    assert (before, await storage.access.remembered_login("signed-in:1")) == (True, False)
    assert not await storage.access.remembered_login("signed-in:2")
    [row] = await storage.database.query("select count(*) as n from windlass_login_tries", {})
    assert row["n"] == 0


async def test_expired_credentials_are_pruned_and_valid_ones_kept(storage, clock):
    ada = await a_user(storage)
    await a_session(storage, ada)
    await storage.access.create_link(hash_of("a"), "login", ada, expires=HOUR)
    await storage.access.count_login_try("account:1", window=HOUR)
    await clock.advance(timedelta(hours=2))
    lasting = await a_session(storage, ada, "lasting")

    await storage.access.prune_access()

    for table, left in {"sessions": 1, "links": 0, "login_tries": 0}.items():
        [row] = await storage.database.query(f"select count(*) as n from windlass_{table}", {})
        assert row["n"] == left, table
    assert [session.id for session in await storage.access.sessions(ada)] == [lasting]
    assert await storage.access.user(new_user_id()) is None


async def test_expired_tokens_can_be_excluded(storage, clock):
    kept, revoked, expiring = a_token(), a_token(), a_token()
    for token in (kept, revoked):
        await storage.access.create_token(token, hash_of("t"))
    await storage.access.create_token(expiring, hash_of("t"), expires=MINUTE)
    await storage.access.revoke_token(ALL_TENANTS, revoked.id)

    before = await storage.access.tokens(ALL_TENANTS, ended=False)
    await clock.advance(2 * MINUTE)
    after = await storage.access.tokens(ALL_TENANTS, ended=False)

    assert {token.id for token in before} == {kept.id, expiring.id}
    assert [token.id for token in after] == [kept.id]
    assert len(await storage.access.tokens(ALL_TENANTS)) == 3
