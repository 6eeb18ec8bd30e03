"""Exceptions of handlers, in words. Nothing an exception's own methods do rises from here.

They may raise SystemExit or KeyboardInterrupt too, which would end the worker, so each is caught
with all the others.
"""

import traceback

from windlass.core.jobs.outcome import Failure
from windlass.core.text import text_of, type_name
from windlass.errors import MainGuardMissing, Permanent, ResultInvalid, ResultTooLarge
from windlass.errors.wording import with_type

#: Besides what a definition lists: to try again would do the work again, and end the same way.
PERMANENT = (Permanent, MainGuardMissing, ResultInvalid, ResultTooLarge)


def failure_from_error(error: BaseException, *, permanent: bool) -> Failure:
    """A failure in words: message, class and traceback."""
    kind = _class_of(error)
    return Failure(
        error=with_type(kind, _message_of(error)),
        error_type=kind,
        trace=format_error_traceback(error),
        permanent=permanent,
    )


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
