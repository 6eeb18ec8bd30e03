"""The survey in steps: where to look next depends on what the last look found.

A server of this family can begin to read an index at a value only if the statement names it, so
that each hop is a statement.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from windlass.core.leases.gates import definition_of
from windlass.storage.mysql import dialect
from windlass.storage.mysql.connection import MysqlConnection
from windlass.storage.mysql.sql_literals import filled
from windlass.storage.sql.statements import Rows, Statement

#: How many entries of the index each half of a hop reads; as the statement says.
_SEEN = 20
#: Of so many queues the first looks are asked for in advance.
_FORESEEN = 20
#: Greater than every name.
_LAST = "\U0010ffff"

Place = tuple[str, str]


def survey(link: MysqlConnection, script: Sequence[Statement], params: Mapping[str, Any]) -> Rows:
    """Run `sql/leases/survey.sql`; one row for each line, or one without a line."""
    next_queue, hop, claimable, next_due = script
    most: int = params["most"]
    cursor: str = params["cursor"]
    queues = [queue for (queue,) in params["queues"]]
    looks = _IndexScans(link)
    looks.foresee(
        filled(next_due, {}),
        *_likely(script, (link.queues_met if params["all_queues"] else queues)[:_FORESEEN], params),
    )
    if params["all_queues"]:
        link.queues_met = queues = list(_queues(looks, next_queue))
    found = []
    for queue in queues:
        good: list[Mapping[str, Any]] = []
        lines = _lines(looks, hop, queue, cursor)
        while len(good) < most and (some := list(islice(lines, most))):
            good += _in_order(
                some,
                link.ask(
                    claimable,
                    **dialect.carried(
                        "lines", [(queue, *line, definition_of(line[1])) for line in some]
                    ),
                    known_keys=tuple(params["known_keys"]),
                ),
            )
        found.append(good)
    turns = chain.from_iterable(zip_longest(*found))
    [due] = looks.ask(next_due)
    answer = [{**due, **line} for line in islice(filter(None, turns), most)]
    return answer or [{**due, "queue": None}]


class _IndexScans:
    """Asks the server; what can be foreseen to be asked, all in one message."""

    def __init__(self, link: MysqlConnection) -> None:
        self._link = link
        self._seen: dict[str, Rows] = {}

    def foresee(self, *texts: str) -> None:
        self._seen = dict(zip(texts, self._link.queries(texts), strict=True))

    def ask(self, statement: Statement, **values: Any) -> Rows:
        text = filled(statement, values)
        return self._seen[text] if text in self._seen else self._link.query(text)


def _likely(
    script: Sequence[Statement], queues: Sequence[str], params: Mapping[str, Any]
) -> Iterator[str]:
    """The first looks of a survey that meets these queues, which are most often those of the last."""
    next_queue, hop, _, _ = script
    if params["all_queues"]:
        yield from (filled(next_queue, {"queue": queue}) for queue in ("", *queues))
    for queue in queues:
        for tenant in dict.fromkeys((params["cursor"], "")):
            yield filled(hop, {"queue": queue, "tenant_id": tenant, "gate": _LAST})


def _queues(looks: _IndexScans, next_queue: Statement) -> Iterator[str]:
    queue = ""
    while found := looks.ask(next_queue, queue=queue):
        queue = found[0]["queue"]
        yield queue


def _lines(looks: _IndexScans, hop: Statement, queue: str, cursor: str) -> Iterator[Place]:
    """Tenant and gate of each line in a queue: tenants after the cursor, then those up to it."""
    yield from _hops(looks, hop, queue, (cursor, _LAST))
    for line in _hops(looks, hop, queue, ("", _LAST)) if cursor else ():
        if line[0] > cursor:
            break
        yield line


def _hops(looks: _IndexScans, hop: Statement, queue: str, place: Place) -> Iterator[Place]:
    """The lines after a place, in the order of the index."""
    while True:
        seen = [
            (row["tenant_id"], row["gate"])
            for row in looks.ask(hop, queue=queue, tenant_id=place[0], gate=place[1])
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
