"""The servers of one test run."""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from tests.databases.kinds import URL_VARIABLES, Kind, NoDatabase, requested_kinds
from tests.databases.packages import FAKETIME, MARIADB, PGBOUNCER, POSTGRES, ensure
from tests.databases.servers.base import Server
from tests.databases.servers.mariadb import MariadbServer
from tests.databases.servers.postgres import PostgresServer

_SERVERS: dict[Kind, type[Server]] = {"postgresql": PostgresServer, "mariadb": MariadbServer}
_PRODUCTS = {"postgresql": (POSTGRES, PGBOUNCER, FAKETIME), "mariadb": (MARIADB, FAKETIME)}


class Servers:
    """Servers named in the environment, else private ones that start when first needed.

    The URL of a private one is put into the environment, so that child processes share it.
    """

    def __init__(self) -> None:
        self._started = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self, kinds: Iterable[Kind]) -> None:
        """Have the servers of `kinds` ready; SQLite needs none."""
        missing = [k for k in kinds if k in _SERVERS and not os.environ.get(URL_VARIABLES[k])]
        ensure(product for kind in missing for product in _PRODUCTS[kind])
        for kind in missing:
            server = self._started.enter_context(_SERVERS[kind]())
            os.environ[URL_VARIABLES[kind]] = server.url
            self._started.callback(os.environ.pop, URL_VARIABLES[kind])

    def url(self, kind: Kind) -> str:
        """URL on the server of `kind`, of an account that may create databases."""
        if kind not in requested_kinds():
            raise NoDatabase(
                f"this run was not asked for {kind}: give the test the `database` fixture or "
                f"@pytest.mark.database({kind!r}), so that it is deselected"
            )
        self.start([kind])
        return os.environ[URL_VARIABLES[kind]]

    def close(self) -> None:
        self._started.close()
