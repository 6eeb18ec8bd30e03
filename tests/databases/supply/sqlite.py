"""SQLite files: a migrated one is created once and copied for each test."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.databases.migrate import migrate
from tests.databases.supply.base import Supply


class SqliteSupply(Supply):
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made = 0
        self._template: Path | None = None
        self._given: str | None = None

    def version(self) -> str:
        return sqlite3.sqlite_version

    def migrated(self) -> str:
        if self._template is None:
            self._template = self._migrated_file()
        if self._given is not None:
            self.drop(self._given)  # a run's files would add up to hundreds of megabytes
        path = self._new_path()
        shutil.copyfile(self._template, path)
        self._given = _url(path)
        return self._given

    def empty(self) -> str:
        return _url(self._new_path())

    def drop(self, url: str) -> None:
        shutil.rmtree(Path(url.removeprefix("sqlite:///")).parent, ignore_errors=True)

    def close(self) -> None:
        pass  # pytest removes the directory

    def _new_path(self) -> Path:
        # A directory of its own: journals and locks lie beside the file.
        self._made += 1
        directory = self._directory / str(self._made)
        directory.mkdir()
        return directory / "windlass.db"

    def _migrated_file(self) -> Path:
        path = self._new_path()
        migrate(_url(path))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("pragma wal_checkpoint(truncate)")  # only this file is copied
        return path


def _url(path: Path) -> str:
    return f"sqlite:///{path}"
