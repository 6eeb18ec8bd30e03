"""Nudge listener: passes the nudges of other processes on to this one."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from windlass.engine.loop import backoff_seconds
from windlass.worker.backend import Backend


async def listen(engine: Backend, names: Sequence[str] | None, *, poll: timedelta) -> None:
    """Pass on every nudge for these names (None: for any), for ever."""
    failures = 0
    while True:
        try:
            watch = await engine.watch(names)
            try:
                while True:
                    if nudged := await watch.wait(poll.total_seconds()):
                        engine.nudges.wake_local({"*", *nudged})
                    failures = 0
            finally:
                await watch.close()
        except Exception as error:  # noqa: BLE001  polling finds jobs meanwhile
            failures += 1
            engine.telemetry.trouble("listening", error)
            await asyncio.sleep(backoff_seconds(failures))
