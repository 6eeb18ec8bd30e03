"""One connection to the server, used by one thread at a time."""

import contextlib
import select
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pymysql
from pymysql.constants import CLIENT, FIELD_TYPE
from pymysql.converters import conversions

from windlass.storage.connection import deadlines
from windlass.storage.connection.address import Address
from windlass.storage.connection.deadlines import LONG
from windlass.storage.connection.keepalive import keep_alive
from windlass.storage.mysql.faults import LOCK_WAIT, is_already_applied
from windlass.storage.mysql.sql_literals import interpolate
from windlass.storage.sql.statements import Rows, Statement

#: Longest wait for the server's response, in seconds; our callers give up a little earlier.
_SILENCE = LONG + 5
#: Seconds after which the server ends an idle transaction, so that its locks are free.
_IDLE_IN_TRANSACTION = 20

_SESSION = (
    "set session sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
    "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', "
    f"innodb_lock_wait_timeout = {LOCK_WAIT}, wait_timeout = 28800, "
    f"group_concat_max_len = 1073741824 /*M!100300 , idle_transaction_timeout = {_IDLE_IN_TRANSACTION} */",
    # Nothing here relies on a snapshot, and without one there are fewer locks.
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


class _Connection(pymysql.Connection):
    """A connection that does not load certificates if none is checked."""

    def _create_ssl_ctx(self, options: Any) -> ssl.SSLContext:
        if options:
            context: ssl.SSLContext = super()._create_ssl_ctx(options)  # type: ignore[misc]  # its stub
            return context
        # As the driver does: encrypted if the server can, without checking its identity.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context


class MysqlConnection:
    """Connects when it is created; every method but the last four may wait for the server."""

    def __init__(self, address: Address, *, name: str) -> None:
        options: dict[str, Any] = {
            option: address.options[option] for option in _OPTIONS if option in address.options
        }
        # Any: the driver's stubs lack some attributes used below.
        self._connection: Any = _Connection(
            host=address.host,
            port=address.port or 3306,
            user=address.user,
            password=address.password,
            database=address.name or None,
            charset="utf8mb4",
            autocommit=True,
            client_flag=CLIENT.MULTI_STATEMENTS,
            conv=dict(_CONVERSIONS),
            connect_timeout=deadlines.CONNECT,
            read_timeout=deadlines.CONNECT,
            write_timeout=deadlines.CONNECT,
            program_name=name,
            **options,
        )
        #: True if it led to an unusable server.
        self.spent = False
        self.in_transaction = False
        #: True if the open transaction belongs to one verb and ends with its last statement.
        self._one_verb = False
        self._to_begin = False
        #: The queues that the last survey on this connection found.
        self.queues_met: Sequence[str] = ()
        try:
            self.queries(_SESSION)
            self.number: int = self._connection.thread_id()  # type: ignore[no-untyped-call]  # its stub
            [row] = self.query("select @@max_allowed_packet as packet")
        except BaseException:
            self.drop()
            raise
        #: Longest statement in bytes.
        self.packet = int(row["packet"])
        connection: Any = self._connection
        connection._read_timeout = connection._write_timeout = _SILENCE
        if sock := self._socket():
            keep_alive(sock)

    def query(self, text: str) -> Rows:
        """Run one statement; returns its rows, if it has any."""
        return self.queries([text])[0]

    def queries(self, texts: Sequence[str], *, last: bool = False) -> list[Rows]:
        """Run several statements with one message to the server; returns the rows of each. Stops at
        the first that fails. If they are the `last` of a verb, commits its transaction too."""
        begin, commit = self._to_begin, last and self._one_verb
        # Even if the message fails: the caller that began the transaction rolls it back.
        self._to_begin = False
        sent = [*(["begin"] if begin else []), *texts, *(["commit"] if commit else [])]
        self._connection.query(";\n".join(sent))
        results = [self._rows()]
        while self._connection._result.has_next:
            self._connection.next_result()
            results.append(self._rows())
        if commit:
            self.in_transaction = False
        return results[int(begin) : int(begin) + len(texts)]

    def ask(self, statement: Statement, **values: Any) -> Rows:
        """Run one statement of a file with these values."""
        return self.query(interpolate(statement, values))

    def begin(self, *, one_verb: bool = False) -> None:
        """Open a transaction together with the next statement, without an extra message."""
        self._to_begin = self.in_transaction = True
        self._one_verb = one_verb

    def commit(self) -> None:
        """Commit, unless the last statement already has."""
        self._end("commit")

    def rollback(self) -> None:
        self._end("rollback")

    def migrate(self, statements: Sequence[str]) -> None:
        """Run statements of a migration; skips those that were applied before."""
        for statement in statements:
            try:
                self.query(statement)
            except pymysql.Error as error:
                if not is_already_applied(error):
                    raise

    @property
    def usable(self) -> bool:
        """Check that the connection is open and idle."""
        sock = self._socket()
        if sock is None or self.in_transaction or self.spent:
            return False
        # An idle connection is readable only if the server has closed it.
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return not poll.poll(0)

    def sever(self) -> None:
        """Wake the thread that waits for the server, from any other thread."""
        if sock := self._socket():
            with contextlib.suppress(OSError):
                # Not the method of an encrypted socket: it is not safe for two threads.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def close(self) -> None:
        """Send COM_QUIT and close an idle connection."""
        with contextlib.suppress(pymysql.Error):
            self._connection.close()

    def drop(self) -> None:
        """Close at once without COM_QUIT, whatever is running."""
        self.sever()
        self.close()

    def _end(self, how: str) -> None:
        if self.in_transaction and not self._to_begin:
            self.query(how)
        self.in_transaction = self._to_begin = False

    def _rows(self) -> Rows:
        result = self._connection._result
        if not result.description:
            return []
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.rows]

    def _socket(self) -> socket.socket | None:
        sock: socket.socket | None = self._connection._sock
        return sock


def plain_connection(address: Address) -> Any:
    """A driver's connection without our settings, for tables that belong to an application."""
    return _Connection(
        host=address.host,
        port=address.port or 3306,
        user=address.user,
        password=address.password,
        database=address.name or None,
        charset="utf8mb4",
        connect_timeout=deadlines.CONNECT,
        read_timeout=_SILENCE,
        write_timeout=_SILENCE,
    )
