"""Verbs on what was answered to requests that came with a key."""

from datetime import timedelta
from typing import NamedTuple

from windlass.storage.connection.deadlock_retry import again
from windlass.storage.database import Database


class Kept(NamedTuple):
    """Who holds a key for which request; with a status, what was answered."""

    holder: str
    request_hash: str
    status: int | None
    body: str | None


class AnswerVerbs:
    _db: Database

    @again
    async def hold_answer(
        self, key_hash: str, request_hash: str, *, tenant: str, holder: str, hold: timedelta
    ) -> Kept:
        """Take a key for a request. Of any number at once one has it: whose `holder` is told."""
        async with self._db.transaction() as session:
            [row] = await session.run(
                "hold_answer",
                key_hash=key_hash,
                request_hash=request_hash,
                tenant_id=tenant,
                holder=holder,
                hold=hold,
            )
        return Kept(row["holder"], row["request_hash"], row["status"], row["body"])

    async def keep_answer(
        self, key_hash: str, *, holder: str, status: int, body: str | None, keep: timedelta
    ) -> None:
        """Keep what was answered; nothing happens if another holds the key by now."""
        await self._db.run(
            "keep_answer", key_hash=key_hash, holder=holder, status=status, body=body, keep=keep
        )

    async def let_answer_go(self, key_hash: str, *, holder: str) -> None:
        """Give a key back under which nothing was done."""
        await self._db.run("let_answer_go", key_hash=key_hash, holder=holder)

    async def prune_answers(self, *, most: int = 1000) -> int:
        """Forget some answers that were kept long enough. Answers how many."""
        return int((await self._db.run("prune_answers", most=most))[0]["pruned"])
