"""Limits of a server's open connections: in total and per address."""

from collections import Counter
from collections.abc import Callable

from windlass.engine.access.login_throttle import network


class ConnectionLimits:
    """Counts open connections. `unlimited` is true for addresses that many clients share, such as
    a proxy's."""

    def __init__(
        self,
        *,
        total: int,
        per_address: int | None,
        unlimited: Callable[[str], bool] = lambda address: False,
    ) -> None:
        self._total = total
        self._per_address = per_address
        self._unlimited = unlimited
        self._count = 0
        self._open: Counter[str] = Counter()

    def take(self, address: str) -> str | None:
        """Count a new connection, to be given back. If there are too many, return the reason."""
        if self._count >= self._total:
            return f"{self._total} connections are open"
        key = network(address)
        limited = self._per_address is not None and not self._unlimited(address)
        if limited and self._open[key] >= (self._per_address or 0):
            return f"{self._per_address} connections of one address are open"
        self._open[key] += 1
        self._count += 1
        return None

    def give_back(self, address: str) -> None:
        key = network(address)
        self._open[key] -= 1
        self._count -= 1
        if not self._open[key]:
            del self._open[key]
