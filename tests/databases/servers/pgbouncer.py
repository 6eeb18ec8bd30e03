"""A private PgBouncer before a PostgreSQL server."""

import signal
from typing import ClassVar

import psycopg

from tests.databases.packages import PGBOUNCER, program
from tests.databases.servers.base import Server

_SETTINGS = """\
[databases]
windlass = host=127.0.0.1 port={server_port} dbname=windlass

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = md5
auth_file = {directory}/users
pool_mode = transaction
default_pool_size = 20
max_client_conn = 300
# Else each client waits for so long after the server was away.
server_login_retry = 1
"""


class PgbouncerServer(Server):
    kind: ClassVar = "postgresql"
    _stop_signal: ClassVar = signal.SIGTERM

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server
        self.user, self.password = server.user, server.password

    def _initialise(self) -> None:
        self._write("users", f'"{self.user}" "{self.password}"\n')

    def _command(self) -> list[str]:
        text = _SETTINGS.format(
            port=self.port, server_port=self._server.port, directory=self.directory
        )
        settings = self._write("pgbouncer.ini", text)
        return [str(program(PGBOUNCER, "pgbouncer")), str(settings)]

    def _connect(self) -> None:
        psycopg.connect(self.url, connect_timeout=2, prepare_threshold=None).close()
