"""Signing in: by password or link, throttled, telling nothing; sessions that slide and end."""

import pytest

from tests.support.job_builders import MINUTE
from tests.support.principals import (
    ACME,
    PASSWORD,
    ROOT,
    an_engine,
    cheap,
    everything_stored,
    join,
    person,
)
from windlass.core.access.roles import Role, scope_of
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.engine.access import login_throttle
from windlass.engine.access.authorization import IDLE, LONGEST
from windlass.engine.access.login_throttle import (
    PER_ACCOUNT,
    PER_ADDRESS,
    REMEMBERED,
    WINDOW,
    network,
)
from windlass.engine.access.passwords import Passwords
from windlass.errors import (
    Forbidden,
    LinkInvalid,
    LoginFailed,
    LoginThrottled,
    NotAuthenticated,
    OptionInvalid,
    SessionNotFound,
)


@pytest.fixture
async def engine(storage, heard):
    return await an_engine(storage, heard)


@pytest.fixture
async def ada(engine):
    return await engine.users.create(ROOT, "Ada@Example.com", password=PASSWORD)


async def test_a_session_has_the_current_roles_of_its_user(engine, ada):
    signed = await engine.sessions.login(" ada@EXAMPLE.com", PASSWORD, note="Firefox")

    await join(engine, ACME, ada.name, Role.TENANT_ADMIN, keep=signed.secret)
    known = await engine.access.authenticate_session(signed.secret)

    assert (known.kind, known.id, known.name) == ("session", ada.id, "ada@example.com")
    assert scope_of(known) == Scope(ACME)
    [session] = await engine.sessions.list(known)
    assert (session.id, session.note) == (signed.id, "Firefox")


async def test_a_superadmins_session_reaches_all_tenants(engine):
    await engine.users.create(ROOT, "root", superadmin=True, password=PASSWORD)

    signed = await engine.sessions.login("root", PASSWORD)

    assert scope_of(signed.principal) == ALL_TENANTS


async def test_neither_response_nor_work_reveals_if_an_account_exists(engine, ada, monkeypatch):
    await engine.users.create(ROOT, "unset")
    await engine.users.create(ROOT, "disabled", password=PASSWORD)
    await engine.users.change(ROOT, "disabled", disabled=True)
    verified = []
    verify = Passwords._verify
    monkeypatch.setattr(
        Passwords, "_verify", lambda self, *a: verified.append(a) or verify(self, *a)
    )

    answers = set()
    for name, password in [
        ("ada@example.com", "wrong password"),
        ("unset", PASSWORD),
        ("disabled", PASSWORD),
        ("nobody", PASSWORD),
    ]:
        with pytest.raises(LoginFailed) as told:
            await engine.sessions.login(name, password)
        answers.add(str(told.value))

    assert len(answers) == 1
    assert len(verified) == 4


@pytest.mark.parametrize("name", ["ada@example.com", "nobody"])
async def test_logins_of_an_account_are_throttled_whether_it_exists_or_not(
    engine, ada, clock, heard, name
):
    for _ in range(PER_ACCOUNT):
        with pytest.raises(LoginFailed):
            await engine.sessions.login(name, "wrong password")
    await clock.advance(MINUTE)

    for password in ("wrong password", PASSWORD):
        with pytest.raises(LoginThrottled) as told:
            await engine.sessions.login(name.upper(), password)
        assert told.value.retry_after_seconds == (WINDOW - MINUTE).total_seconds()
    assert heard.events().count("logins throttled") == 1
    assert name not in str(heard.said)
    await clock.advance(WINDOW)
    with pytest.raises(LoginFailed):
        await engine.sessions.login(name, "wrong password")


async def test_logins_from_an_address_are_throttled_before_accounts_are_counted(
    engine, ada, monkeypatch
):
    monkeypatch.setattr(login_throttle, "PER_ADDRESS", 3)
    for number in range(3):
        with pytest.raises(LoginFailed):
            await engine.sessions.login(f"n{number}", "wrong password", address="10.0.0.1")

    for _ in range(PER_ACCOUNT):
        with pytest.raises(LoginThrottled):
            await engine.sessions.login("ada@example.com", "wrong", address="10.0.0.1")

    signed = await engine.sessions.login("ada@example.com", PASSWORD, address="10.0.0.2")
    assert signed.principal.id == ada.id
    assert PER_ADDRESS > PER_ACCOUNT


async def test_a_successful_login_resets_the_tries_of_the_account(engine, ada):
    for _ in range(3):
        for _ in range(PER_ACCOUNT - 1):
            with pytest.raises(LoginFailed):
                await engine.sessions.login("ada@example.com", "wrong password")

        await engine.sessions.login("ada@example.com", PASSWORD)


async def _fail_logins(engine, name, number, address):
    for _ in range(number):
        with pytest.raises(LoginFailed):
            await engine.sessions.login(name, "wrong password", address=address)


