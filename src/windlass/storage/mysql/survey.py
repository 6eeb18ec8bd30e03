"""The steps of `survey`: each statement depends on the rows of the last one.

These servers can start reading an index at a value only if the statement contains it, so each hop
is a statement.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from windlass.core.leases.gates import definition_of
from windlass.storage.mysql import dialect
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.sql_literals import interpolate
from windlass.storage.sql.statements import Batch, Rows, Scripts, Statement

#: Index entries that each half of a hop reads; the same number is in the statement.
_SEEN = 20
#: Most queues whose first statements are sent ahead.
_FORESEEN = 20
#: Greater than every name.
_LAST = "\U0010ffff"


class LinePosition(NamedTuple):
    """A line's position in the index, within its queue."""

    tenant_id: str
    gate: str


def survey(connection: MysqlConnection, scripts: Scripts, params: Mapping[str, Any]) -> Rows:
    """Run the steps of `survey`; returns one row per line, or one without a line."""
    script = next_queue, hop, claimable, next_due = scripts["survey"]
    most: int = params["most"]
    cursor: str = params["cursor"]
    queues = params["queues"]["queue"]
    scans = _IndexScans(connection)
    scans.run_ahead(
        interpolate(next_due, {}),
        *_likely(
            script,
            (connection.queues_met if params["all_queues"] else queues)[:_FORESEEN],
            params,
        ),
    )
    if params["all_queues"]:
        connection.queues_met = queues = list(_queues(scans, next_queue))
    found = []
    for queue in queues:
        good: list[Mapping[str, Any]] = []
        lines = _lines(scans, hop, queue, cursor)
        while len(good) < most and (some := list(islice(lines, most))):
            batch = Batch(
                queue=[queue] * len(some),
                tenant_id=[line.tenant_id for line in some],
                gate=[line.gate for line in some],
                definition=[definition_of(line.gate) for line in some],
            )
            known_keys = tuple(params["known_keys"])
            rows = connection.ask(claimable, **dialect.carry("lines", batch), known_keys=known_keys)
            good += _in_order(some, rows)
        found.append(good)
    turns = chain.from_iterable(zip_longest(*found))
    [due] = scans.ask(next_due)
    result = [{**due, **line} for line in islice(filter(None, turns), most)]
    return result or [{**due, "queue": None}]


class _IndexScans:
    """Runs statements on the server; sends likely ones ahead in one message."""

    def __init__(self, connection: MysqlConnection) -> None:
        self._connection = connection
        self._seen: dict[str, Rows] = {}

    def run_ahead(self, *texts: str) -> None:
        self._seen = dict(zip(texts, self._connection.queries(texts), strict=True))

    def ask(self, statement: Statement, **values: Any) -> Rows:
        text = interpolate(statement, values)
        return self._seen[text] if text in self._seen else self._connection.query(text)


def _likely(
    script: Sequence[Statement], queues: Sequence[str], params: Mapping[str, Any]
) -> Iterator[str]:
    """The first statements of a survey that finds these queues, which are usually the last ones."""
    next_queue, hop, _, _ = script
    if params["all_queues"]:
        yield from (interpolate(next_queue, {"queue": queue}) for queue in ("", *queues))
    for queue in queues:
        for tenant in dict.fromkeys((params["cursor"], "")):
            yield interpolate(hop, {"queue": queue, "tenant_id": tenant, "gate": _LAST})


def _queues(scans: _IndexScans, next_queue: Statement) -> Iterator[str]:
    queue = ""
    while found := scans.ask(next_queue, queue=queue):
        queue = found[0]["queue"]
        yield queue


def _lines(scans: _IndexScans, hop: Statement, queue: str, cursor: str) -> Iterator[LinePosition]:
    """Tenant and gate of each line in a queue: first tenants after the cursor, then the others."""
    yield from _hops(scans, hop, queue, LinePosition(cursor, _LAST))
    for line in _hops(scans, hop, queue, LinePosition("", _LAST)) if cursor else ():
        if line.tenant_id > cursor:
            break
        yield line


def _hops(
    scans: _IndexScans, hop: Statement, queue: str, place: LinePosition
) -> Iterator[LinePosition]:
    """The lines after a position, in the order of the index."""
    while True:
        seen = [
            LinePosition(row["tenant_id"], row["gate"])
            for row in scans.ask(hop, queue=queue, tenant_id=place.tenant_id, gate=place.gate)
        ]
        gates = [line for line in seen if line.tenant_id == place.tenant_id]
        tenants = [line for line in seen if line.tenant_id != place.tenant_id]
        if len(gates) == _SEEN:  # there may be more gates, and the next tenant comes after them
            tenants = []
        for line in dict.fromkeys(gates + tenants):
            yield line
            place = line
        if len(gates) < _SEEN and len(tenants) < _SEEN:
            return


def _in_order(lines: Sequence[LinePosition], found: Rows) -> list[Mapping[str, Any]]:
    by_line = {LinePosition(row["tenant_id"], row["gate"]): row for row in found}
    return [by_line[line] for line in lines if line in by_line]
