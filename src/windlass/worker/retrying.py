"""Exceptions with which a handler says when its job runs again."""

from datetime import timedelta

from windlass.core.durations import duration


class Retry(Exception):
    """Raise it in a handler to fail this attempt and run the job again after `after`, or after its
    backoff without one. The attempt counts: after the last one the job goes to the dead letter."""

    def __init__(
        self, message: str = "", /, *, after: str | timedelta | float | None = None
    ) -> None:
        self.after = None if after is None else duration(after, option="after")
        super().__init__(message or "the handler asked for a retry")


class Snooze(BaseException):
    """Raise it in a handler to leave now and run the job again after a delay; the attempt does not
    count. Not an Exception, so that a handler's own `except Exception` does not swallow it."""

    def __init__(self, delay: str | timedelta | float) -> None:
        self.delay = duration(delay, option="snooze")
        super().__init__(f"snoozed for {self.delay}")