async def test_wrong_logins_from_elsewhere_do_not_lock_out_the_owner(engine, ada):
    await engine.sessions.login(ada.name, PASSWORD, address="10.0.0.1")
    await _fail_logins(engine, ada.name, PER_ACCOUNT, "10.9.9.9")

    signed = await engine.sessions.login(ada.name, PASSWORD, address="10.0.0.1")

    assert signed.principal.id == ada.id
    for address in ("10.9.9.9", "10.8.8.8"):  # and the owner's login gives others no more tries
        with pytest.raises(LoginThrottled):
            await engine.sessions.login(ada.name, PASSWORD, address=address)


async def test_a_known_address_has_its_own_limit(engine, ada):
    await engine.users.create(ROOT, "bob", password=PASSWORD)
    await engine.sessions.login(ada.name, PASSWORD, address="10.0.0.1")
    await _fail_logins(engine, ada.name, PER_ACCOUNT, "10.0.0.1")

    with pytest.raises(LoginThrottled):
        await engine.sessions.login(ada.name, PASSWORD, address="10.0.0.1")
    await engine.sessions.login(ada.name, PASSWORD, address="10.0.0.2")
    # It is remembered for the account that signed in, and for no other.
    await _fail_logins(engine, "bob", PER_ACCOUNT, "10.9.9.9")
    with pytest.raises(LoginThrottled):
        await engine.sessions.login("bob", PASSWORD, address="10.0.0.1")


async def test_an_address_is_forgotten_after_long_disuse(engine, ada, clock):
    link = await engine.users.link(ROOT, ada.id, "login")
    await engine.sessions.login_with_link(link.secret, address="10.0.0.1")
    await clock.advance(REMEMBERED - MINUTE)
    await engine.sessions.login(ada.name, PASSWORD, address="10.0.0.1")
    await clock.advance(REMEMBERED - MINUTE)
    await _fail_logins(engine, ada.name, PER_ACCOUNT, "10.9.9.9")

    await engine.sessions.login(ada.name, PASSWORD, address="10.0.0.1")
    await clock.advance(REMEMBERED)
    await _fail_logins(engine, ada.name, PER_ACCOUNT, "10.9.9.9")

    with pytest.raises(LoginThrottled):
        await engine.sessions.login(ada.name, PASSWORD, address="10.0.0.1")


async def test_wrong_logins_do_not_stop_a_signed_in_owner_from_changing_the_password(engine, ada):
    signed = await engine.sessions.login(ada.name, PASSWORD)
    await _fail_logins(engine, ada.name, PER_ACCOUNT, "10.9.9.9")

    await engine.sessions.change_password(signed.principal, PASSWORD, "another horse battery")

    for _ in range(PER_ACCOUNT):
        with pytest.raises(LoginFailed):
            await engine.sessions.change_password(signed.principal, "wrong password", PASSWORD)
    with pytest.raises(LoginThrottled):
        await engine.sessions.change_password(signed.principal, "wrong password", PASSWORD)


def test_an_ipv6_prefix_of_one_subscriber_counts_as_one_address():
    assert network("10.0.0.1") == network("::ffff:10.0.0.1") == "10.0.0.1"
    assert network("2001:db8::1") == network("2001:db8::ffff:1") != network("2001:db8:0:1::1")
    assert network("nonsense") == network("") == "unknown"


async def test_a_session_is_extended_up_to_its_maximum(engine, ada, clock):
    signed = await engine.sessions.login("ada@example.com", PASSWORD)
    began = clock.now

    while clock.now + IDLE - MINUTE < began + LONGEST:
        await clock.advance(IDLE - MINUTE)
        await engine.access.authenticate_session(signed.secret)
    await clock.set(began + LONGEST)

    with pytest.raises(NotAuthenticated):
        await engine.access.authenticate_session(signed.secret)


async def test_an_idle_session_ends(engine, ada, clock):
    signed = await engine.sessions.login("ada@example.com", PASSWORD)

    await clock.advance(IDLE)

    with pytest.raises(NotAuthenticated):
        await engine.access.authenticate_session(signed.secret)


async def test_sessions_are_ended_one_by_one_by_their_owner_or_an_admin(engine, ada):
    one, two, three = [await engine.sessions.login(ada.name, PASSWORD) for _ in range(3)]
    await engine.users.create(ROOT, "eve", password=PASSWORD)
    await join(engine, ACME, "eve", Role.TENANT_ADMIN)
    eve = (await engine.sessions.login("eve", PASSWORD)).principal

    with pytest.raises(SessionNotFound):
        await engine.sessions.revoke(eve, one.id)
    with pytest.raises(Forbidden):
        await engine.sessions.revoke(eve, one.id, user=ada.id)
    with pytest.raises(Forbidden):
        await engine.sessions.list(eve, user=ada.id)
    with pytest.raises(Forbidden):
        await engine.sessions.list(person(Role.SUPERADMIN, None))
    await engine.sessions.revoke(one.principal, one.id)
    await engine.sessions.revoke(ROOT, two.id, user=ada.id)
    await engine.sessions.logout(three.secret)
    await engine.sessions.logout(three.secret)

    assert await engine.sessions.list(ROOT, user=ada.id) == []
    for signed in (one, two, three):
        with pytest.raises(NotAuthenticated):
            await engine.access.authenticate_session(signed.secret)


