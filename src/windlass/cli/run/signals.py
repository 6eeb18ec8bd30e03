"""The signals that end a process which goes on: it finishes in good order."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from windlass.cli.framework.exit_codes import Exit


def stopping() -> tuple[signal.Signals, ...]:
    """SIGHUP says that the terminal is gone; whoever used `nohup` wants it unheard."""
    gone = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGTERM, signal.SIGINT, *gone)


def end_at_once() -> None:
    """Until a loop minds the signals, each of them ends the process at once and in clear words,
    also amid the import of a module: an exception might be caught there, or hang."""
    for number in stopping():
        signal.signal(number, _end)


def is_interrupt(error: BaseException) -> bool:
    """True if an exception may come from Ctrl-C. Where a handler of our own minds that, it is the
    doing of the code that raised it."""
    own = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and not own


def _end(number: int, frame: FrameType | None) -> None:
    with suppress(OSError):  # the terminal may be gone
        # Not by `print`: this may stand in the midst of one.
        os.write(2, b"Stopped at once: no job was running.\n")
    os._exit(Exit.INTERRUPTED if number == signal.SIGINT else Exit.OK)


@contextmanager
def heard(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` at each of them, in the loop that runs, while the block lasts."""
    loop, numbers = asyncio.get_running_loop(), stopping()
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, tell)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
            # What is closed after this may hang, and has to be stopped as before.
            signal.signal(number, before[number])
