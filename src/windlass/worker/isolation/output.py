"""Output of a command: read in bounded memory, logged line by line, its tail kept."""

import asyncio
from collections.abc import Callable

from windlass import clock
from windlass.core.text import clean

_CHUNK_BYTES = 64 * 1024
#: More is read than shown, so that a secret is hidden as a whole before the text is cut.
_MARGIN_BYTES = 4 * 1024
#: A longer tail is redacted in a thread.
_LONG_BYTES = 16 * 1024
#: Lines logged per second; a command that prints more must not slow down other runs.
_MOST_LINES = 1000


class OutputReader:
    """One stream of one run.

    `log` is called with each line as it comes; `hide` redacts text.
    """

    def __init__(
        self,
        log: Callable[[str], None],
        hide: Callable[[str], str],
        *,
        line_bytes: int,
        tail_bytes: int,
    ) -> None:
        self._log = log
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
            self._add_to_tail(chunk)
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                self._add_to_line(line)
                self._end_line()
            self._add_to_line(rest)
            await asyncio.sleep(0)
        self._end_line()
        self._report_suppressed()
        if len(self._tail_buffer) > _LONG_BYTES:
            self._hidden_tail = await asyncio.to_thread(self._hide_tail)

    @property
    def tail(self) -> str:
        """The end of the output, redacted."""
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
        """The last line that is not blank, redacted."""
        return clean(self._hide(_text(self._last)), self._line_bytes).strip()

    @property
    def last_bytes(self) -> bytes:
        """The last line that is not blank, as it was printed."""
        return self._last

    def _add_to_tail(self, chunk: bytes) -> None:
        most = self._tail_bytes + _MARGIN_BYTES
        self._tail_buffer += chunk
        if len(self._tail_buffer) > most:
            del self._tail_buffer[:-most]
            self._cut = True

    def _add_to_line(self, part: bytes) -> None:
        # A carriage return restarts the line, as on a terminal: progress bars do that.
        restart = part.rstrip(b"\r").rfind(b"\r")
        if restart >= 0 or (self._line.endswith(b"\r") and part.strip(b"\r")):
            self._line.clear()
            self._line_size = 0
            part = part[restart + 1 :]
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
            self._log(self._redacted_line(line, left_out))
        else:
            self._suppressed += 1

    def _redacted_line(self, line: bytes, left_out: int) -> str:
        text = self._hide(_text(line))
        if left_out:
            # A secret that was cut in half lies in the margin, and is dropped with it.
            text = text[: max(0, len(text) - _MARGIN_BYTES)]
        return clean(text, self._line_bytes)

    def _report_suppressed(self) -> None:
        if self._suppressed:
            self._log(f"… {self._suppressed:,} lines left out: more than {_MOST_LINES:,} a second")
            self._suppressed = 0


def _text(output: bytes | bytearray) -> str:
    return output.decode(errors="replace")
