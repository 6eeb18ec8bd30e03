"""Orders that operators give a worker: run, drain or stop."""

from enum import StrEnum

from windlass.ids import WorkerId


class WorkerOrder(StrEnum):
    """What a worker is to do, and what it does: claim and run jobs; claim no more, and stay; claim no
    more, and end."""

    RUN = "run"
    DRAIN = "drain"
    STOP = "stop"


def call(worker: WorkerId) -> str:
    """What a nudge says to tell a worker of an order, where others name a queue."""
    return f"worker:{worker}"
