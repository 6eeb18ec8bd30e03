"""Tables of the application: their columns, and rows that are past their time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from windlass.errors import TableMissing
from windlass.library.data.source import Source, SqlConnection

_COLUMNS = {
    "postgresql": (
        "select attname as name, format_type(atttypid, null) as type from pg_attribute "
        "where attrelid = to_regclass(:quoted) and attnum > 0 and not attisdropped"
    ),
    "mysql": (
        "select column_name as name, data_type as type from information_schema.columns "
        "where table_schema = coalesce(:place, database()) and table_name = :bare"
    ),
    "sqlite": "select name, type from pragma_table_info(:bare, coalesce(:place, 'main'))",
}
_NUMBERS = ("int", "real", "numeric", "double", "float", "decimal")


class ExpiringRows(Protocol):
    """Rows of the application that a clean-up deletes."""

    def delete_batch(self, source: Source, *, age: timedelta, most: int) -> int:
        """Delete at most `most` rows that were past their time `age` ago; returns how many."""
        ...


@dataclass(frozen=True, kw_only=True)
class DateRule:
    """A row goes if the instant in `column` was past `age` ago, or without `aged` now; with a `flag`
    only if that column is true."""

    column: str
    aged: bool = True
    flag: str | None = None


@dataclass(frozen=True)
class ExpiringTable:
    """A table whose rows go when one of its `dates` is past.

    A date may have any type that the database has for instants, without a zone in UTC; ISO text in
    SQLite; or a number, of seconds since 1970. A row without a date stays.
    """

    table: str
    dates: Sequence[DateRule]

    def delete_batch(self, source: Source, *, age: timedelta, most: int) -> int:
        with source.transaction() as connection:
            needed = [name for each in self.dates for name in (each.column, each.flag) if name]
            types = column_types(connection, self.table, needed)
            past = " or ".join(
                _is_due(connection, each, types[each.column], age) for each in self.dates
            )
            return delete_rows(connection, self.table, f"({past})", most=most)


def _is_due(connection: SqlConnection, rule: DateRule, kind: str, age: timedelta) -> str:
    seconds = int(age.total_seconds()) if rule.aged else 0
    past = is_past(connection, rule.column, kind, seconds)
    return past if rule.flag is None else f"({connection.quoted(rule.flag)} and {past})"


def column_types(
    connection: SqlConnection, table: str, needed: Sequence[str] = ()
) -> dict[str, str]:
    """The types of a table's columns by name. TableMissing names what is not there."""
    place, _, bare = table.rpartition(".")
    values = {"quoted": connection.quoted(table), "place": place or None, "bare": bare}
    sql = _COLUMNS[connection.database]
    used = {name: value for name, value in values.items() if f":{name}" in sql}
    types = {str(row["name"]): str(row["type"]).lower() for row in connection.rows(sql, **used)}
    if not types:
        raise TableMissing(table)
    for column in needed:
        if column not in types:
            raise TableMissing(table, column=column)
    return types


def is_past(connection: SqlConnection, column: str, kind: str, seconds: int) -> str:
    """The condition that a column's instant was past `seconds` ago, by the database's clock."""
    name = connection.quoted(column)
    is_number = any(word in kind for word in _NUMBERS)
    match connection.database:
        case "postgresql":
            now = "now()" if kind.endswith("with time zone") else "(now() at time zone 'UTC')"
            if is_number:
                return f"{name} < extract(epoch from now()) - {seconds}"
            return f"{name} < {now} - interval '{seconds} seconds'"
        case "mysql":
            if is_number:
                return f"{name} < unix_timestamp() - {seconds}"
            # A TIMESTAMP is shown in the session's zone, and a DATETIME as it was stored.
            now = "now(6)" if kind == "timestamp" else "utc_timestamp(6)"
            return f"{name} < {now} - interval {seconds} second"
        case _:
            if is_number:
                return f"{name} < strftime('%s', 'now') - {seconds}"
            # The first half is for an index: text of any offset sorts by its day.
            return (
                f"({name} < date('now', '+2 days') "
                f"and julianday({name}) < julianday('now', '-{seconds} seconds'))"
            )


def delete_rows(
    connection: SqlConnection, table: str, condition: str, *, most: int, **values: Any
) -> int:
    """Delete at most `most` rows that meet a condition with `:name` values; returns how many."""
    name = connection.quoted(table)
    match connection.database:
        case "postgresql":
            # The condition stands twice: of a partitioned table, `ctid` is not unique.
            [row] = connection.rows(
                f"with gone as (delete from {name} where ctid = any(array(select ctid from {name} "
                f"where {condition} limit {most} for update skip locked)) and {condition} returning 1) "
                "select count(*) as gone from gone",
                **values,
            )
        case "mysql":
            connection.rows(f"delete from {name} where {condition} limit {most}", **values)
            [row] = connection.rows("select row_count() as gone")
        case _:
            connection.rows(
                f"delete from {name} where rowid in "
                f"(select rowid from {name} where {condition} limit {most})",
                **values,
            )
            [row] = connection.rows("select changes() as gone")
    return int(row["gone"])
