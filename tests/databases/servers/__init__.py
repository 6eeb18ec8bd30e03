"""Private PostgreSQL and MariaDB servers for a test or a whole test run.

    with postgres(durable=True) as server:
        ...  # server.url
        server.kill()     # as if the machine lost power
        server.start()

A server listens on loopback alone, asks for a password, never runs as root, and is gone
with its data when the block ends, or when the process that started it dies.
"""

from tests.databases.servers.base import Server
from tests.databases.servers.mariadb import MariadbServer
from tests.databases.servers.pgbouncer import PgbouncerServer
from tests.databases.servers.postgres import PostgresServer

__all__ = ["Server", "mariadb", "pgbouncer", "postgres"]


def postgres(*, durable: bool = False) -> Server:
    """A private PostgreSQL server; `durable` as in `Server`."""
    return PostgresServer(durable=durable)


def mariadb(*, durable: bool = False) -> Server:
    """A private MariaDB server; `durable` as in `Server`."""
    return MariadbServer(durable=durable)


def pgbouncer(server: Server) -> Server:
    """A private PgBouncer in transaction mode before a PostgreSQL server that runs."""
    return PgbouncerServer(server)
