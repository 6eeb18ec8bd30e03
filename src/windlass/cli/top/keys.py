"""Reads single key presses without echo."""

import asyncio
import os
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

_NAMED = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "esc",
    "\x7f": "backspace",
    "\b": "backspace",
}
_LONGEST = max(map(len, _NAMED))


def keys_in(text: str) -> Iterator[str]:
    """The keys in a terminal's input; unknown escape sequences are left out whole."""
    at = 0
    while at < len(text):
        found = next(
            (text[at : at + n] for n in range(_LONGEST, 0, -1) if text[at : at + n] in _NAMED), ""
        )
        if found == "\x1b" and text[at + 1 : at + 2] in ("[", "O"):
            at += 2
            while at < len(text) and not text[at].isalpha() and text[at] != "~":
                at += 1
            at += 1
            continue
        if found:
            yield _NAMED[found]
        elif text[at].isprintable():
            yield text[at]
        at += len(found) or 1


@contextmanager
def pressed(terminal: int) -> "Iterator[asyncio.Queue[str]]":
    """Read keys from a terminal while the block lasts, then restore its modes. Ctrl-C still
    interrupts."""
    came: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            data = os.read(terminal, 1024)
        except OSError:
            data = b""
        if not data:  # the terminal is gone
            loop.remove_reader(terminal)
            came.put_nowait("q")
        for key in keys_in(data.decode("utf-8", errors="ignore")):
            came.put_nowait(key)

    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSADRAIN)  # keys typed ahead count too
    loop.add_reader(terminal, read)
    try:
        yield came
    finally:
        loop.remove_reader(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
