"""mute, unmute: causes hidden from the dead letter, for all tenants or for one."""

from tests.conformance.jobs.dead.test_dead import REFUSED, TIMEOUT, dead
from tests.support.job_builders import ACME, DAY, GLOBEX, HOUR, MINUTE, START, a_tenant
from windlass.core.jobs.models import ALL_TENANTS, Scope


async def causes(storage, scope=ALL_TENANTS, **how):
    return [group.fingerprint for group in await storage.jobs.dead_groups(scope, "plain", **how)]


async def two_tenants(storage):
    for tenant in (ACME, GLOBEX):
        await a_tenant(storage, tenant)
        await dead(storage, TIMEOUT, tenant=tenant)


async def test_a_muted_group_is_hidden_by_default(storage, clock):
    await dead(storage, TIMEOUT)
    await clock.advance(MINUTE)
    await dead(storage, REFUSED)

    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT, by="ada", reason="known", lasts=DAY)

    assert await causes(storage) == [REFUSED]
    loud, quiet = await storage.jobs.dead_groups(ALL_TENANTS, "plain", muted=True)
    assert (loud.fingerprint, loud.muted_at, loud.reason) == (REFUSED, None, None)
    assert (quiet.muted_at, quiet.muted_until) == (START + MINUTE, START + MINUTE + DAY)
    assert (quiet.muted_by, quiet.reason, quiet.count) == ("ada", "known", 1)


async def test_muted_groups_do_not_use_up_the_page(storage, clock):
    await dead(storage, REFUSED)
    await clock.advance(MINUTE)
    await dead(storage, TIMEOUT)

    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT)

    assert await causes(storage, most=1) == [REFUSED]


async def test_a_mute_applies_to_one_definition_and_one_cause(storage):
    await dead(storage, TIMEOUT)
    await dead(storage, TIMEOUT, definition="other")

    await storage.jobs.mute(ALL_TENANTS, "other", TIMEOUT)
    await storage.jobs.mute(ALL_TENANTS, "plain", REFUSED)

    assert await causes(storage) == [TIMEOUT]
    assert await storage.jobs.dead_groups(ALL_TENANTS, "other") == []


async def test_the_unknown_cause_can_be_muted(storage):
    await dead(storage, None)

    await storage.jobs.mute(ALL_TENANTS, "plain", "")

    assert await causes(storage) == []
    assert await causes(storage, muted=True) == [""]


async def test_a_mute_expires(storage, clock):
    await dead(storage)
    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT, lasts=HOUR)

    await clock.advance(HOUR - MINUTE)
    before = await causes(storage)
    await clock.advance(MINUTE)

    assert (before, await causes(storage)) == ([], [TIMEOUT])
    assert await storage.jobs.mutes(ALL_TENANTS) == []


async def test_the_latest_mute_wins(storage, clock):
    await dead(storage)
    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT, lasts=HOUR, by="ada", reason="known")

    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT, by="bob")
    await clock.advance(DAY)

    [mute] = await storage.jobs.mutes(ALL_TENANTS)
    assert (mute.muted_by, mute.reason, mute.muted_until) == ("bob", None, None)
    assert await causes(storage) == []


async def test_an_unmuted_group_is_shown_again(storage):
    await dead(storage)
    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT)

    await storage.jobs.unmute(ALL_TENANTS, "plain", TIMEOUT)
    await storage.jobs.unmute(ALL_TENANTS, "plain", TIMEOUT)  # nothing to take back

    assert await causes(storage) == [TIMEOUT]


async def test_a_tenants_mute_applies_to_that_tenant_only(storage):
    await two_tenants(storage)

    await storage.jobs.mute(Scope(ACME), "plain", TIMEOUT)

    assert await causes(storage, Scope(ACME)) == []
    assert await causes(storage, Scope(GLOBEX)) == [TIMEOUT]
    assert await causes(storage) == [TIMEOUT]
    assert [mute.tenant for mute in await storage.jobs.mutes(Scope(ACME))] == [ACME]
    assert await storage.jobs.mutes(Scope(GLOBEX)) == await storage.jobs.mutes(ALL_TENANTS) == []


async def test_a_global_mute_applies_to_each_tenant_and_only_an_operator_lifts_it(storage):
    await two_tenants(storage)
    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT, by="root")

    await storage.jobs.unmute(Scope(ACME), "plain", TIMEOUT)

    assert await causes(storage, Scope(ACME)) == await causes(storage) == []
    [held] = await storage.jobs.mutes(Scope(ACME), definition="plain", fingerprint=TIMEOUT)
    assert (held.tenant, held.muted_by) == (None, "root")


async def test_a_group_muted_twice_is_listed_once(storage):
    await two_tenants(storage)
    await storage.jobs.mute(Scope(ACME), "plain", TIMEOUT, by="ada")
    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT, by="root")

    [group] = await storage.jobs.dead_groups(Scope(ACME), "plain", muted=True)
    await storage.jobs.unmute(ALL_TENANTS, "plain", TIMEOUT)

    assert (group.count, group.muted_by) == (1, "root")
    assert await causes(storage, Scope(ACME)) == []
    assert await causes(storage, Scope(GLOBEX)) == [TIMEOUT]


async def test_mutes_are_listed_for_one_group_or_for_all(storage):
    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT)
    await storage.jobs.mute(ALL_TENANTS, "plain", REFUSED)
    await storage.jobs.mute(ALL_TENANTS, "other", TIMEOUT)

    found = await storage.jobs.mutes(ALL_TENANTS)

    assert [(mute.definition, mute.fingerprint) for mute in found] == [
        ("other", TIMEOUT),
        ("plain", TIMEOUT),
        ("plain", REFUSED),
    ]
    assert len(await storage.jobs.mutes(ALL_TENANTS, definition="plain")) == 2
    [one] = await storage.jobs.mutes(ALL_TENANTS, definition="plain", fingerprint=REFUSED)
    assert one.fingerprint == REFUSED


async def test_recent_failures_of_muted_causes_are_counted(storage, clock):
    await dead(storage, TIMEOUT)
    await clock.advance(DAY - MINUTE)
    await dead(storage, TIMEOUT)
    await dead(storage, REFUSED)
    before = await storage.jobs.count_muted_dead("plain")
    await a_tenant(storage, ACME)

    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT)
    await storage.jobs.mute(Scope(ACME), "plain", REFUSED)

    assert before == (0, 0)
    assert await storage.jobs.count_muted_dead("plain") == (1, 2)
    assert await storage.jobs.count_muted_dead("plain", look=2) == (1, 1)
    await clock.advance(HOUR)
    assert await storage.jobs.count_muted_dead("plain") == (0, 1)


async def test_expired_mutes_are_deleted(storage, clock):
    await storage.jobs.mute(ALL_TENANTS, "plain", TIMEOUT, lasts=HOUR)
    await storage.jobs.mute(ALL_TENANTS, "plain", REFUSED)
    await clock.advance(HOUR)

    assert (await storage.jobs.prune_mutes(), await storage.jobs.prune_mutes()) == (1, 0)
    assert [mute.fingerprint for mute in await storage.jobs.mutes(ALL_TENANTS)] == [REFUSED]
