"""The application's databases under test, each reached in the ways that a source may be."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from tests.databases.connect import execute
from tests.databases.kinds import Database
from tests.support.app_fixtures import connect

#: The type of an instant on each database, and how to write one that lies in the past or future.
INSTANT = {
    "sqlite": ("text", "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '{:+d} seconds')"),
    "postgresql": ("timestamptz", "now() + interval '{:+d} seconds'"),
    "mariadb": ("datetime(6)", "utc_timestamp(6) + interval {:d} second"),
}


def engine(database: Database) -> sa.Engine:
    """SQLAlchemy on the same database, blocking."""
    driver = {"sqlite": "pysqlite", "postgresql": "psycopg", "mariadb": "pymysql"}[database.kind]
    scheme, _, rest = database.url.partition("://")
    dialect = "mysql" if database.kind == "mariadb" else scheme
    # Without a pool: no connection outlives the test.
    return sa.create_engine(f"{dialect}+{driver}://{rest}", poolclass=sa.NullPool)


#: A kind of source -> makes it.
SOURCES: dict[str, Callable[[Database], Any]] = {
    "engine": engine,
    "function": lambda database: lambda: connect(database),
    "url": lambda database: database.url,
}


class Table:
    """A table of the application, with dates relative to now in seconds."""

    def __init__(self, database: Database, name: str, *columns: str, kind: str = "") -> None:
        self._database, self._name, self._columns = database, name, columns
        usual, self._instant = INSTANT[database.kind]
        dates = "".join(f", {column} {kind or usual} null" for column in columns)
        execute(database.url, f"create table {name} (id integer primary key{dates})")

    def add(self, id: int, *seconds: int | None) -> None:
        """Add a row with dates in so many seconds from now; None is no date."""
        dates = [
            "null" if each is None else self._instant.format(each)
            for each in (*seconds, *[None] * (len(self._columns) - len(seconds)))
        ]
        execute(self._database.url, f"insert into {self._name} values ({id}, {', '.join(dates)})")

    def fill(self, first: int, last: int, seconds: int) -> None:
        """Add many rows with one date."""
        when = self._instant.format(seconds)
        values = ", ".join(f"({id}, {when})" for id in range(first, last))
        execute(
            self._database.url, f"insert into {self._name} (id, {self._columns[0]}) values {values}"
        )

    @property
    def ids(self) -> list[int]:
        rows = execute(self._database.url, f"select id from {self._name} order by id")
        return [row[0] for row in rows]
