"""`windlass worker` with the handlers of the journeys: `python -m tests.journeys.programs.command_worker`."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.journeys.programs.handlers import wl
from tests.support.processes.ledger import note
from windlass.cli.main import main


@asynccontextmanager
async def noting() -> AsyncIterator[None]:
    note("ready")
    yield


if __name__ == "__main__":
    sys.argv = ["windlass", "worker", __spec__.name]
    main()
else:
    wl.lifespan(noting)
