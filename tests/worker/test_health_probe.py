"""The health probe reports whether a worker is alive and ready."""

import asyncio
import socket

import pytest

from windlass.worker.handlers import Handlers
from windlass.worker.health_probe import PROCESS_METRICS, HealthServer
from windlass.worker.leases.watchdog import Blockage
from windlass.worker.options import WorkerOptions
from windlass.worker.worker import Worker


@pytest.fixture
async def worker(engine):
    return Worker(engine, Handlers(), WorkerOptions())


@pytest.fixture
async def ask(worker):
    health = HealthServer([worker], host="127.0.0.1", port=0)
    await health.start()

    async def get(request):
        reader, writer = await asyncio.open_connection("127.0.0.1", health.port)
        writer.write(request.encode())
        answer = (await reader.read()).decode()
        writer.close()
        return answer

    yield get
    await health.stop()


async def test_a_process_that_responds_is_alive(ask):
    answer = await ask("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")

    assert answer.startswith("HTTP/1.1 200 OK\r\n")
    assert answer.endswith("\r\n\r\nok\n")


async def test_a_worker_that_claims_is_ready(ask, worker, seconds):
    await worker.tick()
    before = await ask("GET /readyz HTTP/1.1\r\n\r\n")

    seconds.pass_by(60)
    after = await ask("GET /readyz HTTP/1.1\r\n\r\n")

    assert before.startswith("HTTP/1.1 200 OK\r\n")
    assert after.startswith("HTTP/1.1 503 ")
    assert after.endswith("no recent claim\n")


async def test_a_worker_that_drains_is_not_ready(ask, worker):
    worker.stop()

    assert (await ask("GET /readyz HTTP/1.1\r\n\r\n")).endswith("draining\n")


async def test_a_worker_whose_event_loop_is_blocked_is_not_ready(ask, worker):
    worker.renewal.blockage = Blockage(3.0, None, "the stack")
    ready = await ask("GET /readyz HTTP/1.1\r\n\r\n")
    alive = await ask("GET /healthz HTTP/1.1\r\n\r\n")
    metrics = await ask("GET /metrics HTTP/1.1\r\n\r\n")

    assert ready.endswith("the event loop is blocked\n")
    assert alive.startswith("HTTP/1.1 200 OK\r\n")
    assert "windlass_process_blocked_seconds 3.0" in metrics


async def test_a_worker_blocked_for_good_is_not_alive(ask, worker):
    worker.renewal.blockage = Blockage(600.0, None, "the stack")

    assert (await ask("GET /healthz HTTP/1.1\r\n\r\n")).startswith("HTTP/1.1 503 ")


async def test_the_probe_responds_while_the_event_loop_is_blocked(ask, worker):
    health = HealthServer([worker], host="127.0.0.1", port=0)
    await health.start()

    # Nothing is awaited here: only another thread can answer.
    with socket.create_connection(("127.0.0.1", health.port), timeout=30) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
        answer = connection.makefile("rb").read()

    assert answer.endswith(b"\r\n\r\nok\n")
    await health.stop()


async def test_a_worker_without_its_database_is_not_ready(ask, storage, monkeypatch):
    async def away():
        raise ConnectionError

    monkeypatch.setattr(storage, "now", away)

    assert (await ask("GET /readyz HTTP/1.1\r\n\r\n")).endswith("the database does not answer\n")


async def test_the_probe_serves_metrics_of_its_process(ask):
    answer = await ask("GET /metrics HTTP/1.1\r\n\r\n")

    assert "windlass_process_slots 4.0" in answer
    assert all(name in answer for name in PROCESS_METRICS)


@pytest.mark.parametrize(
    ("request_line", "status"),
    [("GET /else HTTP/1.1", "404"), ("POST /healthz HTTP/1.1", "405"), ("HEAD / HTTP/1.1", "404")],
)
async def test_other_paths_and_methods_are_refused(ask, request_line, status):
    assert (await ask(f"{request_line}\r\n\r\n")).split()[1] == status


async def test_a_malformed_request_only_ends_its_connection(ask):
    assert await ask("\r\n") == ""
    assert (await ask("GET /healthz HTTP/1.1\r\n\r\n")).endswith("ok\n")


async def test_idle_connections_do_not_use_up_descriptors(worker):
    health = HealthServer([worker], host="127.0.0.1", port=0)
    await health.start()
    silent = [await asyncio.open_connection("127.0.0.1", health.port) for _ in range(40)]

    async with asyncio.timeout(30):
        closed = [await reader.read() for reader, _ in silent[16:]]

    assert closed == [b""] * 24
    for _, writer in silent:
        writer.close()
    await health.stop()


async def test_every_response_of_the_probe_forbids_caching_and_sniffing(ask):
    for path in ("/healthz", "/metrics", "/nothing"):
        answer = await ask(f"GET {path} HTTP/1.1\r\n\r\n")

        assert "\r\ncache-control: no-store\r\n" in answer
        assert "\r\nx-content-type-options: nosniff\r\n" in answer
