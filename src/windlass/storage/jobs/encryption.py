"""Verbs that find encrypted payloads and replace their ciphertext."""

from collections.abc import Sequence
from typing import NamedTuple

from windlass.ids import JobId
from windlass.storage.connection.deadlock_retry import retry_deadlocks
from windlass.storage.database import Database
from windlass.storage.sql import rows


class EncryptedPayload(NamedTuple):
    """The stored text of a payload that has a ciphertext, and whose it is."""

    id: JobId
    tenant: str
    definition: str
    text: str


class EncryptionVerbs:
    _db: Database

    async def encrypted_payloads(
        self, cursor: JobId, *, most: int = 1000
    ) -> tuple[list[EncryptedPayload], JobId | None]:
        """The payloads with a ciphertext among some jobs after `cursor`, in all states. And where to
        go on, None at the end."""
        found = await self._db.run("encrypted_payloads", cursor=cursor, most=most)
        payloads = [
            EncryptedPayload(
                JobId(rows.uuid(row["id"])), row["tenant_id"], row["definition"], row["payload"]
            )
            for row in found
            if row["payload"] is not None
        ]
        return payloads, JobId(rows.uuid(found[-1]["id"])) if found else None

    @retry_deadlocks
    async def replace_ciphertext(self, changes: Sequence[tuple[EncryptedPayload, str]]) -> None:
        """Store another ciphertext for each of these payloads, unless it was changed meanwhile."""
        async with self._db.transaction() as session:
            for before, payload in changes:
                await session.run(
                    "replace_ciphertext", id=before.id, before=before.text, payload=payload
                )
