"""Exceptions of handlers, in words. Nothing an exception's own methods do rises from here.

They may raise SystemExit or KeyboardInterrupt too, which would end the worker, so each is caught
with all the others.
"""

import traceback
from typing import Protocol

from windlass.core.jobs.outcome import Failure
from windlass.core.text import text_of, type_name
from windlass.errors import MainGuardMissing, Permanent, ResultInvalid, ResultTooLarge
from windlass.errors.wording import with_type
from windlass.worker.retrying import Retry

#: Besides what a definition lists: to try again would do the work again, and end the same way.
PERMANENT = (Permanent, MainGuardMissing, ResultInvalid, ResultTooLarge)


class RetryRules(Protocol):
    """The exceptions after which a handler's job is not tried again, and the only ones after which
    it is, if there are such."""

    @property
    def permanent(self) -> tuple[type[BaseException], ...]: ...
    @property
    def retry_on(self) -> tuple[type[BaseException], ...]: ...


def failure_from_error(error: BaseException, rules: RetryRules | None) -> Failure:
    """A failure in words: message, class and traceback; permanent as the handler's rules say."""
    kind = _class_of(error)
    return Failure(
        error=with_type(kind, _message_of(error)),
        error_type=kind,
        trace=format_error_traceback(error),
        permanent=_is_permanent(error, rules),
        retry_seconds=_retry_seconds(error),
    )


def _is_permanent(error: BaseException, rules: RetryRules | None) -> bool:
    if safe_isinstance(error, *PERMANENT, *(rules.permanent if rules else ())):
        return True
    if rules is None or not rules.retry_on:
        return False
    return not safe_isinstance(error, Retry, *rules.retry_on)


def _retry_seconds(error: BaseException) -> float | None:
    """The delay that a `Retry` asks for."""
    try:
        after = error.after if isinstance(error, Retry) else None
        return None if after is None else after.total_seconds()
    except BaseException:  # noqa: BLE001  see above
        return None


def format_error_traceback(error: BaseException) -> str:
    """The traceback from the handler on; the worker's own frames say nothing to its author."""
    frames = None
    try:
        frames = error.__traceback__
        while frames is not None and _is_ours(frames.tb_frame.f_globals.get("__name__")):
            frames = frames.tb_next
        return "".join(traceback.format_exception(type(error), error, frames))
    except BaseException:  # noqa: BLE001  see above
        return "".join(traceback.format_tb(frames))


def safe_isinstance(error: BaseException, *kinds: type[BaseException]) -> bool:
    """`isinstance`, by the exception's type alone: it may raise when asked for its `__class__`."""
    try:
        return issubclass(type(error), kinds)
    except BaseException:  # noqa: BLE001  see above
        return False


def _message_of(error: BaseException) -> str:
    try:
        return "".join(str(error)) or type_name(error)
    except BaseException:  # noqa: BLE001  see above
        return f"{type_name(error)}, whose text cannot be had"


def _class_of(error: BaseException) -> str:
    kind = type(error)
    try:
        own = kind.__module__ == "builtins"
        return str(kind.__qualname__ if own else f"{kind.__module__}.{kind.__qualname__}")
    except BaseException:  # noqa: BLE001  see above
        return type_name(error)


def _is_ours(module: object) -> bool:
    return text_of(module).partition(".")[0] == "windlass"
