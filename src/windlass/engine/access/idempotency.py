"""Idempotency keys: a request with a key runs once; a repeat gets the stored response."""

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import timedelta

from windlass.errors import KeyInUse, KeyReused
from windlass.storage.storage import Storage

#: Time a response is kept.
RESPONSE_RETENTION = timedelta(hours=24)
#: Time until another request may take the key: the server of the first may have died.
_HELD = timedelta(minutes=2)
#: Largest stored body; of a larger response only the status is kept.
_MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RequestClaim:
    """The exclusive right to execute a request."""

    key_hash: str
    holder: str


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The response to the first request."""

    status: int
    body: str | None


class IdempotencyStore:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def begin(
        self, key: str, *, tenant: str | None, caller: str | None, route: str, request: bytes
    ) -> RequestClaim | StoredResponse:
        """Claim a key for a `route`; `request` is the whole content of the request.

        KeyReused if the key was used for another request, KeyInUse while the first still runs.
        """
        identity = json.dumps([tenant, caller, route, key])
        claim = RequestClaim(_hash(identity.encode()), secrets.token_hex(16))
        found = await self._storage.access.begin_idempotent_request(
            claim.key_hash, _hash(request), tenant=tenant or "", holder=claim.holder, hold=_HELD
        )
        if found.holder == claim.holder:
            return claim
        if found.request_hash != _hash(request):
            raise KeyReused(key)
        if found.status is None:
            raise KeyInUse(key)
        return StoredResponse(found.status, found.body)

    async def keep(self, claim: RequestClaim, status: int, body: str | None) -> None:
        """Store the response."""
        fits = body is not None and len(body.encode()) <= _MOST_BYTES
        await self._storage.access.store_idempotent_response(
            claim.key_hash,
            holder=claim.holder,
            status=status,
            body=body if fits else None,
            keep=RESPONSE_RETENTION,
        )

    async def release(self, claim: RequestClaim) -> None:
        """Free a key whose request had no effect; it may be used again."""
        await self._storage.access.release_idempotency_key(claim.key_hash, holder=claim.holder)


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
