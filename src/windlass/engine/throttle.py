"""Logins are counted for each account and each address, by all processes together."""

import hashlib
import ipaddress
import math
from datetime import timedelta

from windlass.core.accounts import folded
from windlass.errors import LoginThrottled
from windlass.storage.base import Storage
from windlass.telemetry import Telemetry

WINDOW = timedelta(minutes=15)
PER_ACCOUNT = 10
PER_ADDRESS = 100


class Throttle:
    def __init__(self, storage: Storage, telemetry: Telemetry) -> None:
        self._storage = storage
        self._telemetry = telemetry

    async def count(self, name: str, address: str | None) -> None:
        """Count a login before it is judged; LoginThrottled if there were too many.

        It makes no difference whether there is such an account. Who tries from an address that is
        throttled cannot lock further accounts. An address that is not known, None, is not counted.
        """
        if address is not None:
            await self._count("address", network(address), PER_ADDRESS)
        await self._count("account", folded(name), PER_ACCOUNT)

    async def forget(self, name: str) -> None:
        """Forget the tries of an account that has signed in."""
        await self._storage.clear_tries(_key("account", folded(name)))

    async def _count(self, kind: str, value: str, most: int) -> None:
        tries = await self._storage.count_try(_key(kind, value), window=WINDOW)
        if tries.number == most + 1:
            self._telemetry.warn("logins throttled", by=kind)
        if tries.number > most:
            raise LoginThrottled(retry_after_seconds=max(1, math.ceil(tries.left.total_seconds())))


def network(address: str) -> str:
    """What counts as one address: of the sixth version all that one subscriber may have."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known.packed, 64), strict=False))


def _key(kind: str, value: str) -> str:
    return f"{kind}:{hashlib.sha256(value.encode(errors='replace')).hexdigest()}"
