"""Signal handling of long-running commands: they shut down in good order."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from windlass.cli.framework.exit_codes import Exit


def stop_signals() -> tuple[signal.Signals, ...]:
    """The signals that stop a command: SIGTERM, SIGINT, and SIGHUP (the terminal is gone) unless
    `nohup` ignores it."""
    hangup = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGTERM, signal.SIGINT, *hangup)


def end_at_once() -> None:
    """Let each of these signals end the process at once, with a message, until a loop handles them.
    This also works during the import of a module, which might catch an exception, or hang."""
    for number in stop_signals():
        signal.signal(number, _end)


def is_interrupt(error: BaseException) -> bool:
    """True if an exception may come from Ctrl-C. If our own handler is installed, the code that
    raised it did so itself."""
    own = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and not own


def _end(number: int, frame: FrameType | None) -> None:
    with suppress(OSError):  # the terminal may be gone
        # Not with `print`: the signal may have interrupted one.
        os.write(2, b"Stopped at once: no job was running.\n")
    os._exit(Exit.INTERRUPTED if number == signal.SIGINT else Exit.OK)


@contextmanager
def on_stop_signals(callback: Callable[[], object]) -> Iterator[None]:
    """Call `callback` on each of these signals, in the running loop, while the block lasts."""
    loop, numbers = asyncio.get_running_loop(), stop_signals()
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        loop.add_signal_handler(number, callback)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
            # Closing resources after this may hang, and must be stoppable as before.
            signal.signal(number, before[number])
