"""Follows the log of one job."""

import asyncio
from collections.abc import AsyncIterator

from windlass.cli.connect.api_client import Client, JsonObject, path

_FOLLOW_SECONDS = 0.5
_ENDED = ("completed", "canceled", "dead_letter")


async def follow_lines(api: Client, id: str, *, follow: bool) -> AsyncIterator[JsonObject]:
    """Yield the lines of a job's log, oldest first; with `follow` until the job has ended."""
    id = (await api.get(path("jobs", id)))["id"]
    seen = 0
    while True:
        # Read the state before the lines: if it has ended, all its lines are stored by now.
        over = not follow or (await api.get(path("jobs", id)))["state"] in _ENDED
        while lines := (await api.get(path("jobs", id, "logs"), after=seen))["items"]:
            seen = lines[-1]["sequence"]
            for line in lines:
                yield line
        if over:
            return
        await asyncio.sleep(_FOLLOW_SECONDS)
