"""Test databases on a MariaDB server.

Counters (`auto_increment`, sequences) continue after a wipe.
"""

from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

import pymysql

from tests.databases.connect import connect_mariadb
from tests.databases.supply.server import Row, ServerSupply

_SHAPE = """
select concat_ws(' ', table_name, column_name, column_type, column_key)
  from information_schema.columns where table_schema = database()
 union all
select concat_ws(' ', routine_name, routine_definition)
  from information_schema.routines where routine_schema = database()
 union all
select concat_ws(' ', trigger_name, action_statement)
  from information_schema.triggers where trigger_schema = database()
"""


class MariadbSupply(ServerSupply):
    _clock_type = "datetime(6)"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._server = connect_mariadb(url)
        self._server.autocommit(True)

    def version(self) -> str:
        [(version,)] = self._query("select version()")
        return str(version).split("-")[0]

    def close(self) -> None:
        super().close()
        self._server.close()

    def _create(self, name: str) -> None:
        self._query(f"create database {name}")

    def _drop(self, name: str) -> None:
        self._end_sessions_in(name)  # a lock one holds would keep us waiting
        self._query(f"drop database if exists {name}")
        self._query(f"drop database if exists {name}_kept")

    def _enter(self, url: str) -> None:
        self._name = urlsplit(url).path.removeprefix("/")
        self._query(f"use {self._name}")
        self._query(f"create database {self._name}_kept")

    def _query(self, statement: str) -> Iterable[Row]:
        with self._server.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def _execute_at_once(self, *statements: str) -> None:
        self._query("set foreign_key_checks = 0")
        self._query("begin")
        for statement in statements:
            self._query(statement)
        self._query("commit")

    def _end_other_sessions(self) -> None:
        self._end_sessions_in(self._name)

    def _end_sessions_in(self, name: str) -> None:
        for (session,) in self._query(
            "select id from information_schema.processlist"
            f" where db = '{name}' and id <> connection_id()"
        ):
            with suppress(pymysql.OperationalError):  # it may have ended by itself
                self._query(f"kill {session}")

    def _list_tables(self) -> list[str]:
        rows = self._query(
            "select table_name from information_schema.tables"
            " where table_schema = database() and table_type = 'BASE TABLE'"
        )
        return [str(row[0]) for row in rows]

    def _plain_columns(self, table: str) -> list[str]:
        rows = self._query(
            "select concat('`', column_name, '`') from information_schema.columns"
            f" where table_schema = database() and table_name = '{table}'"
            " and coalesce(generation_expression, '') = ''"
        )
        return [str(row[0]) for row in rows]

    def _copy_of(self, table: str) -> str:
        return f"{self._name}_kept.{table}"

    def _keep_a_copy(self, table: str) -> None:
        self._query(f"create table {self._copy_of(table)} as select * from {table}")

    def _shape(self) -> object:
        return sorted(str(line) for (line,) in self._query(_SHAPE))
