"""Straight to a test database, past the product."""

import sqlite3
from contextlib import closing
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
import pymysql
from pymysql.cursors import Cursor


def execute(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement on a connection of its own, commit, and give the rows if any."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
            return file.execute(statement).fetchall()
    if url.startswith("postgresql:"):
        with psycopg.connect(url) as postgres:
            result = postgres.execute(statement.encode())
            return result.fetchall() if result.description else []
    with closing(connect_mariadb(url)) as mariadb, mariadb.cursor() as cursor:
        cursor.execute(statement)
        mariadb.commit()
        return list(cursor.fetchall())


def connect_mariadb(url: str) -> "pymysql.Connection[Cursor]":
    """PyMySQL takes no URL; this one does."""
    parts = urlsplit(url)
    return pymysql.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=parts.path.removeprefix("/") or None,
        connect_timeout=5,
        ssl_disabled=True,  # else each connection loads the system's certificates: 20 ms
    )
