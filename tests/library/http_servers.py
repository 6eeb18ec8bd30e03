"""Real HTTP servers on loopback addresses, which record what they get."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Received(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class HttpServer:
    """A server whose responses are given by a function of the request."""

    def __init__(self, respond: Callable[[Received], Any], host: str) -> None:
        self.received: list[Received] = []
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                got = Received(self.command, self.path, headers, body)
                received.append(got)
                status, headers, chunks = respond(got)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    for chunk in chunks:
                        self.wfile.write(chunk)
                except OSError:
                    pass  # the client has seen enough

            do_GET = do_POST = do_PUT = answer  # noqa: N815  the names that http.server calls

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator["HttpServer"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


@contextmanager
def serving(
    respond: Callable[[Received], Any] = lambda _: (200, {}, [b"ok"]), *, host: str = "127.0.0.1"
) -> Iterator[HttpServer]:
    """A server while the block lasts."""
    with HttpServer(respond, host).running() as server:
        yield server
