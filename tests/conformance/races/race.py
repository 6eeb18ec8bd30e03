"""Two sides at once: both started together, or one held open until the other has met it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from tests.support.job_builders import tables_of
from windlass.ids import JobId
from windlass.storage.database import Session
from windlass.storage.storage import Storage

#: How often each race is run; the sides take turns in starting first.
ROUNDS = 6

Left, Right = TypeVar("Left"), TypeVar("Right")


async def race(number: int, left: Awaitable[Left], right: Awaitable[Right]) -> tuple[Left, Right]:
    """The results of both sides when they run concurrently."""
    if number % 2:
        answer_of_right, answer_of_left = await asyncio.gather(right, left)
    else:
        answer_of_left, answer_of_right = await asyncio.gather(left, right)
    return answer_of_left, answer_of_right


async def in_one_place(storage: Storage, id: JobId) -> bool:
    return len(await tables_of(storage, id)) == 1


@asynccontextmanager
async def uncommitted(storage: Storage) -> AsyncIterator[Storage]:
    """A storage all of whose verbs run in one transaction, open until the block ends."""
    async with storage.database.transaction() as session:
        yield Storage(_Inside(session))


class _Inside:
    """A database that is one open transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def run(self, verb: str, /, *, lane: Any = None, **params: Any) -> Any:
        return await self._session.run(verb, **params)

    @asynccontextmanager
    async def transaction(self, lane: Any = None) -> AsyncIterator[Session]:
        yield self._session
