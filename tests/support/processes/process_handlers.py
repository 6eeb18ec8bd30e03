"""Handlers that run in processes of their own: a child imports this module, and little else."""

import os

from windlass import JobContext, Settings, Windlass, sync

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
