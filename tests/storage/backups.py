"""Backup and restore of a test's database, as an operator does it: into a database of its own."""

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg

from tests.databases.connect import connect_mariadb
from tests.databases.kinds import Database


class Backup:
    """One backup. `take` may run in a thread while the database is at work."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._file = folder / "backup"
        self._name = f"windlass_restored_{uuid4().hex[:12]}"

    def take(self) -> None:
        """Copy the database as it stands at one moment."""
        match self._database.kind:
            case "sqlite":
                with closing(_file(self._database.url)) as file:
                    file.execute("vacuum into ?", [str(self._file)])
            case "postgresql":
                _run("pg_dump", "--format=custom", f"--file={self._file}", self._database.url)
            case _:
                self._copy_mariadb()

    @contextmanager
    def restored(self) -> Iterator[Database]:
        """A new database with what the backup holds, removed afterwards."""
        kind = self._database.kind
        if kind == "sqlite":
            yield Database(kind, f"sqlite:///{self._file}")
            return
        url = _named(self._database.url, self._name)
        try:
            if kind == "postgresql":
                self._administer(f"create database {self._name}")
                _run("pg_restore", "--no-owner", f"--dbname={url}", str(self._file))
            yield Database(kind, url)
        finally:
            force = " with (force)" if kind == "postgresql" else ""
            self._administer(f"drop database if exists {self._name}{force}")

    def _copy_mariadb(self) -> None:
        # What mariadb-dump --single-transaction does: all tables as of one snapshot.
        with closing(connect_mariadb(self._database.url)) as old, old.cursor() as cursor:
            cursor.execute(f"create database {self._name}")
            cursor.execute("show full tables where table_type = 'BASE TABLE'")
            tables = [name for name, _ in cursor.fetchall()]
            for table in tables:
                cursor.execute(f"create table {self._name}.{table} like {table}")
            cursor.execute("set session transaction isolation level repeatable read")
            cursor.execute("start transaction with consistent snapshot")
            for table in tables:
                cursor.execute(
                    "select group_concat(concat('`', column_name, '`')) "
                    "from information_schema.columns where table_schema = database() "
                    "and table_name = %s and coalesce(generation_expression, '') = ''",
                    [table],
                )
                [(columns,)] = cursor.fetchall()
                cursor.execute(
                    f"insert into {self._name}.{table} ({columns}) select {columns} from {table}"
                )
            cursor.execute("show create view windlass_jobs")
            view = cursor.fetchall()[0][1].replace(
                f"`{urlsplit(self._database.url).path.removeprefix('/')}`", f"`{self._name}`"
            )
            cursor.execute(f"use {self._name}")
            cursor.execute(view)
            old.commit()

    def _administer(self, statement: str) -> None:
        url = self._database.url
        if self._database.kind == "postgresql":
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(statement.encode())
            return
        with closing(connect_mariadb(url)) as connection, connection.cursor() as cursor:
            cursor.execute(statement)


def _file(url: str) -> sqlite3.Connection:
    return sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, timeout=60)


def _named(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, env=os.environ | {"LC_ALL": "C"}, capture_output=True)
