"""The first administrator: set up by a link, once, and never again."""

import pytest

from tests.conformance.account_builders import a_session, a_user, an_entry, hash_of
from tests.conformance.races.race import ROUNDS, race
from tests.support.job_builders import MINUTE
from windlass.errors import UserExists


async def pending(storage, name="admin", **changes):
    """A superadmin who never signed in, and the hash of its link."""
    user = await a_user(storage, name, superadmin=True, **changes)
    hash = hash_of(f"setup {user}")
    assert await storage.access.create_link(hash, "password", user, expires=MINUTE)
    return user, hash


async def complete(storage, hash, name="ada", password="hashed"):
    return await storage.access.complete_setup(
        hash, name, password, entry_of=lambda user: an_entry(target_id=str(user))
    )


async def test_setup_gives_the_pending_administrator_a_name_and_a_password(storage):
    user, hash = await pending(storage)

    done = await complete(storage, hash)

    stored = await storage.access.user_by_name("ada")
    assert done == user == stored.user.id
    assert (stored.password_hash, stored.user.superadmin) == ("hashed", True)
    assert await storage.access.user_by_name("admin") is None
    assert await storage.access.has_superadmin()
    [entry] = await storage.access.entries(None, most=10)
    assert entry.target_id == str(user)


async def test_a_link_completes_setup_once(storage):
    _, hash = await pending(storage)
    await complete(storage, hash)

    assert await complete(storage, hash, "eve") is None
    assert await complete(storage, hash_of("unknown"), "eve") is None
    assert await storage.access.user_by_name("eve") is None


async def test_setup_is_closed_once_an_administrator_has_signed_in(storage):
    _, hash = await pending(storage)
    await a_session(storage, await a_user(storage, "ada", superadmin=True))

    assert await complete(storage, hash, "eve") is None
    assert await storage.access.user_by_name("eve") is None


async def test_the_link_of_another_user_does_not_complete_setup(storage):
    user = await a_user(storage, "bob")
    hash = hash_of("bob")
    await storage.access.create_link(hash, "password", user, expires=MINUTE)

    assert await complete(storage, hash) is None
    assert not await storage.access.has_superadmin()


async def test_a_taken_name_does_not_use_up_the_link(storage):
    user, hash = await pending(storage)
    await a_user(storage, "ada")

    with pytest.raises(UserExists):
        await complete(storage, hash, "ada")

    assert await complete(storage, hash, "grace") == user


async def test_of_two_setups_at_once_one_completes(storage, twin):
    for number in range(ROUNDS):
        user, one = await pending(storage, f"admin{number}")
        other = hash_of(f"another link {number}")
        await storage.access.create_link(other, "password", user, expires=MINUTE)

        done = await race(
            number,
            complete(storage, one, f"ada{number}"),
            complete(twin, one if number % 2 else other, f"eve{number}"),
        )

        assert sorted(done, key=str) == sorted([user, None], key=str)
        names = [f"ada{number}", f"eve{number}"]
        found = [await storage.access.user_by_name(name) for name in names]
        assert [each is not None for each in found] == [each is not None for each in done]
        await storage.access.delete_user(user)
