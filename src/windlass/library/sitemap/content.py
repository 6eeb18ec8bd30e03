"""Published content of the application, page by page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from windlass.library.data.source import Row, Source, SqlConnection
from windlass.library.data.tables import column_types

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Page:
    """A page for the sitemap. `path` is below the site's address; `problem` says why the page cannot
    be listed, or why its time is left out."""

    name: str
    path: str | None
    updated_at: datetime | None
    priority: float
    problem: str | None = None


class Content(Protocol):
    """Published content of the application."""

    def count(self, source: Source) -> int:
        """The number of pages, for progress."""
        ...

    def pages(self, source: Source) -> Iterator[Page]:
        """Every published page, read a batch at a time."""
        ...


@dataclass(frozen=True, kw_only=True)
class ContentTable:
    """A table of content. `model` is what the table of slugs calls its rows."""

    table: str
    model: str
    priority: float
    id: str = "id"
    status: str = "status"
    updated_at: str = "updated_at"


@dataclass(frozen=True, kw_only=True)
class SlugTable:
    """The table with the address of each content row: `{prefix}/{slug}`."""

    table: str = "slugs"
    slug: str = "key"
    prefix: str = "prefix"
    content_id: str = "reference_id"
    model: str = "reference_type"


_PAGES = ContentTable(table="pages", model="Pages", priority=0.8)
_POSTS = ContentTable(table="posts", model="Posts", priority=0.7)
_CATEGORIES = ContentTable(table="categories", model="Categories", priority=0.6)
_SLUGS = SlugTable()


@dataclass(frozen=True, kw_only=True)
class SqlContent:
    """Content in tables of the application, with its addresses in a table of slugs."""

    tables: Sequence[ContentTable] = (_PAGES, _POSTS, _CATEGORIES)
    slugs: SlugTable = _SLUGS
    published: str = "published"

    def count(self, source: Source) -> int:
        total = 0
        with source.transaction() as connection:
            for each in self.tables:
                column_types(connection, each.table, [each.id, each.status, each.updated_at])
                name, status = connection.quoted(each.table), connection.quoted(each.status)
                [row] = connection.rows(
                    f"select count(*) as pages from {name} where {status} = :status",
                    status=self.published,
                )
                total += int(row["pages"])
        return total

    def pages(self, source: Source) -> Iterator[Page]:
        for table in self.tables:
            after: Any = None
            while True:
                with source.transaction() as connection:
                    rows = self._batch(connection, table, after)
                for row in rows:
                    yield _page(table, row)
                if len(rows) < _BATCH:
                    break
                after = rows[-1]["id"]

    def _batch(self, connection: SqlConnection, table: ContentTable, after: Any) -> list[Row]:
        """The next rows by their ids, each with its first slug."""
        slugs = self.slugs
        column_types(connection, table.table, [table.id, table.status, table.updated_at])
        column_types(
            connection, slugs.table, [slugs.slug, slugs.prefix, slugs.content_id, slugs.model]
        )
        quoted = connection.quoted
        id = f"c.{quoted(table.id)}"
        values = {"status": self.published, "model": table.model}
        if after is not None:
            values["after"] = after
        slug_of = (
            f"from {quoted(slugs.table)} s where s.{quoted(slugs.content_id)} = {id} "
            f"and s.{quoted(slugs.model)} = :model order by s.{quoted(slugs.slug)} limit 1"
        )
        return connection.rows(
            f"select {id} as id, c.{quoted(table.updated_at)} as updated_at, "
            f"(select s.{quoted(slugs.slug)} {slug_of}) as slug, "
            f"(select s.{quoted(slugs.prefix)} {slug_of}) as prefix "
            f"from {quoted(table.table)} c where c.{quoted(table.status)} = :status "
            + (f"and {id} > :after " if after is not None else "")
            + f"order by {id} limit {_BATCH}",
            **values,
        )


def _page(table: ContentTable, row: Row) -> Page:
    name = f"{table.table} {row['id']}"
    if not row["slug"]:
        return Page(name, None, None, table.priority, "it has no slug")
    path = "/".join(str(part).strip("/") for part in (row["prefix"], row["slug"]) if part)
    try:
        return Page(name, path, _instant(row["updated_at"]), table.priority)
    except (ValueError, TypeError, OverflowError):
        return Page(name, path, None, table.priority, "its time of change cannot be read")


def _instant(value: Any) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    read = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
