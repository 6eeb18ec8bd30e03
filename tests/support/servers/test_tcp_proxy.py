"""The TCP proxy injects the faults that it offers."""

import contextlib
import socket
import socketserver
import threading

import pytest

from tests.support.servers.tcp_proxy import Proxy
from tests.support.wait import blocking_until


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        with contextlib.suppress(ConnectionError):
            while data := self.request.recv(1000):
                self.server.heard.append(data)
                self.request.sendall(data)


@pytest.fixture
def server():
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.heard = []
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def proxy(server):
    with Proxy(*server.server_address) as proxy:
        yield proxy


@contextlib.contextmanager
def connected(proxy):
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
        yield client


def said(client, text=b"hello"):
    client.sendall(text)
    answer = client.recv(1000)
    if not answer:
        raise ConnectionResetError("the connection was closed")
    return answer


def test_bytes_pass_both_ways(proxy):
    with connected(proxy) as client:
        assert said(client) == b"hello"
        assert proxy.connections == 1


def test_a_cut_connection_is_reset_and_the_next_is_taken(proxy):
    with connected(proxy) as client:
        said(client)
        proxy.cut()
        with pytest.raises(ConnectionError):
            said(client)
    with connected(proxy) as client:
        assert said(client) == b"hello"


def test_a_refused_connection_is_reset_until_the_proxy_is_healed(proxy):
    proxy.refuse()
    with pytest.raises(ConnectionError), connected(proxy) as client:
        said(client)
    proxy.heal()
    with connected(proxy) as client:
        assert said(client) == b"hello"


def test_a_silent_connection_stays_silent_and_a_new_one_is_not_once_healed(proxy, server):
    with connected(proxy) as client:
        said(client)
        proxy.silence()
        client.settimeout(0.05)
        with pytest.raises(TimeoutError):
            said(client, b"lost")
        proxy.heal()
        with pytest.raises(TimeoutError):
            said(client, b"lost too")
        with connected(proxy) as other:
            assert said(other) == b"hello"
    assert b"lost" not in b"".join(server.heard)


def test_silence_in_one_direction_lets_requests_pass(proxy, server):
    proxy.silence(to_server=False)
    with connected(proxy) as client:
        client.settimeout(0.05)
        with pytest.raises(TimeoutError):
            said(client)
        blocking_until(lambda: server.heard == [b"hello"])


def test_a_lost_answer_follows_a_request_that_arrived(proxy, server):
    with connected(proxy) as client:
        said(client)
        proxy.lose_answers()
        with pytest.raises(ConnectionError):
            said(client, b"store this")
    assert server.heard == [b"hello", b"store this"]
    assert proxy.answers_lost == 1


def test_a_url_leads_through_the_proxy_by_the_same_account():
    with Proxy.before("postgresql://me:secret@127.0.0.1:5000/jobs?sslmode=disable") as proxy:
        assert proxy.server == ("127.0.0.1", 5000)
        assert proxy.url == f"postgresql://me:secret@127.0.0.1:{proxy.port}/jobs?sslmode=disable"
