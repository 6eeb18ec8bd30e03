"""The client's address and scheme are taken only from the proxies that a setting names."""

import httpx2
import pytest

from tests.api.authenticated_api import guarding
from windlass import Settings, Windlass
from windlass.api.middleware.request_id import TrustedProxies
from windlass.errors import SettingsInvalid

PROXIES = TrustedProxies(["10.0.0.0/8", "127.0.0.1", "fd00::/8"])


def resolved(peer, *headers, proxies=PROXIES):
    scope = proxies.resolve(
        {
            "type": "http",
            "scheme": "http",
            "client": (peer, 4711),
            "headers": [(name.encode(), value.encode()) for name, value in headers],
        }
    )
    return scope["client"][0], scope["scheme"]


@pytest.mark.parametrize(
    ("peer", "said", "client"),
    [
        ("10.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("10.0.0.1", "1.2.3.4, 192.0.2.7", "192.0.2.7"),
        ("10.0.0.1", "1.2.3.4, 192.0.2.7, 10.9.9.9", "192.0.2.7"),
        ("10.0.0.1", "10.1.1.1, 10.2.2.2", "10.1.1.1"),
        ("10.0.0.1", "192.0.2.7:4711", "192.0.2.7"),
        ("10.0.0.1", "[2001:db8::7]:443", "2001:db8::7"),
        ("10.0.0.1", "192.0.2.7, nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("::ffff:10.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("fd00::1", "2001:db8::7", "2001:db8::7"),
        ("192.0.2.9", "1.2.3.4", "192.0.2.9"),
        ("127.0.0.2", "1.2.3.4", "127.0.0.2"),
    ],
)
def test_the_client_is_the_rightmost_address_that_is_not_a_proxy(peer, said, client):
    assert resolved(peer, ("x-forwarded-for", said))[0] == client


def test_several_forwarded_headers_form_one_list():
    headers = [("x-forwarded-for", "1.2.3.4"), ("x-forwarded-for", "192.0.2.7, 10.1.1.1")]

    assert resolved("127.0.0.1", *headers)[0] == "192.0.2.7"


def test_no_proxy_is_trusted_by_default():
    headers = [("x-forwarded-for", "1.2.3.4"), ("x-forwarded-proto", "https")]

    assert resolved("127.0.0.1", *headers, proxies=TrustedProxies([])) == ("127.0.0.1", "http")


@pytest.mark.parametrize(
    ("peer", "said", "scheme"),
    [
        ("10.0.0.1", "https", "https"),
        ("10.0.0.1", "HTTPS", "https"),
        ("10.0.0.1", "https, http", "http"),
        ("10.0.0.1", "javascript", "http"),
        ("192.0.2.9", "https", "http"),
    ],
)
def test_the_scheme_is_taken_only_from_a_trusted_proxy(peer, said, scheme):
    assert resolved(peer, ("x-forwarded-proto", said))[1] == scheme


def test_every_invalid_proxy_address_is_reported():
    with pytest.raises(SettingsInvalid) as refused:
        Settings.load(
            {"server.trusted_proxies": ["10.0.0.0/8", "proxy.local"], "server.max_connections": 0},
            environ={},
        )
    with pytest.raises(SettingsInvalid):
        Settings.load({"server.trusted_proxies": ["10.0.0.1/8"]}, environ={})

    message = str(refused.value) + str(refused.value.errors)
    assert "trusted_proxies" in message
    assert "max_connections" in message


@pytest.fixture
async def proxied(database):
    """An API behind a proxy at 127.0.0.1, with few requests for each address."""
    settings = Settings.load(
        {
            "server.trusted_proxies": ["127.0.0.1"],
            "server.requests_per_minute_per_address": 10,
        },
        environ={},
    )
    wl = Windlass(database.url, settings=settings)
    async with guarding(wl) as guarded:
        guarded.stop_the_clock()
        yield guarded
    await wl.close()


def of(address, **headers):
    return {"x-forwarded-for": address, **headers}


async def test_clients_behind_a_proxy_are_counted_individually(proxied):
    ask = proxied.client.get
    first = [
        (await ask("/api/v1/jobs", headers=of(f"10.0.0.{n}, 192.0.2.1"))).status_code
        for n in range(11)
    ]
    other = await ask("/api/v1/jobs", headers=of("192.0.2.2"))

    assert first == [401] * 10 + [429]
    assert other.status_code == 401


async def test_an_address_cannot_be_forged_without_a_proxy(wl):
    few = Settings.load({"server.requests_per_minute_per_address": 10}, environ={})
    small = Windlass(wl.url, settings=few)
    async with guarding(small) as guarded:
        guarded.stop_the_clock()
        statuses = [
            (await guarded.client.get("/api/v1/jobs", headers=of(f"192.0.2.{n}"))).status_code
            for n in range(11)
        ]
    await small.close()

    assert statuses == [401] * 10 + [429]


async def test_behind_https_the_session_cookie_is_host_only(proxied):
    link = await (await proxied.wl.ready()).users.first_admin()
    https = of("192.0.2.1", **{"x-forwarded-proto": "https", "origin": "https://api"})
    ask = proxied.client

    over_http = await ask.post(
        "/api/v1/login/link", json={"link": link.secret}, headers={**https, "origin": "http://api"}
    )
    signed_in = await ask.post("/api/v1/login/link", json={"link": link.secret}, headers=https)
    [cookie] = signed_in.headers.get_list("set-cookie")
    name, _, secret = cookie.partition(";")[0].partition("=")
    ask.cookies.clear()

    async def me(cookie, headers):
        response = await ask.get("/api/v1/whoami", headers={"cookie": cookie, **headers})
        return response.status_code

    planted = await me(f"windlass_session={secret}", https)
    right = await me(f"__Host-windlass_session={secret}", https)
    without_tls = await me(f"__Host-windlass_session={secret}", of("192.0.2.1"))
    left = await ask.post(
        "/api/v1/logout", headers={"cookie": f"__Host-windlass_session={secret}", **https}
    )
    after = await me(f"__Host-windlass_session={secret}", https)

    assert over_http.status_code == 403
    assert name == "__Host-windlass_session"
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert (planted, right, without_tls) == (401, 200, 401)
    assert (left.status_code, after) == (204, 401)
    cleared = left.headers.get_list("set-cookie")
    assert [each.partition("=")[0] for each in cleared] == [
        "windlass_session",
        "__Host-windlass_session",
    ]
    assert "Secure" in cleared[1]


async def test_a_mounted_api_trusts_its_own_proxies(proxied):
    from fastapi import FastAPI

    host = FastAPI()
    host.mount("/ops", proxied.app)
    transport = httpx2.ASGITransport(host)
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        statuses = [
            (await client.get("/ops/api/v1/jobs", headers=of("192.0.2.3"))).status_code
            for _ in range(11)
        ]
        alive = await client.get("/ops/healthz", headers=of("192.0.2.3"))

    assert statuses == [401] * 10 + [429]
    assert alive.status_code == 200
