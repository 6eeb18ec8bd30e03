"""A program that enqueues a seeded mix until it is stopped, with a pause after each batch:
`python -m tests.chaos.processes.producer SEED SECONDS`.

What was acknowledged is in the ledger before the next batch begins, and on the disk.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.chaos.processes.definitions import DEFINITIONS
from tests.chaos.processes.handlers import wl
from tests.chaos.processes.ledger_lines import digest, note
from tests.support.processes.ledger import GATES
from windlass import WindlassError

#: A file with this name beside the ledger tells producers to wait.
HOLD = "hold"
_TEXTS = ("", "plain", "Ünïcödé 🏗️ \u2028", "quotes \" \\ ' and\nlines\t", "x" * 3000)
_BATCHES = (1, 1, 5, 40)
_KEYS = [key for key, expected in DEFINITIONS.items() if expected.weight]
_WEIGHTS = [DEFINITIONS[key].weight for key in _KEYS]


async def main(seed: str, pause: float) -> None:
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    random, hold = Random(seed), Path(os.environ[GATES], HOLD)
    note("ready")
    while not told.is_set():
        if hold.exists():  # noqa: ASYNC240  as fast as an await
            await asyncio.sleep(0.05)
            continue
        try:
            await _enqueue(random)
            await asyncio.sleep(pause)
        except WindlassError as error:
            note("refused", code=error.code)
            await asyncio.sleep(0.1)
    await wl.close()
    note("left")


async def _enqueue(random: Random) -> None:
    jobs, about = [], []
    for key in random.choices(_KEYS, _WEIGHTS, k=random.choice(_BATCHES)):
        number, text = random.getrandbits(40), random.choice(_TEXTS)
        options = _options(key, random)
        jobs.append(await wl.make(key, {"number": number, "text": text}, **options))
        about.append({"definition": key, "digest": digest(number, text), **options})
    receipts = await wl.enqueue_many(jobs)
    note("acknowledged", synced=True, jobs=_told(receipts, about))


def _options(key: str, random: Random) -> dict[str, Any]:
    if key == "deduped":
        return {"dedupe_key": f"key {random.randrange(4)}"}
    if random.randrange(20) == 0:
        return {"idempotency_key": f"{os.getpid()} {random.getrandbits(64)}"}
    return {}


def _told(receipts: Sequence[Any], about: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"job": str(receipt.job_id), "status": str(receipt.status), **each}
        for receipt, each in zip(receipts, about, strict=True)
    ]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
