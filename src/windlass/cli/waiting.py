"""Waiting for a job's end, and what the shell is told of it."""

from windlass.cli.call import Call
from windlass.cli.client import Client, Shown, path
from windlass.cli.output import cell
from windlass.core.durations import duration
from windlass.errors import JobFailed


def wait_for(call: Call, id: str, *, said: str = "") -> None:
    """Wait until a job has ended and print its result; errors say how it ended otherwise."""
    limit = call.flags.timeout
    timeout = duration(limit, option="timeout") if limit else None

    async def wait(api: Client) -> Shown:
        if said:
            call.out.say(said)
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
        call.out.data(cell(job["result"]))
    call.out.say(f"Job {job['id'][-8:]} completed.")
