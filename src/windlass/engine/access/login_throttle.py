"""Login throttle: limits tries per account and per address, counted over all processes."""

import hashlib
import ipaddress
import math
from datetime import timedelta

from windlass.core.access.accounts import fold_name
from windlass.errors import LoginThrottled
from windlass.storage.storage import Storage
from windlass.telemetry import Telemetry

WINDOW = timedelta(minutes=15)
PER_ACCOUNT = 10
PER_ADDRESS = 100
#: Time an address is remembered after an account signed in from it.
REMEMBERED = timedelta(days=90)


class Throttle:
    """Limits logins for each account and each address.

    An address from which an account signed in before has its own limit for that account, so wrong
    logins from elsewhere do not lock the owner out.
    """

    def __init__(self, storage: Storage, telemetry: Telemetry) -> None:
        self._storage = storage
        self._telemetry = telemetry

    async def count(self, name: str, address: str | None) -> str:
        """Count a login before its password is checked; LoginThrottled if there were too many.

        Returns the key it was counted under, for `succeeded`. An unknown account is counted like
        any other. A throttled address cannot lock further accounts. An unknown address, None, is
        not counted.
        """
        if address is not None:
            await self._count("address", _key("address", network(address)), PER_ADDRESS)
        key = _key("account", fold_name(name))
        if address is not None and await self._storage.access.remembered_login(
            _known_address_key(name, address)
        ):
            key = _key("account-from", _pair(name, address))
        await self._count("account", key, PER_ACCOUNT)
        return key

    async def count_password_change(self, name: str) -> str:
        """Count a signed-in user's try to enter their own password, apart from logins: anybody can
        cause those. Returns the key for `succeeded`."""
        key = _key("password-change", fold_name(name))
        await self._count("account", key, PER_ACCOUNT)
        return key

    async def succeeded(self, key: str) -> None:
        """Reset the count of a key: the password was right."""
        await self._storage.access.clear_login_tries(key)

    async def remember(self, name: str, address: str | None) -> None:
        """Remember that an account signed in from an address."""
        if address is not None:
            await self._storage.access.remember_login(
                _known_address_key(name, address), lasts=REMEMBERED
            )

    async def _count(self, kind: str, key: str, most: int) -> None:
        tries = await self._storage.access.count_login_try(key, window=WINDOW)
        if tries.number == most + 1:
            self._telemetry.warn("logins throttled", by=kind)
        if tries.number > most:
            raise LoginThrottled(retry_after_seconds=max(1, math.ceil(tries.left.total_seconds())))


def network(address: str) -> str:
    """The network that counts as one address: for IPv6 the whole prefix of a subscriber."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known.packed, 64), strict=False))


def _pair(name: str, address: str) -> str:
    return f"{fold_name(name)}\0{network(address)}"


def _known_address_key(name: str, address: str) -> str:
    """The key that remembers that an account signed in from an address."""
    return _key("signed-in", _pair(name, address))


def _key(kind: str, value: str) -> str:
    return f"{kind}:{hashlib.sha256(value.encode(errors='replace')).hexdigest()}"
