"""The guarded HTTP client, against real servers."""

import ipaddress
import threading

import pytest

from tests.library.http_servers import serving
from windlass.errors import AddressRefused, HttpFailed
from windlass.library.http_client import HttpClient, is_public

HERE = HttpClient(allowed_networks=["127.0.0.1/32"])


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://2130706433:{port}/",
        "http://0.0.0.0:{port}/",
    ],
)
async def test_a_private_address_is_refused_however_it_is_written(url):
    with serving() as server:
        port = server.url.rpartition(":")[2]
        with pytest.raises((AddressRefused, HttpFailed)):
            await HttpClient().send("GET", url.format(port=port))

    assert server.received == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::", True),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("0.0.0.0", False),
        ("::1", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::10.0.0.1", False),
        ("2002:0a00:0001::", False),
    ],
)
def test_public_addresses_are_told_from_others(address, public):
    assert is_public(ipaddress.ip_address(address)) is public


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://example.com/", "http://", "http://ada:pw@example.com/", ":"],
)
async def test_other_schemes_and_passwords_in_a_url_are_refused(url):
    with pytest.raises(AddressRefused) as raised:
        await HttpClient().send("GET", url)

    assert "pw" not in str(raised.value)


async def test_an_allowed_network_is_reached_by_name_and_the_host_is_kept():
    with serving() as server:
        port = server.url.rpartition(":")[2]
        client = HttpClient(allowed_networks=["127.0.0.0/8", "::1/128"])
        response = await client.send("GET", f"http://localhost:{port}/a?b=c")

    [request] = server.received
    assert (request.path, request.headers["host"]) == ("/a?b=c", f"localhost:{port}")
    assert (response.status, response.body) == (200, b"ok")


async def test_a_redirect_to_a_private_address_is_refused():
    with serving(host="127.0.0.2") as inner:
        moved = (302, {"location": f"{inner.url}/secret"}, [])
        with serving(lambda _: moved) as outer:
            with pytest.raises(AddressRefused, match=r"127\.0\.0\.2"):
                await HERE.send("GET", outer.url, redirects=3)

    assert (len(outer.received), inner.received) == (1, [])


async def test_a_redirect_is_not_followed_unless_asked_for():
    with serving(lambda _: (302, {"location": "/b"}, [])) as server:
        response = await HERE.send("GET", f"{server.url}/a")

    assert (response.status, len(server.received)) == (302, 1)


async def test_a_redirect_to_another_host_carries_no_credentials():
    client = HttpClient(allowed_networks=["127.0.0.0/8"])
    with serving(host="127.0.0.2") as inner:
        moved = (303, {"location": f"{inner.url}/next"}, [])
        with serving(lambda _: moved) as outer:
            response = await client.send(
                "POST",
                outer.url,
                headers={"authorization": "Bearer x", "x-kept": "1"},
                content=b"body",
                redirects=1,
            )

    [request] = inner.received
    assert (request.method, request.body, request.headers.get("authorization")) == (
        "GET",
        b"",
        None,
    )
    assert request.headers["x-kept"] == "1"
    assert response.url == f"{inner.url}/next"


async def test_endless_redirects_end():
    with serving(lambda _: (302, {"location": "/again"}, [])) as server:
        response = await HERE.send("GET", server.url, redirects=3)

    assert (response.status, len(server.received)) == (302, 4)


async def test_a_response_that_is_too_large_is_not_read_to_its_end():
    def endless(_):
        return 200, {}, iter(lambda: b"x" * 65_536, None)

    with serving(endless) as server:
        with pytest.raises(HttpFailed, match="larger than 1,000,000 bytes"):
            await HttpClient(allowed_networks=["127.0.0.1"], most_bytes=1_000_000).send(
                "GET", server.url
            )


async def test_a_server_that_never_ends_its_response_is_given_up():
    given_up = threading.Event()

    def drip(_):
        def chunks():
            yield b"x"
            given_up.wait()

        return 200, {}, chunks()

    with serving(drip) as server:
        try:
            with pytest.raises(HttpFailed, match=r"within 0\.5 s"):
                await HttpClient(allowed_networks=["127.0.0.1"], seconds=0.5).send(
                    "GET", server.url
                )
        finally:
            given_up.set()


async def test_a_closed_port_is_a_failure_without_the_path():
    with serving() as server:
        url = server.url

    with pytest.raises(HttpFailed) as raised:
        await HERE.send("GET", f"{url}/secret-token")

    assert "secret-token" not in str(raised.value)


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch):
    with serving() as proxy, serving() as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        await HERE.send("GET", server.url)

    assert (len(proxy.received), len(server.received)) == (0, 1)
