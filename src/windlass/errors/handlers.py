"""Exceptions that handlers raise, and one raised into them. Neither is an error of Windlass."""

from typing import Literal


class Permanent(Exception):
    """Raise it in a handler when trying again cannot help: the job goes to the dead letter."""


class Stopped(Exception):
    """Raised into a handler that has to stop, for thread handlers at `ctx.checkpoint()`.

    Let it pass; what the handler does or raises afterwards no longer counts. `because` tells
    whether someone canceled the job, its time is over, its lease is lost, or the worker stops.
    """

    def __init__(self, because: Literal["canceled", "timed_out", "lost", "shutdown"]) -> None:
        super().__init__(because)
        self.because = because
