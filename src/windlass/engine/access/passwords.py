"""Passwords: memory-hard hashes, computed off the event loop and few at a time."""

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

from windlass.errors import OptionInvalid

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 12, 1000
#: Each hash takes 64 MiB while it is computed.
_AT_ONCE = 2


class Passwords:
    def __init__(self, hasher: "PasswordHasher | None" = None) -> None:
        self._given = hasher
        self._dummy_hash: str | None = None
        self._hash_slots = asyncio.Semaphore(_AT_ONCE)

    async def hash(self, password: str) -> str:
        """Return the hash to store. OptionInvalid, which does not repeat the password, if it is
        too short."""
        check(password)
        async with self._hash_slots:
            return await asyncio.to_thread(self._hasher().hash, password)

    async def verify(self, stored: str | None, password: str) -> bool:
        """Check a password against a hash. Without a hash: False, after the same time."""
        async with self._hash_slots:
            return await asyncio.to_thread(self._verify, stored, password)

    def outdated(self, stored: str) -> bool:
        """Check if a hash was computed with weaker parameters than the current ones."""
        return self._hasher().check_needs_rehash(stored)

    def _verify(self, stored: str | None, password: str) -> bool:
        from argon2.exceptions import InvalidHashError, VerificationError

        # One character more than can be stored: a cut text never matches a stored password.
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
            self._given = self.default_hasher()
        return self._given

    @staticmethod
    def default_hasher() -> "PasswordHasher":
        """The library's defaults: the low-memory profile of RFC 9106."""
        # Imported late: only logins need it.
        from argon2 import PasswordHasher

        return PasswordHasher()


def check(password: str) -> None:
    """Refuse a password that is too short, too long, or no text; the error does not repeat it."""
    try:
        fits = SHORTEST <= len(password) <= LONGEST and bool(password.encode())
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise OptionInvalid(
            "password", "•••", allowed=f"a password of {SHORTEST} to {LONGEST} characters"
        )
