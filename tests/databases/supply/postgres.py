"""Databases on a PostgreSQL server."""

from collections.abc import Iterable

import psycopg

from tests.databases.supply.server import Row, ServerSupply

_SHAPE = """
select md5(string_agg(line, ' ' order by line)) from (
    select concat(relname, relkind, attname, atttypid) as line
      from pg_attribute join pg_class c on c.oid = attrelid
     where relnamespace = current_schema()::regnamespace and attnum > 0
    union all
    select concat(proname, prosrc) from pg_proc
     where pronamespace = current_schema()::regnamespace
    union all
    select concat(tgname, tgrelid) from pg_trigger where not tgisinternal
) as lines
"""


class PostgresSupply(ServerSupply):
    """The account has to be a superuser: wiping puts foreign keys and triggers to sleep."""

    _clock_type = "timestamptz"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._server = psycopg.connect(url, autocommit=True)
        self._inside: psycopg.Connection | None = None
        #: Sessions that wiping leaves alone: idle ones, which a later test takes over.
        self.spared: set[int] = set()

    def version(self) -> str:
        return str(self._server.info.parameter_status("server_version")).split()[0]

    def close(self) -> None:
        super().close()
        self._server.close()

    def _create(self, name: str) -> None:
        # Copying files beats the default here, which writes each page to the log as well.
        copying = " strategy file_copy" if self._server.info.server_version >= 150000 else ""
        self._server.execute(f"create database {name} template template0{copying}".encode())

    def _drop(self, name: str) -> None:
        if self._inside is not None and self._inside.info.dbname == name:
            self._inside.close()
            self._inside = None
        self._server.execute(f"drop database if exists {name} with (force)".encode())

    def _enter(self, url: str) -> None:
        self._inside = psycopg.connect(url, autocommit=True)
        self._inside.execute("create schema kept")
        self._first_sequences = set(self._sequences())

    def _query(self, statement: str) -> Iterable[Row]:
        assert self._inside is not None
        result = self._inside.execute(statement.encode())
        return result.fetchall() if result.description else []

    def _execute_at_once(self, *statements: str) -> None:
        assert self._inside is not None
        with self._inside.transaction():
            self._inside.execute("set local session_replication_role = replica")
            for statement in (*statements, *self._resets_of_sequences()):
                self._inside.execute(statement.encode())

    def _end_other_sessions(self) -> None:
        self._query(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
            " and backend_type = 'client backend'"
            f" and pid <> all ('{{{', '.join(map(str, self.spared))}}}'::int[])"
        )

    def _list_tables(self) -> list[str]:
        # Not the parents of partitions: their rows are found in the partitions.
        rows = self._query(
            "select quote_ident(relname) from pg_class"
            " where relnamespace = current_schema()::regnamespace and relkind = 'r'"
        )
        return [str(row[0]) for row in rows]

    def _plain_columns(self, table: str) -> list[str]:
        rows = self._query(
            "select quote_ident(attname) from pg_attribute"
            f" where attrelid = '{table}'::regclass and attnum > 0"
            " and not attisdropped and attgenerated = ''"
        )
        return [str(row[0]) for row in rows]

    def _copy_of(self, table: str) -> str:
        return f"kept.{table}"

    def _keep_a_copy(self, table: str) -> None:
        self._execute_at_once(f"create table {self._copy_of(table)} as table {table}")

    def _put_back_rows(self, table: str) -> str:
        insert = super()._put_back_rows(table)
        return insert.replace(") select ", ") overriding system value select ", 1)

    def _shape(self) -> object:
        return self._query(_SHAPE)

    def _sequences(self) -> Iterable[tuple[str, int, bool]]:
        """Name, value and whether that value was given out already."""
        rows = self._query(
            "select quote_ident(sequencename), coalesce(last_value, start_value),"
            " last_value is not null from pg_sequences where schemaname = current_schema()"
        )
        return [(name, value, used) for name, value, used in rows]

    def _resets_of_sequences(self) -> list[str]:
        moved = self._first_sequences - set(self._sequences())
        return [f"select setval('{name}', {value}, {used})" for name, value, used in moved]
