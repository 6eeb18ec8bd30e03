"""Base of the two servers' supplies: one migrated database, wiped between tests."""

import secrets
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

from tests.databases.migrate import migrate
from tests.databases.supply.base import Supply

Row = Sequence[Any]


class ServerSupply(Supply):
    """Databases on one server, reached by the URL of an account that may create them.

    Wiping drops tables that tests added, empties the others and puts back the rows the
    migrations had left there. The table of a virtual clock stays, empty. A test that changed the schema in another way costs the next
    one a new database.
    """

    #: The type of the virtual clock's column.
    _clock_type: ClassVar[str]

    def __init__(self, url: str) -> None:
        self._server_url = url
        self._made: set[str] = set()
        self._home: str | None = None

    def migrated(self) -> str:
        if self._home is not None:
            self._end_other_sessions()
            self._drop_added_tables()
            if self._shape() == self._first_shape:
                self._wipe()
                return self._home
            self.drop(self._home)
        self._home = self._new_home()
        return self._home

    def empty(self) -> str:
        # Not from `random`, which every test process seeds alike.
        name = f"windlass_{secrets.token_hex(6)}"
        self._create(name)
        url = urlsplit(self._server_url)._replace(path=f"/{name}").geturl()
        self._made.add(url)
        return url

    def drop(self, url: str) -> None:
        self._drop(urlsplit(url).path.removeprefix("/"))
        self._made.discard(url)

    def close(self) -> None:
        for url in list(self._made):
            self.drop(url)

    def _new_home(self) -> str:
        url = self.empty()
        migrate(url)
        self._enter(url)
        # To create it for each test would have every statement planned anew.
        self._query(f"create table windlass_clock (at {self._clock_type} not null)")
        self._tables = self._list_tables()
        self._seeded = self._with_rows()
        for table in self._seeded:
            self._keep_a_copy(table)
        self._put_back = [self._put_back_rows(table) for table in self._seeded]
        self._first_shape = self._shape()
        return url

    def _drop_added_tables(self) -> None:
        for table in set(self._list_tables()) - set(self._tables):
            self._query(f"drop table {table}")

    def _wipe(self) -> None:
        changed = {*self._with_rows(), *self._seeded}
        self._execute_at_once(
            *(f"delete from {table}" for table in changed),
            *self._put_back,
        )

    def _with_rows(self) -> list[str]:
        looks = [f"(select '{table}' from {table} limit 1)" for table in self._tables]
        return [str(row[0]) for row in self._query(" union all ".join(looks))] if looks else []

    def _put_back_rows(self, table: str) -> str:
        columns = ", ".join(self._plain_columns(table))
        return f"insert into {table} ({columns}) select {columns} from {self._copy_of(table)}"

    @abstractmethod
    def _create(self, name: str) -> None: ...

    @abstractmethod
    def _drop(self, name: str) -> None:
        """Remove a database, ending the sessions in it."""

    @abstractmethod
    def _enter(self, url: str) -> None:
        """Make the database at `url` the one that the methods below work in."""

    @abstractmethod
    def _query(self, statement: str) -> Iterable[Row]:
        """Run a statement by itself and give its rows, if any."""

    @abstractmethod
    def _execute_at_once(self, *statements: str) -> None:
        """Run `statements` in one transaction, foreign keys and triggers asleep."""

    @abstractmethod
    def _end_other_sessions(self) -> None:
        """Cut off what an earlier test left behind: its locks, and writes still to come."""

    @abstractmethod
    def _list_tables(self) -> list[str]: ...

    @abstractmethod
    def _plain_columns(self, table: str) -> list[str]:
        """The columns of `table` that are not computed from others."""

    @abstractmethod
    def _copy_of(self, table: str) -> str:
        """Where the rows are kept that the migrations had left in `table`."""

    @abstractmethod
    def _keep_a_copy(self, table: str) -> None: ...

    @abstractmethod
    def _shape(self) -> object:
        """Equal as long as no table, column, index or routine has changed."""
