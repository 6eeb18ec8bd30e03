"""Waits for a nudge: in this process directly, from others by a datagram to a socket file.

The sockets of all who watch a database lie in one folder, which only this user can enter. Nudges
save time and are never needed, so wherever something fails here nothing happens.
"""

import asyncio
import contextlib
import hashlib
import os
import secrets
import socket
import stat
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from windlass.storage.connection.pending_nudges import PendingWakeups

_MOST_AT_ONCE = 100
_MOST_BYTES = 4096
_EVERYTHING = b"*"


class SqliteWatch:
    """Hears nudges about a database file while it is open, by a socket in `folder`.

    Without a folder, or where there are no such sockets, only those of this process.
    """

    def __init__(
        self,
        folder: Path | None,
        queues: Sequence[str] | None,
        forget: "Callable[[SqliteWatch], None]",
    ) -> None:
        self._queues = None if queues is None else frozenset({*queues, "*"})
        self._forget = forget
        self._names = PendingWakeups()
        self._loop = asyncio.get_running_loop()
        self._socket: socket.socket | None = None
        self.path: Path | None = None
        if folder is not None:
            # Without sockets of files, or where none may be made, polling has to do.
            with contextlib.suppress(OSError, NotImplementedError, AttributeError):
                folder.parent.mkdir(mode=0o700, exist_ok=True)
                _check_private(folder.parent)
                folder.mkdir(mode=0o700, exist_ok=True)
                self._bind(folder)

    async def wait(self, timeout: float) -> Collection[str]:
        return await self._names.wait(timeout)

    async def close(self) -> None:
        self._forget(self)
        if self._socket is not None:
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._socket = None
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
                self.path.parent.rmdir()  # fails while others watch

    def heard(self, queues: Iterable[str]) -> None:
        """There may be work in these queues ("*" among them: in any)."""
        self._names.add(queues if self._queues is None else self._queues.intersection(queues))

    def _bind(self, folder: Path) -> None:
        path = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
        listener = _datagrams()
        try:
            listener.bind(str(path))
            self._loop.add_reader(listener, self._receive, listener)
        except BaseException:
            listener.close()
            raise
        self._socket, self.path = listener, path

    def _receive(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            # Not without end, however fast others tell: what is left is read in the next round.
            for _ in range(_MOST_AT_ONCE):
                self.heard(listener.recv(_MOST_BYTES).decode().split("\n"))


def nudge(folder: Path, queues: Sequence[str], *, but: Iterable[Path | None]) -> None:
    """Tell everybody who has a socket in the folder, `but` those already told. Sockets nobody
    listens at any more are removed."""
    told = "\n".join(queues).encode()
    message = told if len(told) <= _MOST_BYTES else _EVERYTHING
    already = set(but)
    with contextlib.suppress(OSError, AttributeError), _datagrams() as sender:
        _check_private(folder.parent)
        for listener in list(folder.iterdir()):
            if listener not in already:
                _tell(sender, listener, message)


def listeners_folder(path: str) -> Path | None:
    """Where the sockets of all who watch the file lie; it exists as long as somebody does. None on a
    machine without a folder for temporary files."""
    with contextlib.suppress(OSError):
        name = hashlib.sha256(path.encode()).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"windlass-{os.getuid()}" / name
    return None


def _tell(sender: socket.socket, listener: Path, message: bytes) -> None:
    try:
        sender.sendto(message, str(listener))
    except ConnectionRefusedError:
        listener.unlink(missing_ok=True)
    except OSError:
        pass  # it has nudges enough, or has just left


def _check_private(home: Path) -> None:
    about = home.lstat()
    closed = not about.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or not closed:
        raise PermissionError(f"{home} is not ours alone")


def _datagrams() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made
