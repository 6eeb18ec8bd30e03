"""Sockets that notice when the other side has gone without a word."""

import contextlib
import socket

#: Of silence before the first question, between questions, and how many; then the link is dead.
_IDLE_SECONDS, _INTERVAL_SECONDS, _QUESTIONS = 5, 3, 3
#: How long what was sent may go without being acknowledged.
_UNACKNOWLEDGED_MS = 10_000

_OPTIONS = (
    ("TCP_KEEPIDLE", _IDLE_SECONDS),
    ("TCP_KEEPINTVL", _INTERVAL_SECONDS),
    ("TCP_KEEPCNT", _QUESTIONS),
    ("TCP_USER_TIMEOUT", _UNACKNOWLEDGED_MS),
)


def keep_alive(sock: socket.socket) -> None:
    """Have the system ask a silent TCP link whether it lives, as far as the system can."""
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _OPTIONS:
            if (option := getattr(socket, name, None)) is not None:
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
