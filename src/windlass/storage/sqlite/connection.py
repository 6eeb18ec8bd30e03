"""One connection to the file, and how a verb runs on it. It belongs to one thread."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from windlass.storage.sql.batches import BATCHES
from windlass.storage.sql.statements import Rows, Statement
from windlass.storage.sqlite import dialect
from windlass.storage.sqlite.dialect import BatchTable
from windlass.storage.sqlite.files import create

MEMORY = ":memory:"

#: What the temporary tables of some batches must find fast, or hold once.
_CONSTRAINTS: Mapping[str, str] = {
    "jobs": ", unique (id) on conflict ignore",
    "finishes": ", unique (id, token) on conflict ignore",
    "ids": ", unique (id) on conflict ignore",
}
_SETTINGS = (
    "pragma synchronous = full",
    "pragma temp_store = memory",
    "pragma cache_size = -16384",
    # The writer copies the log back, under its lock, and nobody else; then it is cut to this size.
    "pragma wal_autocheckpoint = 0",
    "pragma journal_size_limit = 1048576",
    *(
        f"create table {dialect.table_name(name)} "
        f"({dialect.table_columns(shape)}{_CONSTRAINTS.get(name, '')})"
        for name, shape in BATCHES.items()
    ),
    "create index temp.batch_parents_child on batch_parents (child_id)",
    # The jobs a verb has picked, for verbs that cannot tell them by a condition.
    "create table temp.picked (row integer primary key, id text, line integer)",
)


class Connection:
    """A connection with our settings. `clock` is the SQL expression that tells the time."""

    def __init__(self, path: str, *, clock: str, deadline: float) -> None:
        if path != MEMORY:
            create(path)
        self.sql = sqlite3.connect(
            path, timeout=deadline, isolation_level=None, cached_statements=512
        )
        self._clock = f"select {clock}"
        try:
            for statement in _SETTINGS:
                self.sql.execute(statement)
        except sqlite3.Error:
            self.sql.close()
            raise

    def run(self, statements: Sequence[Statement], params: Mapping[str, Any]) -> Rows:
        """Run a verb's statements in the transaction that is open. Answers its rows."""
        values = {name: value for name, value in params.items() if name not in BATCHES}
        batches = {name: filling for name, filling in params.items() if name in BATCHES}
        if any("now_at" in statement.names for statement in statements):
            # Read once: what is due for one statement of a verb is due for all of them.
            [values["now_at"]] = self.sql.execute(self._clock).fetchone()
        for name, filling in batches.items():
            self._fill(name, filling)
        answer: Rows = []
        for statement in statements:
            cursor = self.sql.execute(statement.text, values)
            if statement.answers and cursor.description:
                names = [column[0] for column in cursor.description]
                answer = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        for name in batches:
            self.sql.execute(f"delete from {dialect.table_name(name)}")
        return answer

    @contextmanager
    def transaction(self, begin: str) -> Iterator[None]:
        """A transaction that is committed, or rolled back when anything goes wrong."""
        self.sql.execute(begin)
        try:
            yield
            self.sql.execute("commit")
        except BaseException:
            # Some errors, such as a full disk, have rolled back already.
            if self.sql.in_transaction:
                self.sql.execute("rollback")
            raise

    def close(self) -> None:
        self.sql.close()

    def _fill(self, name: str, filling: BatchTable) -> None:
        table = dialect.table_name(name)
        self.sql.execute(f"delete from {table}")
        if filling.rows:
            places = ", ".join("?" * len(filling.columns))
            self.sql.executemany(
                f"insert into {table} ({', '.join(filling.columns)}) values ({places})",
                filling.rows,
            )
