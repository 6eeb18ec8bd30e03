"""Seeds millions of jobs: the database copies one that was enqueued.

A pile is of one shape with the job it was copied from, whatever columns that has.
"""

from typing import Literal

from tests.databases.connect import execute

Table = Literal["live", "later", "ended"]

#: The part of an id that tells its time of making: as the copied job's, or some days ago.
_AGE = "left(cast(j.id as text), 8) || substr(cast(j.id as text), 10, 4)"
_OLD = "lpad(to_hex(cast((extract(epoch from now()) - {days} * 86400) * 1000 as bigint)), 12, '0')"
#: An id in the order of `n`.
_ID = (
    f"cast({_AGE} || '7' "
    "|| lpad(to_hex(n >> 20), 3, '0') || '8' || lpad(to_hex(n & 1048575), 15, '0') as uuid)"
)


def pile(
    url: str,
    table: Table,
    jobs: int,
    *,
    definition: str = "noop",
    where: str = "true",
    days_old: int = 0,
) -> None:
    """Copy a job of `definition` in `table` that many times, as old ones. PostgreSQL only."""
    columns = columns_of(url, f"windlass_{table}")
    made = {"id": _ID}
    if days_old:
        made = {
            "id": _ID.replace(_AGE, _OLD.format(days=days_old)),
            "finished_at": f"j.finished_at - interval '{days_old} days'",
        }
    values = [made.get(name, f"j.{name}") for name in columns]
    execute(
        url,
        f"insert into windlass_{table} ({', '.join(columns)}) "
        f"select {', '.join(values)} from generate_series(1, {jobs}) n, "
        f"(select * from windlass_{table} where definition = '{definition}' and {where} limit 1) j",
    )


def columns_of(url: str, table: str) -> list[str]:
    """The columns of a table that are stored as given."""
    own = (
        "current_schema() and is_generated = 'NEVER' and is_identity = 'NO'"
        if url.startswith("postgresql:")
        else "database() and extra not like '%GENERATED%'"
    )
    return [
        name
        for (name,) in execute(
            url,
            "select column_name from information_schema.columns "
            f"where table_name = '{table}' and table_schema = {own} order by ordinal_position",
        )
    ]
