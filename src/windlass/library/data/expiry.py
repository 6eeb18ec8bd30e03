"""Deletes rows that are past their time, a batch in each transaction."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from windlass.errors.wording import counted
from windlass.library.data.source import Source
from windlass.library.data.tables import ExpiringRows
from windlass.worker.context import JobContext

#: Rows in one transaction: its locks last some milliseconds.
BATCH = 1000


def delete_expired(
    ctx: JobContext, source: Source, kinds: Mapping[str, ExpiringRows], *, age: timedelta
) -> dict[str, int]:
    """Delete the rows of some kinds that were past their time `age` ago; returns counts by kind.

    Between two batches it reports progress and stops if the run must. What was deleted before an
    error stays deleted.
    """
    counts: dict[str, int] = {}
    for number, (kind, rows) in enumerate(kinds.items()):
        words = kind.replace("_", " ")

        def between(gone: int, number: int = number, words: str = words) -> None:
            ctx.checkpoint()
            ctx.progress(number / len(kinds), f"deleted {gone:,} {words}")

        counts[kind] = delete_batches(source, rows, age=age, between=between)
        text = f"deleted {counts[kind]:,} {words}"
        ctx.log.info(text)
    ctx.progress(1.0, f"deleted {counted(sum(counts.values()), 'row')}")
    return counts


def delete_batches(
    source: Source,
    rows: ExpiringRows,
    *,
    age: timedelta,
    between: Callable[[int], None] = lambda gone: None,
) -> int:
    """Delete all rows that were past their time `age` ago; returns how many. Blocks; an application that
    has no worker may call it from a timer of its own, outside of an event loop."""
    total = 0
    while True:
        between(total)
        gone = rows.delete_batch(source, age=age, most=BATCH)
        total += gone
        if gone < BATCH:
            return total
