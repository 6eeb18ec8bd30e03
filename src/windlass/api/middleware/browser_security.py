"""Rules for browsers: response headers, the session cookie, and requests that other sites start."""

import base64
import hashlib
import ipaddress
import re
from collections.abc import Mapping

from fastapi import Request
from starlette.responses import Response

from windlass.core.access.accounts import COOKIE, SECURE_COOKIE
from windlass.errors import CrossSiteRefused, OpenAccessRefused

#: `Cache-Control` of a file whose name changes with its content.
IMMUTABLE = "public, max-age=31536000, immutable"
#: Set on every response, whatever a route says; only what is `IMMUTABLE` may be stored.
ALWAYS: Mapping[str, str] = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_CLOSED = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
#: Set on every response that does not set them itself.
DEFAULTS: Mapping[str, str] = {
    "content-security-policy": f"{_CLOSED}; form-action 'none'",
    # A page's address may hold a one-time link. This site's own forms need an `Origin`.
    "referrer-policy": "same-origin",
}
#: Methods that change nothing.
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_PORT = re.compile(r":\d+$", re.ASCII)
_FORWARDING = ("forwarded", "x-forwarded-for", "x-real-ip")


def page_headers(style: str, *, forms: bool = False) -> dict[str, str]:
    """The headers of a page that runs no script and has one inline style sheet."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    target = "'self'" if forms else "'none'"
    return {
        "content-security-policy": f"{_CLOSED}; style-src 'sha256-{digest}'; form-action {target}"
    }


def check_loopback(request: Request) -> None:
    """Refuse a request to an API without authentication that is not from this machine.

    The `Host` has to be a loopback name too: a page of another site can have its own name resolve to
    127.0.0.1 (DNS rebinding), and then read and write as if it were this site.
    """
    if any(name in request.headers for name in _FORWARDING):
        raise OpenAccessRefused("it came through a proxy")
    if request.client is None or not _is_loopback(request.client.host):
        raise OpenAccessRefused("it does not come from this machine")
    hosts = request.headers.getlist("host")
    if len(hosts) != 1 or not _is_loopback_host(hosts[0]):
        raise OpenAccessRefused("its Host is no loopback name")


def is_cross_site(request: Request) -> bool | None:
    """True if a page of another origin made a browser send the request; None if no header says.

    `Sec-Fetch-Site` is the browser's own word, which no page can forge. Without it, `Origin` has to be
    this server's scheme, host and port.
    """
    said = request.headers.get("sec-fetch-site")
    if said is not None:
        return said not in ("same-origin", "none")
    origin = request.headers.get("origin")
    if origin is None:
        return None
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return _normalize_origin(origin) != _normalize_origin(own)


def check_same_site(request: Request) -> None:
    """Refuse a write that is not shown to come from this site's own pages."""
    if is_cross_site(request) is not False:
        raise CrossSiteRefused


def check_write(request: Request) -> None:
    """Refuse a write from another site. One that carries a session needs proof that it is not."""
    if request.method in _READS:
        return
    cross_site = is_cross_site(request)
    if cross_site is None:
        cross_site = session_secret(request) is not None
    if cross_site:
        raise CrossSiteRefused


def session_secret(request: Request) -> str | None:
    """The session that a request carries, from the cookie that its scheme has."""
    return request.cookies.get(_cookie(request)) or None


def set_session(request: Request, response: Response, secret: str) -> None:
    """Store a session in a cookie that no script and no other site can use."""
    response.set_cookie(
        _cookie(request),
        secret,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
        path="/",
    )


def clear_session(response: Response) -> None:
    """Delete both cookies: the site may have moved from http to https."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
    response.delete_cookie(SECURE_COOKIE, path="/", secure=True, httponly=True, samesite="lax")


def _cookie(request: Request) -> str:
    return SECURE_COOKIE if request.url.scheme == "https" else COOKIE


def _normalize_origin(origin: str) -> tuple[str, str]:
    """Scheme and place of an origin, to be compared: a default port is left out."""
    scheme, _, place = origin.lower().partition("://")
    return scheme, place.removesuffix(_DEFAULT_PORTS.get(scheme, ""))


def _is_loopback_host(host: str) -> bool:
    name = _PORT.sub("", host.lower())
    if name.startswith("[") and name.endswith("]"):
        return _is_loopback(name[1:-1])
    return name == "localhost" or (":" not in name and _is_loopback(name))


def _is_loopback(address: str) -> bool:
    known = parse_address(address)
    return known is not None and known.is_loopback


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
