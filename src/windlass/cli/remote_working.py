"""Runs a worker that reaches a server, and no database."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from windlass.app import Windlass
from windlass.errors import OptionInvalid
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker

_TOKEN = "WINDLASS_TOKEN"


@dataclass(frozen=True, slots=True)
class At:
    """Where the server is, and the token that it knows the worker by."""

    url: str
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: str, token_file: str | None) -> "At":
        """With the token in a file, or else in the environment: a command line can be seen by
        everybody on a machine."""
        if token_file is None:
            return cls(url, os.environ.get(_TOKEN) or None)
        try:
            token = Path(token_file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise OptionInvalid(
                "token-file", token_file, allowed=f"a file that can be read: {why}"
            ) from None
        if not token or not token.isascii() or not token.isprintable():
            raise OptionInvalid("token-file", token_file, allowed="a file with one token in it")
        return cls(url, token)

    async def work(
        self, app: Windlass, options: WorkerOptions, started: Callable[[Worker], object]
    ) -> int:
        """Run an app's worker until it has ended, as `Windlass.work` does on a database."""
        # Loads an HTTP client, which other workers have no use for.
        from windlass.worker.remote import Remote
        from windlass.worker.server import Server

        server = Server(self.url, self.token)
        async with Remote(server, app.settings, app.telemetry) as remote:
            await remote.ready()
            async with app.worker(remote, options) as worker:
                started(worker)
                return await worker.run()
