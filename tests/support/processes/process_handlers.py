"""Handlers that run in processes of their own: a child imports this module, and little else."""

import os

from windlass import Backoff, JobContext, Retry, Settings, Snooze, Windlass, sync
from windlass.app.declare import JobOptions
from windlass.core.definitions.definition import Isolation

elsewhere = Windlass("sqlite:///never-opened.db", settings=Settings())


@elsewhere.job("process.pid", isolation="process")
def pid(ctx: JobContext, say: str) -> int:
    ctx.log.info(say)
    ctx.progress(0.5, "halfway")
    ctx.warn("left something out")
    return os.getpid()


@elsewhere.job("process.fail", isolation="process", max_attempts=1)
def fail_far_away() -> None:
    raise LookupError("not here")


@elsewhere.job("process.enqueue", isolation="process", max_attempts=1)
def enqueue_far_away(url: str) -> None:
    with sync.Windlass(url, settings=Settings()) as wl:
        wl.enqueue("child")
        wl.emit("happened")


def rules(isolation: Isolation = "thread") -> JobOptions:
    """The rules by which `fail_as` is tried again."""
    return {
        "isolation": isolation,
        "max_attempts": 3,
        "backoff": Backoff.fixed("1h"),
        "retry_on": [ConnectionError],
        "permanent": [ConnectionResetError],
    }


def fail_as(how: str) -> None:
    match how:
        case "listed":
            raise ConnectionRefusedError("no answer")
        case "other":
            raise ValueError("no such order")
        case "both":
            raise ConnectionResetError("gone for good")
        case "retry":
            raise Retry("busy", after="5m")
        case "plain retry":
            raise Retry
        case _:
            raise Snooze("5m")


@elsewhere.job("process.retry", **rules("process"))
def retry_far_away(how: str) -> None:
    fail_as(how)
