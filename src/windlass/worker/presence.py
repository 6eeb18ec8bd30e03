"""A worker's row: it tells what the worker is and that it lives, and brings what is wanted of it."""

import os
import socket
from importlib.metadata import version

from windlass.core.models import WorkerRow
from windlass.core.orders import Order
from windlass.ids import WorkerId
from windlass.worker.knowledge import Knowledge
from windlass.worker.options import WorkerOptions
from windlass.worker.side import WorkerSide

_VERSION = version("windlass")


class Presence:
    def __init__(
        self, worker: WorkerId, workers: WorkerSide, knowledge: Knowledge, options: WorkerOptions
    ) -> None:
        self._worker = worker
        self._workers = workers
        self._knowledge = knowledge
        self._options = options

    async def beat(self, *, used: int, doing: Order) -> Order:
        """Tell how many slots are in use and what the worker does. Answers what is wanted of it."""
        return await self._workers.beat(
            WorkerRow(
                id=self._worker,
                hostname=socket.gethostname(),
                pid=os.getpid(),
                version=_VERSION,
                queues=tuple(self._options.queues or ()),
                definitions=tuple(self._knowledge.keys),
                slots=self._options.concurrency,
                slots_used=used,
                lease_seconds=self._options.lease_time.total_seconds(),
                metadata=self._said(),
                doing=doing,
            )
        )

    async def leave(self) -> None:
        """Take the row away: the worker has stopped."""
        await self._workers.leave(self._worker)

    def _said(self) -> dict[str, object]:
        errors = dict(self._knowledge.import_errors)
        versions = {key: n for key, n in self._knowledge.versions.items() if n > 1}
        said = {"import_errors": errors, "payload_versions": versions}
        return {name: value for name, value in said.items() if value}
