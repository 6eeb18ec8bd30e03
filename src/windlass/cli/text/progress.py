"""How far something is: a bar at a terminal, a line for every tenth where nobody looks on."""

from datetime import timedelta

from windlass import clock
from windlass.cli.text.output import Output
from windlass.core.durations import words

_CELLS = 24
#: Before this a rate says nothing.
_RATED_SECONDS = 0.5


class Progress:
    """Told again and again how much is settled. `doing` is what happens, such as "retrying"."""

    def __init__(self, out: Output, doing: str) -> None:
        self._out = out
        self._doing = doing[:1].upper() + doing[1:]
        self._began = clock.monotonic()
        self._tenth = 0

    def show(self, settled: int, total: int) -> None:
        if self._out.draws:
            self._out.draw(
                f"{self._doing}  {_bar(settled, total)}  {self._numbers(settled, total)}"
            )
            return
        tenth = 10 if not total else settled * 10 // total
        if tenth > self._tenth:
            self._tenth = tenth
            self._out.say(f"{self._doing}: {tenth * 10} %, {self._numbers(settled, total)}")

    def end(self) -> None:
        """Leave no bar behind."""
        if self._out.draws:
            self._out.draw("")

    def _numbers(self, settled: int, total: int) -> str:
        count = f"{settled:,} of {total:,}"
        seconds = clock.monotonic() - self._began
        if not settled or seconds < _RATED_SECONDS:
            return count
        rate = settled / seconds
        left = timedelta(seconds=round((total - settled) / rate))
        return f"{count}, {rate:,.0f}/s" + (f", {words(left)} left" if left else "")


def _bar(settled: int, total: int) -> str:
    full = _CELLS if not total else settled * _CELLS // total
    return "━" * full + "╌" * (_CELLS - full)
