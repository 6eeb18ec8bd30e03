"""Databases for tests, quickly.

Each test process has one supply for each kind of database. SQLite copies a migrated file.
On a server the process keeps one migrated database and wipes it between tests: making
one costs 45 ms on PostgreSQL and 200 ms on MariaDB, wiping it a few milliseconds.
"""

from tests.databases.supply.base import Supply
from tests.databases.supply.mariadb import MariadbSupply
from tests.databases.supply.postgres import PostgresSupply
from tests.databases.supply.sqlite import SqliteSupply

__all__ = ["MariadbSupply", "PostgresSupply", "SqliteSupply", "Supply"]
