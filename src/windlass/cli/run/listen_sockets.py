"""Listening sockets of the API, and their errors."""

import contextlib
import ipaddress
import socket

from windlass.errors import OptionInvalid, PortUnavailable

#: The number of ports to try, one after the other, when the port may differ.
_TRIES = 50


def listen(host: str, port: int, *, open_to_all: bool = False) -> socket.socket:
    """Open a listening socket. Raises PortUnavailable, or OptionInvalid if there would be no
    authentication on a public address."""
    if open_to_all:
        _check_loopback(host)
    try:
        return _listening(host, port)
    except OSError as error:
        raise PortUnavailable(host, port, cause=error) from None


def listen_near(host: str, port: int) -> socket.socket:
    """Like `listen`, at the next port that is free."""
    for number in range(port, min(port + _TRIES, 65_536)):
        with contextlib.suppress(OSError):
            return _listening(host, number)
    return listen(host, 0)


def address(listening: socket.socket) -> str:
    """The address for a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _check_loopback(host: str) -> None:
    """Without authentication, allow only loopback addresses."""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    if host != "localhost":
        raise OptionInvalid("host", host, allowed="127.0.0.1, ::1 or localhost with --no-auth")


def _listening(host: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
    except BaseException:
        listening.close()
        raise
    return listening
