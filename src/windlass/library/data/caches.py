"""Caches of the application: in files and in a table, with tags and expiry."""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol

from windlass import clock
from windlass.library.data.directories import FoundFile, check_directory, files_beneath
from windlass.library.data.expiry import BATCH
from windlass.library.data.source import Source, SqlConnection
from windlass.library.data.tables import column_types, delete_rows, is_past

_HEAD_BYTES = 4096
_MOST_PROBLEMS = 20


@dataclass
class Cleared:
    """The result of clearing: removed entries, and problems with others."""

    entries: int = 0
    failed: int = 0
    problems: list[str] = field(default_factory=list)

    def failure(self, what: str, error: Exception) -> None:
        """Count an entry that could not be removed; the first ones are kept by name."""
        self.failed += 1
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(f"{what}: {type(error).__name__}: {error}")


class Cache(Protocol):
    """A cache of the application."""

    def clear(
        self, source: Source, tags: Sequence[str] | None, between: Callable[[], None]
    ) -> Cleared:
        """Remove the entries that have one of the tags, or all if `tags` is None. Calls `between`
        now and then, which may raise to stop."""
        ...

    def clear_expired(self, source: Source, between: Callable[[], None]) -> Cleared:
        """Remove the entries that have expired, and only these."""
        ...


@dataclass(frozen=True)
class FileCache:
    """A directory with a file for each entry, in folders or not.

    A file begins with a line of JSON that has `expires_at` (seconds since 1970, or null) and
    `tags`, as `put` writes it; or with the ten digits of its expiry, and then it has no tags. Other
    files are removed only when everything is cleared.
    """

    directory: str
    #: Where the directory is configured, for errors.
    setting: str = "the directory of this FileCache"

    def put(
        self, key: str, value: bytes, *, seconds: float | None = None, tags: Sequence[str] = ()
    ) -> None:
        """Store an entry, for so many seconds or for good."""
        expires = None if seconds is None else clock.utcnow().timestamp() + seconds
        head = json.dumps({"expires_at": expires, "tags": list(tags)}).encode() + b"\n"
        if len(head) > _HEAD_BYTES:
            raise ValueError(f"the tags of a cache entry take more than {_HEAD_BYTES:,} bytes")
        written, name = tempfile.mkstemp(dir=self.directory)
        with os.fdopen(written, "wb") as file:
            file.write(head + value)
        os.replace(name, self._path(key))

    def get(self, key: str) -> bytes | None:
        """The value of an entry; None if there is none, or it has expired."""
        try:
            with open(self._path(key), "rb") as file:
                expires, _ = _head(file.readline(_HEAD_BYTES))
                return (
                    file.read() if expires is None or expires > clock.utcnow().timestamp() else None
                )
        except FileNotFoundError:
            return None

    def clear(
        self, source: Source, tags: Sequence[str] | None, between: Callable[[], None]
    ) -> Cleared:
        wanted = None if tags is None else set(tags)
        return self._remove(
            lambda file: wanted is None or bool(wanted & _head(file.head(_HEAD_BYTES))[1]), between
        )

    def clear_expired(self, source: Source, between: Callable[[], None]) -> Cleared:
        now = clock.utcnow().timestamp()

        def has_expired(file: FoundFile) -> bool:
            expires, _ = _head(file.head(_HEAD_BYTES))
            return expires is not None and expires <= now

        return self._remove(has_expired, between)

    def _remove(self, wanted: Callable[[FoundFile], bool], between: Callable[[], None]) -> Cleared:
        check_directory(self.directory, setting=self.setting)
        cleared = Cleared()
        for file in files_beneath(self.directory):
            between()
            try:
                cleared.entries += wanted(file) and file.remove()
            except FileNotFoundError:
                continue
            except OSError as error:
                cleared.failure(file.path, error)
        return cleared

    def _path(self, key: str) -> str:
        return os.path.join(self.directory, sha256(key.encode()).hexdigest())


@dataclass(frozen=True, kw_only=True)
class TableCache:
    """A table with a row for each entry. `tags`, if there is one, is a table with a row for each key
    and tag."""

    table: str = "cache"
    key: str = "key"
    expires_at: str = "expiration"
    tags: str | None = None
    tag_key: str = "key"
    tag: str = "tag"

    def clear(
        self, source: Source, tags: Sequence[str] | None, between: Callable[[], None]
    ) -> Cleared:
        if tags is None:
            return self._delete(source, lambda *_: "1 = 1", {}, between)
        if self.tags is None or not tags:
            return Cleared()
        values = {f"tag_{number}": tag for number, tag in enumerate(tags)}

        def tagged(connection: SqlConnection, _: str) -> str:
            column_types(connection, str(self.tags), [self.tag_key, self.tag])
            key, table, tag_key, tag = map(
                connection.quoted, (self.key, str(self.tags), self.tag_key, self.tag)
            )
            marks = ", ".join(f":{name}" for name in values)
            return f"{key} in (select {tag_key} from {table} where {tag} in ({marks}))"

        return self._delete(source, tagged, values, between)

    def clear_expired(self, source: Source, between: Callable[[], None]) -> Cleared:
        return self._delete(
            source,
            lambda connection, kind: is_past(connection, self.expires_at, kind, 0),
            {},
            between,
        )

    def _delete(
        self,
        source: Source,
        condition: Callable[[SqlConnection, str], str],
        values: dict[str, Any],
        between: Callable[[], None],
    ) -> Cleared:
        cleared = Cleared()
        while True:
            between()
            with source.transaction() as connection:
                types = column_types(connection, self.table, [self.key, self.expires_at])
                where = condition(connection, types[self.expires_at])
                gone = delete_rows(connection, self.table, where, most=BATCH, **values)
            cleared.entries += gone
            if gone < BATCH:
                break
        if self.tags is not None:
            self._delete_tags(source, self.tags, between)
        return cleared

    def _delete_tags(self, source: Source, tags: str, between: Callable[[], None]) -> None:
        """Delete the tags of entries that are gone."""
        gone = BATCH
        while gone == BATCH:
            between()
            with source.transaction() as connection:
                table, key = connection.quoted(self.table), connection.quoted(self.key)
                tag_key = connection.quoted(self.tag_key)
                orphaned = f"{tag_key} not in (select {key} from {table} where {key} is not null)"
                gone = delete_rows(connection, tags, orphaned, most=BATCH)


def _head(text: bytes) -> tuple[float | None, set[str]]:
    """Expiry and tags of a cache file; none of both if it is no such file."""
    if text[:10].isdigit() and len(text) >= 10:
        return float(text[:10]), set()
    try:
        read = json.loads(text.partition(b"\n")[0])
        expires, tags = read["expires_at"], read["tags"]
        return (None if expires is None else float(expires)), {str(tag) for tag in tags}
    except (ValueError, LookupError, TypeError):
        return None, set()
