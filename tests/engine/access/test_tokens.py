"""Tokens: created, shown once, authenticated, narrowed, revoked; never wider than their creator."""

import pytest

from tests.support.job_builders import HOUR, MINUTE, SECOND
from tests.support.principals import ACME, GLOBEX, ROOT, admin, an_engine, everything_stored, person
from windlass.core.access.roles import Right, Role, may, scope_of
from windlass.core.jobs.models import Scope
from windlass.engine.access import secrets
from windlass.errors import (
    Forbidden,
    NotAuthenticated,
    OptionInvalid,
    TenantNotFound,
    TokenNotFound,
)
from windlass.ids import new_token_id


@pytest.fixture
async def engine(storage, heard):
    return await an_engine(storage, heard)


async def test_a_token_is_recognized_by_its_secret_which_is_not_stored(engine, storage, heard):
    made = await engine.tokens.create(admin(), "deploy", role=Role.USER)

    known = await engine.access.authenticate_token(made.secret)

    assert (known.kind, known.id, known.name) == ("token", made.token.id, "deploy")
    assert scope_of(known) == Scope(ACME)
    assert made.secret.startswith(f"{made.token.prefix}_")
    bare = made.secret.rpartition(f"{made.token.id.hex}_")[2]
    assert len(bare) == 43
    for place in (await everything_stored(storage), repr(made), str(heard.said)):
        assert bare not in place


@pytest.mark.parametrize(
    "broken",
    [
        lambda text: "",
        lambda text: "wl_",
        lambda text: text[:-1],
        lambda text: text[:-1] + ("a" if text[-1] != "a" else "b"),
        lambda text: text.replace("wl_", "xx_"),
        lambda text: f"wl_{new_token_id().hex}_{'a' * 43}",
        lambda text: text + "\n",
    ],
)
async def test_any_other_text_is_not_authenticated(engine, broken):
    made = await engine.tokens.create(ROOT, "deploy", role=Role.SUPERADMIN)

    with pytest.raises(NotAuthenticated):
        await engine.access.authenticate_token(broken(made.secret))


async def test_a_token_ends_when_it_expires_is_revoked_or_its_tenant_is_deleted(engine, clock):
    brief = await engine.tokens.create(ROOT, "brief", role=Role.SUPERADMIN, expires="1h")
    revoked = await engine.tokens.create(ROOT, "revoked", role=Role.SUPERADMIN)
    bound = await engine.tokens.create(ROOT, "bound", tenant=ACME)
    assert brief.token.expires_at == clock.now + HOUR

    await engine.tokens.revoke(ROOT, revoked.token.id)
    await engine.tenants.delete(ACME)
    await clock.advance(HOUR)

    for made in (brief, revoked, bound):
        with pytest.raises(NotAuthenticated):
            await engine.access.authenticate_token(made.secret)


async def test_a_tokens_use_is_stored_once_a_minute(engine, clock):
    made = await engine.tokens.create(ROOT, "deploy", role=Role.SUPERADMIN)
    first = clock.now
    await engine.access.authenticate_token(made.secret)
    await clock.advance(30 * SECOND)
    await engine.access.authenticate_token(made.secret)
    [within] = await engine.tokens.list(ROOT)
    await clock.advance(MINUTE)
    await engine.access.authenticate_token(made.secret)

    [after] = await engine.tokens.list(ROOT)

    assert (within.last_used_at, after.last_used_at) == (first, clock.now)


async def test_a_narrowed_token_has_the_rights_it_names_only(engine):
    made = await engine.tokens.create(
        admin(), "reader", role=Role.TENANT_ADMIN, rights=[Right.JOBS_READ]
    )

    reader = await engine.access.authenticate_token(made.secret)

    assert may(reader, Right.JOBS_READ, tenant=ACME)
    assert not may(reader, Right.JOBS_CANCEL, tenant=ACME)


async def test_no_token_gets_more_rights_than_its_creator(engine, storage):
    by = admin()
    attempts = [
        {"role": Role.SUPERADMIN},
        {"role": Role.USER, "permissions": ["exports"]},
        {"role": Role.SUPERADMIN, "rights": [Right.JOBS_DISCARD]},
    ]

    for about in attempts:
        with pytest.raises(Forbidden):
            await engine.tokens.create(by, "more", **about)
    for tenant in (GLOBEX, "unheard"):
        with pytest.raises(TenantNotFound):
            await engine.tokens.create(by, "elsewhere", tenant=tenant)
    with pytest.raises(Forbidden):
        await engine.tokens.create(person(Role.USER), "mine")

    assert await engine.tokens.list(ROOT) == []
    refused = await storage.access.entries(ACME)
    assert len(refused) == 6
    assert {(e.action, e.outcome) for e in refused} == {("tokens.write", "refused")}


async def test_a_narrowed_token_cannot_create_a_wider_one(engine):
    made = await engine.tokens.create(
        ROOT, "maker", role=Role.SUPERADMIN, rights=[Right.TOKENS_WRITE, Right.JOBS_READ]
    )
    maker = await engine.access.authenticate_token(made.secret)

    for rights in (None, [Right.JOBS_CANCEL]):
        with pytest.raises(Forbidden):
            await engine.tokens.create(maker, "more", role=Role.SUPERADMIN, rights=rights)
    with pytest.raises(Forbidden):
        await engine.tokens.create(maker, "worker", role=Role.WORKER)

    less = await engine.tokens.create(maker, "less", role=Role.SUPERADMIN, rights=[Right.JOBS_READ])
    assert less.token.rights == {Right.JOBS_READ}


@pytest.mark.parametrize(
    "about",
    [
        {"role": "emperor"},
        {"role": Role.WORKER, "tenant": ACME},
        {"role": Role.TENANT_ADMIN},
        {"role": Role.USER, "tenant": ACME, "rights": ["jobs.launder"]},
        {"role": Role.SUPERADMIN, "expires": "soon"},
    ],
    ids=str,
)
async def test_a_token_with_invalid_options_is_refused(engine, about):
    with pytest.raises(OptionInvalid):
        await engine.tokens.create(ROOT, "odd", **about)


async def test_a_tenants_tokens_are_seen_and_revoked_within_it(engine):
    mine = await engine.tokens.create(ROOT, "mine", tenant=ACME)
    theirs = await engine.tokens.create(ROOT, "theirs", tenant=GLOBEX)

    assert [token.id for token in await engine.tokens.list(admin())] == [mine.token.id]
    for id in (theirs.token.id, new_token_id()):
        with pytest.raises(TokenNotFound):
            await engine.tokens.revoke(admin(), id)
    await engine.tokens.revoke(admin(), mine.token.id)

    with pytest.raises(NotAuthenticated):
        await engine.access.authenticate_token(mine.secret)
    assert (await engine.access.authenticate_token(theirs.secret)).id == theirs.token.id


async def test_creating_and_revoking_leave_an_entry_each_in_the_tenants_chain(engine, storage):
    by = admin()
    made = await engine.tokens.create(by, "deploy", request_id="r-1")
    await engine.tokens.revoke(by, made.token.id)
    await engine.tokens.revoke(by, made.token.id)

    revoked, created = await storage.access.entries(ACME)

    assert (created.actor, created.request_id) == (by.actor, "r-1")
    assert created.after["name"] == "deploy"
    assert (revoked.target_id, revoked.after) == (str(made.token.id), {"revoked": True})


def test_hashes_are_compared_as_wholes():
    assert secrets.same(secrets.digest("a"), secrets.digest("a"))
    assert not secrets.same(secrets.digest("a"), secrets.digest("b"))
