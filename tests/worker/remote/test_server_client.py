"""The client of a remote worker respects the server's rate limit."""

import asyncio
from datetime import timedelta

import pytest

from windlass.errors import ServerUnreachable
from windlass.worker.remote.server_client import ServerClient

BUSY = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
FINE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"


async def test_a_retry_after_of_the_server_is_respected():
    arrivals = []

    async def answer(reader, writer):
        await reader.readuntil(b"{}")
        arrivals.append(asyncio.get_running_loop().time())
        writer.write(BUSY if len(arrivals) == 1 else FINE)
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    server = ServerClient(f"http://127.0.0.1:{port}")

    with pytest.raises(ServerUnreachable):
        await server.ask("worker/beat", {})
    told = await server.ask("worker/beat", {})
    await server.close()
    listening.close()

    assert told == {}
    assert arrivals[1] - arrivals[0] >= 1


async def test_a_server_is_reopened_with_its_token_and_less_time_for_short_leases():
    server = ServerClient("http://127.0.0.1:1", "secret")

    quick = server.reopen(lease_time=timedelta(seconds=3))
    slow = server.reopen(lease_time=timedelta(hours=1))

    assert quick._client is not server._client
    assert quick._client.headers["authorization"] == "Bearer secret"
    assert quick._client.timeout.read == 1
    assert slow._client.timeout.read == 10
    for each in (server, quick, slow):
        await each.close()
