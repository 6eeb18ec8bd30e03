"""A private PostgreSQL server."""

import signal
from typing import ClassVar

import psycopg

from tests.databases.packages import POSTGRES, program
from tests.databases.servers.base import Server

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    "shared_buffers": "128MB",
    # Far from UTC and from whole hours, so that a naive instant shows.
    "timezone": "Asia/Kathmandu",
    "log_timezone": "UTC",
}
_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class PostgresServer(Server):
    kind: ClassVar = "postgresql"
    _stop_signal: ClassVar = signal.SIGINT  # "fast": does not wait for clients to leave

    def _initialise(self) -> None:
        password = self._write("password", self.password)
        self._run_tool(
            program(POSTGRES, "initdb"),
            f"--pgdata={self._data}",
            f"--username={self.user}",
            f"--pwfile={password}",
            # scram would cost each of a test run's thousands of connections milliseconds.
            "--auth=md5",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        )

    def _command(self) -> list[str]:
        settings = {**_SETTINGS, "port": str(self.port), **({} if self.durable else _FAST)}
        return [
            str(program(POSTGRES, "postgres")),
            *("-D", str(self._data)),
            *(part for name, value in settings.items() for part in ("-c", f"{name}={value}")),
        ]

    def _connect(self) -> None:
        maintenance = self.url.removesuffix("windlass") + "postgres"
        with psycopg.connect(maintenance, connect_timeout=2, autocommit=True) as connection:
            found = connection.execute("select from pg_database where datname = 'windlass'")
            if not found.rowcount:
                connection.execute("create database windlass")
