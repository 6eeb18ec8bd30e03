"""A program that enqueues until it is stopped: its arguments are the number of its first job, the
pause between two, and how long each takes.

What was acknowledged is in the ledger; what was not may have been stored or not.
"""

import asyncio
import itertools
import signal
import sys

from tests.journeys.programs.handlers import quick, wl
from tests.support.processes.ledger import note
from windlass import WindlassError


async def main(first: int, pause: float, seconds: float) -> None:
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    async with wl:
        note("ready")
        for number in itertools.count(first):
            if told.is_set():
                break
            try:
                receipt = await quick.enqueue(number=number, seconds=seconds)
            except WindlassError as error:
                note("refused", number=number, code=error.code)
            else:
                note("acknowledged", job=receipt.job_id, number=number)
            await asyncio.sleep(pause)
    note("left")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])))
