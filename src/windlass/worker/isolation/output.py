"""A command's output: read in bounded memory, told line by line, its end kept."""

import asyncio
from collections.abc import Callable

from windlass import clock
from windlass.core.text import clean

_CHUNK_BYTES = 64 * 1024
#: More is read than shown, so that a secret is hidden whole before what it stands in is cut.
_MARGIN_BYTES = 4 * 1024
#: A longer tail is made safe beside the event loop.
_LONG_BYTES = 16 * 1024
#: Lines told per second; a command that says more must not keep the worker from its other runs.
_MOST_LINES = 1000


class OutputReader:
    """One stream of one run.

    `tell` gets each line as it comes; `hide` makes text safe to be kept.
    """

    def __init__(
        self,
        tell: Callable[[str], None],
        hide: Callable[[str], str],
        *,
        line_bytes: int,
        tail_bytes: int,
    ) -> None:
        self._tell = tell
        self._hide = hide
        self._line_bytes = line_bytes
        self._tail_bytes = tail_bytes
        self._tail_buffer = bytearray()
        self._cut = False
        self._line = bytearray()
        self._line_size = 0
        self._last = b""
        self._second = 0.0
        self._emitted = 0
        self._suppressed = 0
        self._hidden_tail: str | None = None

    async def read(self, stream: asyncio.StreamReader) -> None:
        """Read to the end."""
        while chunk := await stream.read(_CHUNK_BYTES):
            self._keep(chunk)
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                self._add(line)
                self._end_line()
            self._add(rest)
            await asyncio.sleep(0)
        self._end_line()
        self._report_suppressed()
        if len(self._tail_buffer) > _LONG_BYTES:
            self._hidden_tail = await asyncio.to_thread(self._hide_tail)

    @property
    def tail(self) -> str:
        """The end of all that was said, safe to be kept."""
        return self._hide_tail() if self._hidden_tail is None else self._hidden_tail

    def _hide_tail(self) -> str:
        if not self._tail_bytes:
            return ""
        text = self._hide(_text(self._tail_buffer))
        if self._cut:
            text = text[_MARGIN_BYTES:]
        whole = text.encode()
        if len(whole) <= self._tail_bytes:
            return text
        return whole[-self._tail_bytes :].decode(errors="ignore")

    @property
    def last_line(self) -> str:
        """The last line with anything in it, safe to be kept."""
        return clean(self._hide(_text(self._last)), self._line_bytes).strip()

    @property
    def last_bytes(self) -> bytes:
        """The same as it was said."""
        return self._last

    def _keep(self, chunk: bytes) -> None:
        most = self._tail_bytes + _MARGIN_BYTES
        self._tail_buffer += chunk
        if len(self._tail_buffer) > most:
            del self._tail_buffer[:-most]
            self._cut = True

    def _add(self, part: bytes) -> None:
        # A carriage return begins the line anew, as on a terminal: progress bars do that.
        anew = part.rstrip(b"\r").rfind(b"\r")
        if anew >= 0 or (self._line.endswith(b"\r") and part.strip(b"\r")):
            self._line.clear()
            self._line_size = 0
            part = part[anew + 1 :]
        self._line_size += len(part)
        self._line += part[: self._line_bytes + _MARGIN_BYTES - len(self._line)]

    def _end_line(self) -> None:
        line = bytes(self._line).rstrip(b"\r")
        left_out = self._line_size - len(self._line)
        self._line.clear()
        self._line_size = 0
        if not line.strip():
            return
        self._last = line
        now = clock.monotonic()
        if now - self._second >= 1:
            self._report_suppressed()
            self._second, self._emitted = now, 0
        if self._emitted < _MOST_LINES:
            self._emitted += 1
            self._tell(self._redacted_line(line, left_out))
        else:
            self._suppressed += 1

    def _redacted_line(self, line: bytes, left_out: int) -> str:
        text = self._hide(_text(line))
        if left_out:
            # What is half of a secret stands in the margin, and goes with it.
            text = text[: max(0, len(text) - _MARGIN_BYTES)]
        return clean(text, self._line_bytes)

    def _report_suppressed(self) -> None:
        if self._suppressed:
            self._tell(f"… {self._suppressed:,} lines left out: more than {_MOST_LINES:,} a second")
            self._suppressed = 0


def _text(said: bytes | bytearray) -> str:
    return said.decode(errors="replace")
