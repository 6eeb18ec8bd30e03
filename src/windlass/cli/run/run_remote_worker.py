"""Runs a worker that reaches a server, and no database."""

from collections.abc import Callable

from windlass.app.windlass import Windlass
from windlass.cli.connect.server_address import At
from windlass.worker.options import WorkerOptions
from windlass.worker.remote.remote_backend import Remote
from windlass.worker.remote.server_client import Server
from windlass.worker.worker import Worker


async def work_for(
    at: At, app: Windlass, options: WorkerOptions, started: Callable[[Worker], object]
) -> int:
    """Run an app's worker until it has ended, as `Windlass.work` does on a database."""
    server = Server(at.url, at.token)
    async with Remote(server, app.settings, app.telemetry) as remote:
        await remote.ready()
        # Only the app's own handlers: Windlass's own jobs would work on a database of this process.
        async with app.worker(remote, options, handlers=app.handlers) as worker:
            started(worker)
            return await worker.run()
