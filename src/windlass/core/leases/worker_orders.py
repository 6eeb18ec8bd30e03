"""Orders that operators give a worker: run, drain or stop."""

from enum import StrEnum

from windlass.ids import WorkerId


class WorkerOrder(StrEnum):
    """An order to a worker: claim and run jobs; claim no more, and stay; claim no
    more, and end."""

    RUN = "run"
    DRAIN = "drain"
    STOP = "stop"


def order_nudge(worker: WorkerId) -> str:
    """Content of a nudge about an order to one worker; other nudges name a queue."""
    return f"worker:{worker}"
