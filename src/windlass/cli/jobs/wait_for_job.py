"""Waits for a job and prints its result."""

import asyncio
from datetime import timedelta

from windlass.cli.connect.api_client import Client, JsonObject, path
from windlass.cli.framework.invocation import Invocation
from windlass.cli.jobs.follow_log import follow_lines
from windlass.cli.text.log_lines import print_line
from windlass.cli.text.output import cell
from windlass.core.durations import duration
from windlass.errors import JobFailed, WaitTimeout


def wait_for(call: Invocation, id: str, *, message: str = "", follow: bool = False) -> None:
    """Wait until a job has ended and print its result; with `follow` its log lines first. Raises an
    error if the job does not complete."""
    limit = call.flags.timeout
    timeout = duration(limit, option="timeout") if limit else None

    async def wait(api: Client) -> JsonObject:
        if message:
            call.out.say(message)
        if follow:
            await _follow(call, api, id, timeout)
        try:
            return await api.wait(id, timeout)
        except JobFailed as error:
            if call.out.format in ("json", "jsonl"):
                call.out.json(await api.get(path("jobs", str(error.job))))
            raise

    job = call.ask(wait, limited=False)
    if call.out.format not in ("people", "tsv"):
        call.out.one(job, lambda: None)
        return
    if job["result"] is not None:
        call.out.block(cell(job["result"]))
    call.out.say(f"Job {job['id'][-8:]} completed.")


async def _follow(call: Invocation, api: Client, id: str, timeout: timedelta | None) -> None:
    seconds = None if timeout is None else timeout.total_seconds()
    try:
        async with asyncio.timeout(seconds):
            async for line in follow_lines(api, id, follow=True):
                print_line(call, line)
    except TimeoutError:
        job = await api.get(path("jobs", id))
        raise WaitTimeout(job["id"], seconds=seconds or 0.0, state=job["state"]) from None
