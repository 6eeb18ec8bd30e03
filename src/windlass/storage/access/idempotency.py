"""Verbs on idempotency keys of requests and their stored responses."""

from datetime import timedelta
from typing import NamedTuple

from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database


class IdempotencyRecord(NamedTuple):
    """The holder of a key and its request; if `status` is set, the response that was sent."""

    holder: str
    request_hash: str
    status: int | None
    body: str | None


class IdempotencyVerbs:
    _db: Database

    @retry_deadlocks
    async def begin_idempotent_request(
        self, key_hash: str, request_hash: str, *, tenant: str, holder: str, hold: timedelta
    ) -> IdempotencyRecord:
        """Claim a key for a request. Of concurrent claims one wins; the record names its holder."""
        async with self._db.transaction() as session:
            [row] = await session.run(
                "begin_idempotent_request",
                key_hash=key_hash,
                request_hash=request_hash,
                tenant_id=tenant,
                holder=holder,
                hold=hold,
            )
        return IdempotencyRecord(row["holder"], row["request_hash"], row["status"], row["body"])

    async def store_idempotent_response(
        self, key_hash: str, *, holder: str, status: int, body: str | None, keep: timedelta
    ) -> None:
        """Store the response; no effect if another request holds the key by now."""
        await self._db.run(
            "store_idempotent_response",
            key_hash=key_hash,
            holder=holder,
            status=status,
            body=body,
            keep=keep,
        )

    async def release_idempotency_key(self, key_hash: str, *, holder: str) -> None:
        """Free a key whose request had no effect."""
        await self._db.run("release_idempotency_key", key_hash=key_hash, holder=holder)

    async def prune_idempotency_keys(self, *, most: int = 1000) -> int:
        """Delete some expired responses. Returns how many."""
        return int((await self._db.run("prune_idempotency_keys", most=most))[0]["pruned"])
