"""A program that embeds a worker: `python -m tests.journeys.programs.worker [concurrency]`."""

import asyncio
import logging
import signal
import sys

from tests.journeys.programs.handlers import wl
from tests.support.processes.ledger import note


async def main(concurrency: int) -> None:
    told = asyncio.Event()
    async with wl.running(concurrency=concurrency) as worker:
        assert worker is not None

        def stop() -> None:
            note("told to stop")
            told.set()
            worker.stop()

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
        note("ready", worker=worker.id)
        await told.wait()
    note("left", worker=worker.id)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4))
