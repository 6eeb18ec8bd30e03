"""Queues: pause and resume them, limit what runs in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from windlass.core.access.principal import token_of
from windlass.core.definitions.options import whole_number_rule
from windlass.core.jobs.dedupe import check_name, check_stored, is_name
from windlass.core.jobs.models import ALL_TENANTS, Scope
from windlass.core.leases.limits import Queue
from windlass.core.text import storable
from windlass.engine.nudges import Nudges
from windlass.errors import OptionInvalid
from windlass.ids import QueueName, TokenId
from windlass.storage.storage import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts(Queue):
    """A queue, with how many of its jobs wait and run."""

    pending: int = 0
    queued: int = 0
    running: int = 0


class Queues:
    def __init__(self, storage: Storage, nudges: Nudges) -> None:
        self._storage = storage
        self._nudges = nudges

    async def pause(
        self, name: str, *, reason: str | None = None, actor: str | None = None
    ) -> Queue:
        """Stop claims from a queue; what runs goes on, what is enqueued waits."""
        asked = await self._check_name(name)
        kept = reason and storable(reason)
        return await self._storage.leases.upsert_queue(asked, paused=True, by=actor, reason=kept)

    async def resume(self, name: str) -> Queue:
        """Let workers claim from a queue again."""
        queue = await self._storage.leases.upsert_queue(await self._check_name(name), paused=False)
        self._nudges.nudge_all()
        return queue

    async def limit(self, name: str, max_concurrency: int | None) -> Queue:
        """Let no more than so many of a queue's jobs run at once, on all workers together."""
        if max_concurrency is not None and not whole_number_rule(1)(max_concurrency):
            raise OptionInvalid(
                "max_concurrency", max_concurrency, allowed="1 or more, or null for no limit"
            )
        asked = await self._check_name(name)
        queue = await self._storage.leases.upsert_queue(asked, limit=max_concurrency)
        self._nudges.nudge_all()
        return queue

    async def get(self, name: str, scope: Scope = ALL_TENANTS) -> QueueCounts:
        """One queue, with the jobs of a scope; one that nobody has used yet is empty."""
        asked = QueueName(check_stored("queue", name))
        found = {queue.name: queue for queue in await self.list(scope)}
        return found.get(asked) or QueueCounts(name=asked)

    async def list(self, scope: Scope = ALL_TENANTS) -> Sequence[QueueCounts]:
        """Queues that have or had jobs, or of which something was said, by name."""
        said = await with_names(self._storage, await self._storage.leases.queues())
        found = {queue.name: _queue_counts(queue) for queue in said}
        for row in await self._storage.jobs.state_counts(scope):
            queue = found.get(row["queue"]) or QueueCounts(name=row["queue"])
            found[row["queue"]] = replace(
                queue,
                pending=queue.pending + int(row["pending"]),
                queued=queue.queued + int(row["queued"]),
                running=queue.running + int(row["running"]),
            )
        return [found[name] for name in sorted(found)]

    async def _check_name(self, name: str) -> str:
        """The name of a queue that may be stored: a new one is checked, one in use is kept."""
        if is_name(name) or name not in {queue.name for queue in await self.list()}:
            return check_name("queue", name)
        return name


async def with_names(storage: Storage, queues: Sequence[Queue]) -> list[Queue]:
    """Queues with the names of the tokens that paused them, read at once for all."""
    tokens = {id for queue in queues if (id := token_of(queue.paused_by))}
    if not tokens:
        return list(queues)
    names = await storage.access.token_names([TokenId(id) for id in tokens])
    return [
        replace(queue, paused_by_name=names.get(TokenId(id)))
        if (id := token_of(queue.paused_by))
        else queue
        for queue in queues
    ]


def _queue_counts(queue: Queue) -> QueueCounts:
    return QueueCounts(
        name=queue.name,
        paused_at=queue.paused_at,
        paused_by=queue.paused_by,
        paused_by_name=queue.paused_by_name,
        pause_reason=queue.pause_reason,
        max_concurrency=queue.max_concurrency,
    )
