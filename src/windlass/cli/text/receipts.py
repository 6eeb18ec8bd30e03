"""Prints the receipt of an enqueue and chooses the exit code."""

from typing import Any

from windlass.cli.framework.invocation import Invocation


def print_receipt(call: Invocation, response: dict[str, Any], *, wait: bool, follow: bool) -> None:
    """Print the id of an enqueued job, or wait for its end, with or without its log."""
    receipt = response["receipt"]
    if (wait or follow) and receipt["job_id"] is not None:
        from windlass.cli.jobs.wait_for_job import wait_for

        id = receipt["job_id"]
        message = f"Job {id[-8:]} {receipt['status']}; waiting for its end."
        wait_for(call, id, message=message, follow=follow)
    elif call.out.format in ("json", "jsonl"):
        call.out.json(response)
    elif receipt["status"] == "valid":
        call.out.say("The job is valid; nothing was stored.")
    else:
        if receipt["status"] == "existing":
            call.out.say(f"An equal job exists: same {receipt['because']}.")
        call.out.data(receipt["job_id"])
        call.out.hint(f"windlass jobs show {receipt['job_id'][-8:]}")
