"""The HTTP client of library jobs: public addresses only, with limits of size and time.

A name is resolved once, its addresses are checked, and the connection goes to a checked one: an
answer of DNS that changes in between leads nowhere else. Each redirect is checked in the same way.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import httpx2

from windlass.errors import AddressRefused, HttpFailed

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
#: After these a POST becomes a GET, as browsers do.
_AS_GET = (301, 302, 303)
#: Not sent on to another host.
_CREDENTIALS = ("authorization", "cookie", "proxy-authorization")
#: IPv4 addresses within IPv6 ones, by translation.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response, read whole. `url` is where it came from, after redirects."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    url: str

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def host(self) -> str:
        """The host it came from; path and query may hold secrets."""
        return _place(self.url)


@dataclass(frozen=True, kw_only=True)
class HttpClient:
    """Sends requests. `allowed_networks` may be reached although they are not public; `seconds` is
    for the whole exchange, redirects included."""

    allowed_networks: Sequence[str] = ()
    seconds: float = 30.0
    most_bytes: int = 1024 * 1024

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        content: bytes | None = None,
        redirects: int = 0,
    ) -> HttpResponse:
        """Send a request and follow so many redirects; one more is returned as the response.

        AddressRefused if an address may not be reached, HttpFailed if there is no response within
        the limits.
        """
        try:
            async with asyncio.timeout(self.seconds):
                return await self._send(method, url, dict(headers), content, redirects)
        except TimeoutError:
            problem = f"there was no whole response within {self.seconds:g} s"
            raise HttpFailed(_place(url), problem=problem) from None

    async def _send(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        content: bytes | None,
        redirects: int,
    ) -> HttpResponse:
        while True:
            response = await self._exchange(method, url, headers, content)
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or location is None or redirects == 0:
                return response
            redirects -= 1
            following = _parsed(str(httpx2.URL(url).join(location)))
            if _origin(following) != _origin(_parsed(url)):
                headers = {
                    name: value
                    for name, value in headers.items()
                    if name.lower() not in _CREDENTIALS
                }
            if response.status in _AS_GET and method != "HEAD":
                method, content = "GET", None
            url = str(following)

    async def _exchange(
        self, method: str, url: str, headers: dict[str, str], content: bytes | None
    ) -> HttpResponse:
        target = _parsed(url)
        addresses = await self._checked_addresses(target)
        request = {
            **headers,
            "host": target.netloc.decode("ascii"),
            # What is counted is what arrives: nothing is unpacked.
            "accept-encoding": "identity",
        }
        problem = ""
        # No proxy of the environment: it would resolve the name itself.
        async with httpx2.AsyncClient(trust_env=False, timeout=self.seconds) as client:
            for address in addresses:
                try:
                    async with client.stream(
                        method,
                        target.copy_with(host=str(address)),
                        headers=request,
                        content=content,
                        extensions={"sni_hostname": target.host},
                    ) as response:
                        body = await self._body(response, url)
                except httpx2.ConnectError as error:
                    problem = f"{type(error).__name__}: {address} takes no connection"
                except httpx2.HTTPError as error:
                    raise HttpFailed(_place(url), problem=type(error).__name__) from None
                else:
                    return HttpResponse(response.status_code, dict(response.headers), body, url)
        raise HttpFailed(_place(url), problem=problem)

    async def _body(self, response: httpx2.Response, url: str) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self.most_bytes:
                problem = f"the response is larger than {self.most_bytes:,} bytes"
                raise HttpFailed(_place(url), problem=problem)
        return bytes(body)

    async def _checked_addresses(self, target: httpx2.URL) -> list[IpAddress]:
        """The addresses of the URL's host. All of them have to be allowed."""
        port = target.port or _PORTS[target.scheme]
        try:
            found = await asyncio.get_running_loop().getaddrinfo(
                target.host, port, type=socket.SOCK_STREAM
            )
        except OSError as error:
            problem = f"its name cannot be resolved: {error.strerror}"
            raise HttpFailed(_place(str(target)), problem=problem) from None
        addresses = [ipaddress.ip_address(str(place[0]).partition("%")[0]) for *_, place in found]
        for address in addresses:
            if not self._is_allowed(address):
                raise AddressRefused(target.host, because=f"{address} is no public address")
        return addresses

    def _is_allowed(self, address: IpAddress) -> bool:
        networks = map(ipaddress.ip_network, self.allowed_networks)
        return any(address in network for network in networks) or is_public(address)


def is_public(address: IpAddress) -> bool:
    """True for an address of the internet; an IPv4 address within an IPv6 one counts too."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


def _parsed(url: str) -> httpx2.URL:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        raise AddressRefused("the address", because="it is no URL") from None
    if parsed.scheme not in _PORTS or not parsed.host:
        raise AddressRefused(parsed.host or "the address", because="it is no http or https URL")
    if parsed.userinfo:
        raise AddressRefused(parsed.host, because="its URL has a user name or password in it")
    return parsed


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or _PORTS[url.scheme]


def _place(url: str) -> str:
    """The host of a URL, for messages: path and query may hold secrets."""
    return httpx2.URL(url).host
