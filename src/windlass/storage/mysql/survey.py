"""The survey in steps: where to look next depends on what the last look found.

A server of this family can begin to read an index at a value only if the statement names it, so
that each hop is a statement.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from windlass.storage.mysql import dialect
from windlass.storage.mysql.link import Link
from windlass.storage.sql import Rows, Statement

#: How many entries of the index each half of a hop reads; as the statement says.
_SEEN = 20
#: Greater than every name.
_LAST = "\U0010ffff"

Place = tuple[str, str]


def survey(link: Link, script: Sequence[Statement], params: Mapping[str, Any]) -> Rows:
    """Run `sql/survey.sql`; one row for each line, or one without a line."""
    next_queue, hop, claimable, next_due = script
    most: int = params["most"]
    queues = [queue for (queue,) in params["queues"]]
    if params["all_queues"]:
        queues = list(_queues(link, next_queue))
    found = []
    for queue in queues:
        good: list[Mapping[str, Any]] = []
        lines = _lines(link, hop, queue, params["cursor"])
        while len(good) < most and (some := list(islice(lines, most))):
            good += _in_order(
                some,
                link.ask(
                    claimable,
                    **dialect.carried("lines", [(queue, *line, None, None) for line in some]),
                    known_keys=tuple(params["known_keys"]),
                ),
            )
        found.append(good)
    turns = chain.from_iterable(zip_longest(*found))
    [due] = link.ask(next_due)
    answer = [{**due, **line} for line in islice(filter(None, turns), most)]
    return answer or [{**due, "queue": None}]


def _queues(link: Link, next_queue: Statement) -> Iterator[str]:
    queue = ""
    while found := link.ask(next_queue, queue=queue):
        queue = found[0]["queue"]
        yield queue


def _lines(link: Link, hop: Statement, queue: str, cursor: str) -> Iterator[Place]:
    """Tenant and gate of each line in a queue: tenants after the cursor, then those up to it."""
    yield from _hops(link, hop, queue, (cursor, _LAST))
    for line in _hops(link, hop, queue, ("", _LAST)) if cursor else ():
        if line[0] > cursor:
            break
        yield line


def _hops(link: Link, hop: Statement, queue: str, place: Place) -> Iterator[Place]:
    """The lines after a place, in the order of the index."""
    while True:
        seen = [
            (row["tenant_id"], row["gate"])
            for row in link.ask(hop, queue=queue, tenant_id=place[0], gate=place[1])
        ]
        gates = [line for line in seen if line[0] == place[0]]
        tenants = [line for line in seen if line[0] != place[0]]
        if len(gates) == _SEEN:  # perhaps not all of them, and the next tenant comes after all
            tenants = []
        for line in dict.fromkeys(gates + tenants):
            yield line
            place = line
        if len(gates) < _SEEN and len(tenants) < _SEEN:
            return


def _in_order(lines: Sequence[Place], found: Rows) -> list[Mapping[str, Any]]:
    by_line = {(row["tenant_id"], row["gate"]): row for row in found}
    return [by_line[line] for line in lines if line in by_line]
