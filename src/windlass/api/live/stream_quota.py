"""How many streams are open, and of whom; one too many is refused."""

from collections import Counter

from windlass.api.live.intervals import StreamIntervals
from windlass.errors import StreamsFull


class StreamQuota:
    """Seats for streams: of one caller, of one tenant, and of all in this process."""

    def __init__(self, pace: StreamIntervals) -> None:
        self._pace = pace
        self._taken: Counter[tuple[str, str]] = Counter()

    def take(self, caller: str | None, tenant: str | None) -> list[tuple[str, str]]:
        """Take a seat, to be given back; StreamsFull tells who has too many."""
        wanted = {("this server", ""): self._pace.streams}
        if tenant is not None:
            wanted["the tenant", tenant] = self._pace.streams_per_tenant
        if caller is not None:
            wanted["the caller", caller] = self._pace.streams_per_caller
        for seat, most in wanted.items():
            if self._taken[seat] >= most:
                raise StreamsFull(" ".join(seat).strip(), most=most)
        self._taken.update(list(wanted))
        return list(wanted)

    def give_back(self, seats: list[tuple[str, str]]) -> None:
        self._taken.subtract(seats)
        self._taken = +self._taken
