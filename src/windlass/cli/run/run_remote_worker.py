"""Runs a worker against a server over HTTP, without a database."""

from collections.abc import Callable

from windlass.app.windlass import Windlass
from windlass.cli.connect.server_address import ServerAddress
from windlass.worker.options import WorkerOptions
from windlass.worker.remote.remote_backend import RemoteBackend
from windlass.worker.remote.server_client import ServerClient
from windlass.worker.worker import Worker


async def work_for(
    at: ServerAddress, app: Windlass, options: WorkerOptions, started: Callable[[Worker], object]
) -> int:
    """Run an app's worker until it has ended, like `Windlass.work` on a database."""
    server = ServerClient(at.url, at.token)
    async with RemoteBackend(server, app.settings, app.telemetry) as remote:
        await remote.ready()
        # Only the app's own handlers: Windlass's own jobs need a database in this process.
        async with app.worker(remote, options, handlers=app.handlers) as worker:
            started(worker)
            return await worker.run()
