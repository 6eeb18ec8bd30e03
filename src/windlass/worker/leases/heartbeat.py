"""Heartbeat: updates the worker's row and returns the operator's order."""

import os
import socket
from collections.abc import Mapping
from importlib.metadata import version

from windlass.core.jobs.models import WorkerRow
from windlass.core.leases.worker_orders import WorkerOrder
from windlass.ids import WorkerId
from windlass.worker.backend import WorkerBackend
from windlass.worker.code_version import code_version
from windlass.worker.handlers import RunnableDefinitions
from windlass.worker.isolation.memory import resident_mb
from windlass.worker.options import WorkerOptions

_VERSION = version("windlass")


class Heartbeat:
    """Updates the row of one worker."""

    def __init__(
        self, worker: WorkerId, runnable: RunnableDefinitions, options: WorkerOptions
    ) -> None:
        self._worker = worker
        self._runnable = runnable
        self._options = options
        self._code = options.code_version or code_version(runnable.handler_files)

    async def send(
        self,
        workers: WorkerBackend,
        *,
        used: int,
        doing: WorkerOrder,
        blocked: Mapping[str, object] | None = None,
    ) -> WorkerOrder:
        """Report the slots in use, the order that the worker follows, and the run that blocks its
        event loop, if one does. Returns the operator's order."""
        return await workers.beat(
            WorkerRow(
                id=self._worker,
                hostname=socket.gethostname(),
                pid=os.getpid(),
                version=_VERSION,
                queues=tuple(self._options.queues or ()),
                definitions=tuple(self._runnable.keys),
                slots=self._options.concurrency,
                slots_used=used,
                lease_seconds=self._options.lease_time.total_seconds(),
                metadata=self._metadata(blocked),
                memory_mb=resident_mb(),
                code=self._code,
                doing=doing,
            )
        )

    def _metadata(self, blocked: Mapping[str, object] | None) -> dict[str, object]:
        metadata = {
            "import_errors": dict(self._runnable.import_errors),
            "payload_versions": {key: n for key, n in self._runnable.versions.items() if n > 1},
            "blocked": dict(blocked or {}),
        }
        return {name: value for name, value in metadata.items() if value}
