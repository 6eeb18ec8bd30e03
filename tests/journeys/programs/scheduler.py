"""A program that fires triggers and matches events, and runs no job."""

import asyncio

from tests.support.processes.ledger import note
from windlass import Windlass


async def main() -> None:
    async with Windlass().upkeep():
        note("ready")
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
