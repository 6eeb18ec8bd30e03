"""Records the statements that Windlass sends to MariaDB, and explains them on the server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pymysql

from tests.databases.connect import connect_mariadb
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.sql.statements import Rows


@dataclass(frozen=True)
class Step:
    """One table of a plan, as the server explains it."""

    table: str
    access: str
    index: str | None
    extra: str


@contextmanager
def overheard() -> Iterator[list[str]]:
    """The statements sent inside the block, in order."""
    said: list[str] = []
    with messages() as sent:
        yield said
        said.extend(text for texts in sent for text in texts)


@contextmanager
def messages() -> Iterator[list[Sequence[str]]]:
    """The messages sent inside the block, each one statement or several."""
    sent: list[Sequence[str]] = []
    queries = MysqlConnection.queries

    def listen(self: MysqlConnection, texts: Sequence[str], *, last: bool = False) -> list[Rows]:
        sent.append(texts)
        return queries(self, texts, last=last)

    with patch.object(MysqlConnection, "queries", listen):
        yield sent


def plan(connection: "pymysql.Connection[Any]", statement: str) -> list[Step]:
    """The server's plan for a statement: the steps on Windlass's tables."""
    words = statement.split()
    if words[0] in ("begin", "commit", "rollback", "set", "kill"):
        return []
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute(f"explain {statement.removeprefix(NOTING)}")
        return [
            Step(row["table"], row["type"], row["key"], row["Extra"] or "")
            for row in cursor.fetchall()
            if row["table"] and not _made_up(row)
        ]


#: Start of statements that set a note; the server cannot explain that part.
NOTING = "/*M! set statement group_concat_max_len = 1073741824 for */\n"


def _made_up(row: dict[str, Any]) -> bool:
    # Where rows are stored, the table is named, but nothing in it is looked for.
    return (
        row["select_type"] == "INSERT"
        or row["table"].startswith("<")
        or "Table function" in (row["Extra"] or "")
    )


def connect(url: str) -> "pymysql.Connection[Any]":
    connection = connect_mariadb(url)
    connection.autocommit(True)
    return connection
