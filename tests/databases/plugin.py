"""pytest's side: the fixtures, the choice of databases, and their servers' lifetime."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.databases.kinds import Database, Kind, NoDatabase, requested_kinds
from tests.databases.servers.run import Servers
from tests.databases.supply import MariadbSupply, PostgresSupply, SqliteSupply, Supply

SERVERS = pytest.StashKey[Servers]()


class Databases:
    """This test process's supply of each kind of database, opened when first needed."""

    def __init__(self, servers: Servers, directory: Path) -> None:
        self._servers = servers
        self._directory = directory
        self._supplies: dict[Kind, Supply] = {}

    def supply(self, kind: Kind) -> Supply:
        if kind not in self._supplies:
            self._supplies[kind] = self._open(kind)
        return self._supplies[kind]

    def close(self) -> None:
        with ExitStack() as stack:
            for supply in self._supplies.values():
                stack.callback(supply.close)

    def _open(self, kind: Kind) -> Supply:
        match kind:
            case "sqlite":
                return SqliteSupply(self._directory)
            case "postgresql":
                return PostgresSupply(self._servers.url(kind))
            case "mariadb":
                return MariadbSupply(self._servers.url(kind))


@pytest.fixture(scope="session")
def databases(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Databases]:
    """The supplies themselves, for what the fixtures below do not cover."""
    databases = Databases(pytestconfig.stash[SERVERS], tmp_path_factory.mktemp("databases"))
    yield databases
    databases.close()


@pytest.fixture(params=requested_kinds())
def database(request: pytest.FixtureRequest, databases: Databases) -> Database:
    """A migrated database with nothing in it; the test runs once on each kind.

    For one kind alone: `@pytest.mark.parametrize("database", ["mariadb"], indirect=True)`.
    """
    kind: Kind = request.param
    return Database(kind, databases.supply(kind).migrated())


@pytest.fixture
def new_database(databases: Databases) -> Iterator[Callable[[Kind], Database]]:
    """Makes databases without tables, dropped after the test."""
    with ExitStack() as created:

        def make(kind: Kind) -> Database:
            supply = databases.supply(kind)
            url = supply.empty()
            created.callback(supply.drop, url)
            return Database(kind, url)

        yield make


@pytest.fixture(scope="session")
def postgres_url(pytestconfig: pytest.Config) -> str:
    """The run's PostgreSQL server, by an account that may create databases."""
    return pytestconfig.stash[SERVERS].url("postgresql")


@pytest.fixture(scope="session")
def mariadb_url(pytestconfig: pytest.Config) -> str:
    """The run's MariaDB server, by an account that may create databases."""
    return pytestconfig.stash[SERVERS].url("mariadb")


def kind_of(item: pytest.Item) -> Kind | None:
    """The database `item` runs on, as its `database` parameter or its marker says."""
    if mark := item.get_closest_marker("database"):
        kind: Kind = mark.args[0]
        return kind
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("database") if callspec else None


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SERVERS] = Servers()


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[SERVERS].close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = {None, *requested_kinds()}
    unwanted = [item for item in items if kind_of(item) not in wanted]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)
        items[:] = [item for item in items if kind_of(item) in wanted]


def pytest_collection_finish(session: pytest.Session) -> None:
    # Before the first test, whose time limit an installation would exceed.
    if not session.config.option.collectonly:
        needed = {kind for item in session.items if (kind := kind_of(item))}
        _start(session.config, needed)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    # Once, before the test processes exist: they find the servers in their environment.
    _start(config, set(requested_kinds()))


def _start(config: pytest.Config, kinds: set[Kind]) -> None:
    try:
        config.stash[SERVERS].start(kinds)
    except NoDatabase as error:
        pytest.exit(f"no database, no test: {error}", returncode=pytest.ExitCode.INTERNAL_ERROR)
