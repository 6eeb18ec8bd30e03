"""Connections are limited, and slow ones closed, over real sockets."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
import pytest

from tests.api.stream_client import serving
from tests.support.wait import until
from windlass import Settings, Windlass
from windlass.api.access.callers import open_access
from windlass.api.app import create_api
from windlass.api.live.intervals import StreamIntervals
from windlass.engine.access.connection_limits import ConnectionLimits

SLOW = 600.0
HALF = b"POST /api/v1/jobs HTTP/1.1\r\nhost: localhost\r\n"
BODY = HALF + b"content-type: application/json\r\ncontent-length: 100\r\n\r\n{"


@pytest.fixture
async def guarded(database):
    """A function that serves an API with some settings; head and body may take for ever."""
    async with AsyncExitStack() as stack:

        async def serve(**settings):
            options = {"header_timeout_seconds": SLOW, "body_timeout_seconds": SLOW, **settings}
            loaded = Settings.load(
                {f"server.{name}": value for name, value in options.items()}, environ={}
            )
            wl = Windlass(database.url, settings=loaded)
            stack.push_async_callback(wl.close)
            api = create_api(
                wl,
                authenticate=open_access,
                pace=StreamIntervals(look_seconds=0.05, message_seconds=0.01),
            )
            return await stack.enter_async_context(serving(api))

        yield serve


@asynccontextmanager
async def connected(served, *pieces):
    """A connection that has sent some bytes."""
    url = served.client.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        yield reader, writer
    finally:
        writer.close()


async def rest(reader):
    """All bytes received until the server closes the connection; bounded in time."""
    async with asyncio.timeout(30):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def alive(served):
    """True if a new connection gets a response."""
    async with httpx2.AsyncClient(base_url=served.client.base_url, timeout=30) as client:
        try:
            response = await client.get(str(served.client.base_url.copy_with(path="/healthz")))
        except httpx2.TransportError:
            return False
        return response.status_code == 200


async def test_half_open_connections_use_up_their_own_address_only(guarded):
    served = await guarded(max_connections_per_address=5)
    async with AsyncExitStack() as stack:
        for _ in range(5):
            await stack.enter_async_context(connected(served, HALF))
        refused = [
            await rest((await stack.enter_async_context(connected(served)))[0]) for _ in range(20)
        ]
        full = await alive(served)

    assert all(b"503" in each or not each for each in refused)
    assert not full
    assert await until(lambda: alive(served), waiting_for="the connections to be given back")


async def test_open_connections_are_limited(guarded):
    served = await guarded(max_connections=10, max_connections_per_address="unlimited")
    async with AsyncExitStack() as stack:
        for _ in range(10):
            await stack.enter_async_context(connected(served, HALF))

        assert not await alive(served)


async def test_a_trusted_proxy_is_not_limited_as_one_address(guarded):
    served = await guarded(max_connections_per_address=1, trusted_proxies=["127.0.0.0/8"])
    async with AsyncExitStack() as stack:
        for _ in range(5):
            await stack.enter_async_context(connected(served, HALF))

        assert await alive(served)


@pytest.mark.parametrize("sent", [(), (HALF,), (b"G",)], ids=["nothing", "half a head", "a byte"])
async def test_a_missing_head_closes_the_connection(guarded, sent):
    served = await guarded(header_timeout_seconds=0.1)
    async with connected(served, *sent) as (reader, _):
        response = await rest(reader)

    assert response.startswith(b"HTTP/1.1 408")
    assert b"nosniff" in response


async def test_a_slow_head_closes_the_connection(guarded):
    served = await guarded(header_timeout_seconds=0.2)
    async with connected(served, HALF) as (reader, writer):

        async def drip():
            while True:
                writer.write(b"a:b\r\n")
                await alive(served)  # some time passes, less than the deadline

        dripping = asyncio.create_task(drip())
        response = await rest(reader)
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)

    assert response == b"" or response.startswith(b"HTTP/1.1 408")


async def test_the_head_of_a_later_request_has_a_deadline(guarded):
    served = await guarded(header_timeout_seconds=0.1)
    whole = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    async with connected(served, whole + HALF) as (reader, _):
        response = await rest(reader)

    assert response.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in response


async def test_a_missing_body_closes_the_connection(guarded):
    served = await guarded(body_timeout_seconds=0.1)
    async with connected(served, BODY) as (reader, _):
        response = await rest(reader)

    assert response.startswith(b"HTTP/1.1 408")


async def test_a_stream_is_not_subject_to_the_deadlines(guarded):
    served = await guarded(header_timeout_seconds=0.1, body_timeout_seconds=0.1)
    async with served.listen("queues") as listener:
        await listener.next()
        async with connected(served) as (reader, _):
            assert b"408" in await rest(reader)  # so that the time has passed
        await served.client.post("/queues/default/pause", json={"reason": "flood"})
        [change] = await listener.changes("queues")

    assert change["pause_reason"] == "flood"


async def test_a_malformed_request_gets_the_usual_headers(guarded):
    served = await guarded()
    async with connected(served, b"\x16\x03\x01 nonsense\r\n\r\n") as (reader, _):
        response = await rest(reader)

    assert response.startswith(b"HTTP/1.1 400")
    assert b"cache-control: no-store" in response


def test_an_ipv6_address_is_counted_by_its_network():
    limits = ConnectionLimits(total=10, per_address=1)

    assert limits.take("2001:db8::1") is None
    assert limits.take("2001:db8::2") is not None
    limits.give_back("2001:db8::1")
    assert limits.take("2001:db8::2") is None
