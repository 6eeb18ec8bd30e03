"""Trusted proxies: find the client's address and scheme behind them.

`X-Forwarded-For` and `X-Forwarded-Proto` are headers that anybody can send. They count only when the
connection comes from a proxy that the setting `server.trusted_proxies` names.
"""

import ipaddress
from collections.abc import Iterator, Sequence

from starlette.types import Scope

_SCHEMES = frozenset({"http", "https"})


class TrustedProxies:
    """The networks whose forwarding headers are believed."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ipaddress.ip_network(each) for each in networks]

    def trusts(self, address: str) -> bool:
        known = parse_address(address)
        return known is not None and any(known in network for network in self._networks)

    def resolve(self, scope: Scope) -> Scope:
        """The scope of a request with the client and the scheme that its proxies report.

        The client is the rightmost address that is no trusted proxy. What stands further left was
        sent by the client itself.
        """
        peer = scope.get("client")
        if peer is None or not self.trusts(peer[0]):
            return scope
        resolved = dict(scope)
        if (client := self._client(scope)) is not None:
            resolved["client"] = (client, 0)
        if (scheme := next(_values(scope, b"x-forwarded-proto"), "").lower()) in _SCHEMES:
            resolved["scheme"] = scheme
        return resolved

    def _client(self, scope: Scope) -> str | None:
        client = None
        for text in _values(scope, b"x-forwarded-for"):
            address = parse_address(text)
            if address is None:
                break
            client = str(address)
            if not self.trusts(client):
                break
        return client


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address in a text, which may have a port; None if there is none.

    An IPv4 address that is mapped into IPv6 is returned as IPv4.
    """
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _values(scope: Scope, name: bytes) -> Iterator[str]:
    """The values of a header that is a list, the last one first."""
    for key, value in reversed(scope["headers"]):
        if key == name:
            for each in reversed(value.decode("latin-1").split(",")):
                yield each.strip()
