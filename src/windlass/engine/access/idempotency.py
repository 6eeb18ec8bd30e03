"""Requests with a key are done once: who repeats one gets the answer there was."""

import hashlib
import json
import secrets
from dataclasses import dataclass
from datetime import timedelta

from windlass.errors import KeyInUse, KeyReused
from windlass.storage.storage import Storage

#: How long an answer is kept.
RESPONSE_RETENTION = timedelta(hours=24)
#: How long a request may take until its key is another's to take: its server may have died.
_HELD = timedelta(minutes=2)
#: Of an answer; of one that is larger only the status is kept.
_MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RequestClaim:
    """The right to do what a request asks."""

    key_hash: str
    holder: str


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """What was answered before."""

    status: int
    body: str | None


class IdempotencyStore:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def begin(
        self, key: str, *, tenant: str | None, caller: str | None, route: str, request: bytes
    ) -> RequestClaim | StoredResponse:
        """Take a key. `route` is what it is good for, `request` all that was said.

        KeyReused if something else was said under it before, KeyInUse if that is not answered yet.
        """
        whose = json.dumps([tenant, caller, route, key])
        turn = RequestClaim(_hash(whose.encode()), secrets.token_hex(16))
        found = await self._storage.access.begin_idempotent_request(
            turn.key_hash, _hash(request), tenant=tenant or "", holder=turn.holder, hold=_HELD
        )
        if found.holder == turn.holder:
            return turn
        if found.request_hash != _hash(request):
            raise KeyReused(key)
        if found.status is None:
            raise KeyInUse(key)
        return StoredResponse(found.status, found.body)

    async def keep(self, turn: RequestClaim, status: int, body: str | None) -> None:
        """Keep what was answered."""
        fits = body is not None and len(body.encode()) <= _MOST_BYTES
        await self._storage.access.store_idempotent_response(
            turn.key_hash,
            holder=turn.holder,
            status=status,
            body=body if fits else None,
            keep=RESPONSE_RETENTION,
        )

    async def release(self, turn: RequestClaim) -> None:
        """Nothing was done: the same key may be used again."""
        await self._storage.access.release_idempotency_key(turn.key_hash, holder=turn.holder)


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
