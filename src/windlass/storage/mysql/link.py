"""One connection to the server, used by one thread at a time."""

import contextlib
import select
import socket
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions

from windlass.storage.address import Address
from windlass.storage.mysql.faults import LOCK_WAIT, already_so
from windlass.storage.mysql.literal import filled
from windlass.storage.sql import Rows, Statement

#: Longest wait for the server's answer, in seconds; whoever waits for us gives up a little earlier.
SILENCE = 65
CONNECT_WAIT = 10

_SESSION = (
    "set session sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
    "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', "
    f"innodb_lock_wait_timeout = {LOCK_WAIT}, wait_timeout = 28800, "
    "group_concat_max_len = 1073741824",
    # Nothing here relies on a snapshot, and its absence is what keeps locks few.
    "set session transaction isolation level read committed",
)
_CONVERSIONS: Mapping[Any, Callable[..., Any]] = {
    **conversions,
    FIELD_TYPE.DATETIME: datetime.fromisoformat,
}
#: Parts of a URL's query that the driver understands.
_OPTIONS = (
    "unix_socket",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
    "ssl_verify_cert",
    "ssl_verify_identity",
)


class Link:
    """Connects when it is made; every method but the last four may wait for the server."""

    def __init__(self, address: Address, *, name: str) -> None:
        options: dict[str, Any] = {
            option: address.options[option] for option in _OPTIONS if option in address.options
        }
        # Any: some of what is needed below is not in the driver's stubs.
        self._connection: Any = pymysql.connect(
            host=address.host,
            port=address.port or 3306,
            user=address.user,
            password=address.password,
            database=address.name or None,
            charset="utf8mb4",
            autocommit=True,
            conv=dict(_CONVERSIONS),
            connect_timeout=CONNECT_WAIT,
            read_timeout=SILENCE,
            write_timeout=SILENCE,
            program_name=name,
            **options,
        )
        self.in_transaction = False
        for statement in _SESSION:
            self.query(statement)
        self.number: int = self._connection.thread_id()  # type: ignore[no-untyped-call]  # its stub
        [row] = self.query("select @@max_allowed_packet as packet")
        #: Bytes that one statement may have.
        self.packet = int(row["packet"])

    def query(self, text: str) -> Rows:
        """Run one statement; its rows, if it has any to give."""
        with self._connection.cursor() as cursor:
            cursor.execute(text)
            if not cursor.description:
                return []
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def ask(self, statement: Statement, **values: Any) -> Rows:
        """Run one statement of a file with these values."""
        return self.query(filled(statement, values))

    def begin(self) -> None:
        self.query("begin")
        self.in_transaction = True

    def commit(self) -> None:
        self.query("commit")
        self.in_transaction = False

    def rollback(self) -> None:
        self.query("rollback")
        self.in_transaction = False

    def migrate(self, statements: Sequence[str]) -> None:
        """Run statements of a migration; those that were run before are left out."""
        for statement in statements:
            try:
                self.query(statement)
            except pymysql.Error as error:
                if not already_so(error):
                    raise

    @property
    def usable(self) -> bool:
        """Whether the connection can be given to somebody: open, and with nothing under way."""
        sock = self._socket()
        if sock is None or self.in_transaction:
            return False
        # A server says nothing unasked, except that it has gone.
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return not poll.poll(0)

    def sever(self) -> None:
        """Wake the thread that waits for the server, from any other thread."""
        if sock := self._socket():
            with contextlib.suppress(OSError):
                # Not the method of an encrypted socket: that one is not made for two threads.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        """Say goodbye and close; for a connection with nothing under way."""
        with contextlib.suppress(pymysql.Error):
            self._connection.close()

    def drop(self) -> None:
        """Close without a word, whatever is under way."""
        self.sever()
        self.close()

    def _socket(self) -> socket.socket | None:
        sock: socket.socket | None = self._connection._sock
        return sock