async def test_all_sessions_are_ended_at_once(engine, ada):
    signed = [await engine.sessions.login(ada.name, PASSWORD) for _ in range(2)]

    await engine.sessions.revoke_all(signed[0].principal)

    assert await engine.sessions.list(ROOT, user=ada.id) == []


async def test_a_changed_password_ends_other_sessions_and_needs_the_old_one(engine, ada):
    here, there = [await engine.sessions.login(ada.name, PASSWORD) for _ in range(2)]

    with pytest.raises(LoginFailed):
        await engine.sessions.change_password(here.principal, "wrong password", "another one!")
    await engine.sessions.change_password(
        here.principal, PASSWORD, "another password", keep=here.secret
    )

    assert (await engine.access.authenticate_session(here.secret)).id == ada.id
    with pytest.raises(NotAuthenticated):
        await engine.access.authenticate_session(there.secret)
    with pytest.raises(LoginFailed):
        await engine.sessions.login(ada.name, PASSWORD)
    await engine.sessions.login(ada.name, "another password")


async def test_a_password_is_set_by_a_link_once(engine):
    bob = await engine.users.create(ROOT, "bob")
    link = await engine.users.link(ROOT, bob.id)

    with pytest.raises(OptionInvalid) as told:
        await engine.sessions.set_password(link.secret, "short")
    signed = await engine.sessions.set_password(link.secret, PASSWORD)

    assert "short" not in str(told.value)
    assert signed.principal.id == bob.id
    for again in (link.secret, "", "wlk_nonsense"):
        with pytest.raises(LinkInvalid):
            await engine.sessions.set_password(again, PASSWORD)
    with pytest.raises(LinkInvalid):
        await engine.sessions.login_with_link(link.secret)


async def test_a_link_of_a_disabled_user_or_an_old_one_does_not_work(engine, ada, clock):
    old = await engine.users.link(ROOT, ada.id, "login", expires="5m")
    await clock.advance(5 * MINUTE)
    with pytest.raises(LinkInvalid):
        await engine.sessions.login_with_link(old.secret)
    link = await engine.users.link(ROOT, ada.id, "login")

    await engine.users.change(ROOT, ada.id, disabled=True)

    with pytest.raises(LinkInvalid):
        await engine.sessions.login_with_link(link.secret)


async def test_the_first_admin_signs_in_by_a_link(engine):
    link = await engine.users.first_admin()
    again = await engine.users.first_admin()

    signed = await engine.sessions.login_with_link(link.secret)

    assert scope_of(signed.principal) == ALL_TENANTS
    assert (await engine.sessions.login_with_link(again.secret)).principal.id == signed.principal.id
    assert [user.name for user in await engine.users.list(ROOT)] == ["admin"]


async def test_no_secret_is_stored_logged_or_shown(engine, storage, ada, heard):
    link = await engine.users.link(ROOT, ada.id)
    signed = await engine.sessions.set_password(link.secret, "another password")
    told = []
    for name, password in ((ada.name, "a wrong password"), ("nobody", PASSWORD)):
        with pytest.raises(LoginFailed) as error:
            await engine.sessions.login(name, password)
        told.append(str(error.value))

    everywhere = (
        f"{await everything_stored(storage)} {link!r} {signed!r} {heard.said} {told} "
        f"{await engine.users.list(ROOT)} {await engine.sessions.list(signed.principal)}"
    )

    for secret in (PASSWORD, "another password", "a wrong password", link.secret, signed.secret):
        assert secret not in everywhere


async def test_a_weaker_hash_is_replaced_at_the_next_login(engine, storage, ada):
    weaker = (await storage.access.user_by_name(ada.name)).password_hash
    from argon2 import PasswordHasher

    engine.sessions._passwords = Passwords(
        PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    )

    signed = await engine.sessions.login(ada.name, PASSWORD)

    assert (await storage.access.user_by_name(ada.name)).password_hash != weaker
    assert (await engine.access.authenticate_session(signed.secret)).id == ada.id


@pytest.mark.parametrize("password", ["", "short", "x" * 11, "x" * 1001, "\ud800" * 20])
async def test_a_password_that_cannot_be_used_is_refused(password):
    with pytest.raises(OptionInvalid):
        await cheap().hash(password)


async def test_a_text_longer_than_any_password_never_matches(engine):
    passwords = cheap()
    stored = await passwords.hash("x" * 1000)

    assert await passwords.verify(stored, "x" * 1000)
    assert not await passwords.verify(stored, "x" * 1001)
    assert not await passwords.verify(stored, "x" * 100_000)
    assert not await passwords.verify(stored, "\ud800")
    assert not await passwords.verify("nonsense", "x" * 20)
    assert not await passwords.verify(None, "x" * 20)
