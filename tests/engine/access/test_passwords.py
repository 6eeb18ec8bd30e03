"""The cost of a password in the product; other tests compute hashes at the least cost there is."""

from argon2.profiles import RFC_9106_LOW_MEMORY

from tests.conftest import PRODUCT_HASHER
from windlass.engine.access.passwords import Passwords


async def test_a_hash_has_the_recommended_cost(monkeypatch):
    monkeypatch.setattr(Passwords, "default_hasher", staticmethod(PRODUCT_HASHER))
    passwords = Passwords()

    stored = await passwords.hash("correct horse battery")

    recommended = RFC_9106_LOW_MEMORY
    cost = f"m={recommended.memory_cost},t={recommended.time_cost},p={recommended.parallelism}"
    assert stored.startswith(f"$argon2id$v=19${cost}$")
    assert await passwords.verify(stored, "correct horse battery")
    assert not await passwords.verify(stored, "another horse battery")
    assert not passwords.outdated(stored)
