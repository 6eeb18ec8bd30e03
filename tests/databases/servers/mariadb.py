"""A private MariaDB server."""

import signal
from typing import ClassVar

from tests.databases.connect import connect_mariadb
from tests.databases.packages import MARIADB, program
from tests.databases.servers.base import Server

# No configuration file is read, so character set and collation are the server's built-in
# ones (latin1 up to MariaDB 11.5): tables have to name their own.
_SETTINGS = [
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--max-connections=300",
    "--innodb-buffer-pool-size=256M",
    "--innodb-log-file-size=64M",
    # Far from UTC and from whole hours, so that a naive instant shows.
    "--default-time-zone=+05:45",
]
_FAST = ["--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"]


class MariadbServer(Server):
    kind: ClassVar = "mariadb"
    _stop_signal: ClassVar = signal.SIGTERM

    def _initialise(self) -> None:
        self._write(
            "init.sql",
            f"create or replace user {self.user}@'127.0.0.1' identified by '{self.password}';\n"
            f"grant all on *.* to {self.user}@'127.0.0.1' with grant option;\n"
            f"alter user root@localhost identified by '{self.password}';\n"
            "create database if not exists windlass;\n",
        )
        self._run_tool(
            program(MARIADB, "mariadb-install-db"),
            "--no-defaults",
            f"--datadir={self._data}",
            "--auth-root-authentication-method=normal",
            "--skip-name-resolve",
            "--skip-test-db",
        )

    def _command(self) -> list[str]:
        return [
            str(program(MARIADB, "mariadbd")),
            "--no-defaults",
            f"--datadir={self._data}",
            # A server empties its temporary directory at start, even if another process uses it.
            f"--tmpdir={self.directory}",
            f"--port={self.port}",
            f"--socket={self.directory}/socket",
            f"--pid-file={self.directory}/pid",
            f"--init-file={self.directory}/init.sql",
            *_SETTINGS,
            *([] if self.durable else _FAST),
        ]

    def _connect(self) -> None:
        connect_mariadb(self.url).close()
