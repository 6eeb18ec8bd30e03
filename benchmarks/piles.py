"""Millions of jobs made by the database itself, as copies of one that was enqueued.

A pile is of one shape with the job it was copied from, whatever columns that has.
"""

from typing import Literal

from tests.databases.connect import execute

Table = Literal["live", "later", "ended"]

#: An id in the order of `n`, of the age the copied job has.
_ID = (
    "cast(left(cast(j.id as text), 8) || substr(cast(j.id as text), 10, 4) || '7' "
    "|| lpad(to_hex(n >> 20), 3, '0') || '8' || lpad(to_hex(n & 1048575), 15, '0') as uuid)"
)


def pile(
    url: str, table: Table, jobs: int, *, definition: str = "noop", where: str = "true"
) -> None:
    """Copy a job of `definition` in `table` that many times. PostgreSQL only."""
    columns = [name for (name,) in execute(url, _columns(f"windlass_{table}"))]
    values = [_ID if name == "id" else f"j.{name}" for name in columns]
    execute(
        url,
        f"insert into windlass_{table} ({', '.join(columns)}) "
        f"select {', '.join(values)} from generate_series(1, {jobs}) n, "
        f"(select * from windlass_{table} where definition = '{definition}' and {where} limit 1) j",
    )


def _columns(table: str) -> str:
    return (
        "select column_name from information_schema.columns "
        f"where table_name = '{table}' and table_schema = current_schema() "
        "and is_generated = 'NEVER' and is_identity = 'NO' order by ordinal_position"
    )
