"""Passwords: memory-hard hashes, made off the event loop and few at a time."""

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

from windlass.errors import OptionInvalid

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 12, 1000
#: Each takes 64 MiB while it is worked on.
_AT_ONCE = 2


class Passwords:
    def __init__(self, hasher: "PasswordHasher | None" = None) -> None:
        self._given = hasher
        self._dummy_hash: str | None = None
        self._hash_slots = asyncio.Semaphore(_AT_ONCE)

    async def hash(self, password: str) -> str:
        """The hash to store; OptionInvalid, without the password in it, if it is too short."""
        check(password)
        async with self._hash_slots:
            return await asyncio.to_thread(self._hasher().hash, password)

    async def verify(self, stored: str | None, password: str) -> bool:
        """Whether a password is the one of a hash. Without a hash it is not, and that takes as
        long to find out."""
        async with self._hash_slots:
            return await asyncio.to_thread(self._verify, stored, password)

    def outdated(self, stored: str) -> bool:
        """Whether a hash was made with weaker parameters than are used now."""
        return self._hasher().check_needs_rehash(stored)

    def _verify(self, stored: str | None, password: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        # One more than can be stored: no cut of a longer text is anybody's password.
        given = password.encode(errors="replace").decode()[: LONGEST + 1]
        with contextlib.suppress(VerificationError, InvalidHashError):
            self._hasher().verify(stored or self._make_dummy_hash(), given)
            return stored is not None
        return False

    def _make_dummy_hash(self) -> str:
        if self._dummy_hash is None:
            self._dummy_hash = self._hasher().hash(secrets.token_urlsafe(32))
        return self._dummy_hash

    def _hasher(self) -> "PasswordHasher":
        if self._given is None:
            # Only who signs in needs it.
            from argon2 import PasswordHasher

            self._given = PasswordHasher()
        return self._given


def check(password: str) -> None:
    """Refuse a password that is too short, too long, or no text. It is not repeated."""
    try:
        fits = SHORTEST <= len(password) <= LONGEST and bool(password.encode())
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise OptionInvalid(
            "password", "•••", allowed=f"a password of {SHORTEST} to {LONGEST} characters"
        )
