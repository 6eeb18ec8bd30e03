"""The signals that end a process which goes on: it finishes in good order."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def stopping() -> tuple[signal.Signals, ...]:
    """SIGHUP says that the terminal is gone; whoever used `nohup` wants it unheard."""
    gone = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGTERM, signal.SIGINT, *gone)


@contextmanager
def heard(tell: Callable[[], object]) -> Iterator[None]:
    """Call `tell` at each of them, in the loop that runs, while the block lasts."""
    loop, numbers = asyncio.get_running_loop(), stopping()
    for number in numbers:
        loop.add_signal_handler(number, tell)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
