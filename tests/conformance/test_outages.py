"""Outages are distinguished from errors in the content, and no data is lost."""

from collections.abc import Mapping

import pytest

from tests.support.job_builders import ALDER, finish, job, new_job, started
from windlass.core.jobs.states import JobState
from windlass.errors import (
    DatabaseAccessDenied,
    DatabaseDamaged,
    DatabaseNotReady,
    DatabaseReadOnly,
    DatabaseUnreachable,
    WindlassError,
)
from windlass.errors.database import DatabaseOutage
from windlass.storage.database import Lane
from windlass.storage.storage import Storage

Codes = Mapping[str, object]

_OUTAGES: list[tuple[type[DatabaseOutage], Codes]] = [
    (DatabaseReadOnly, {"postgresql": "25006", "mysql": 1290}),
    (DatabaseReadOnly, {"postgresql": "25006", "mysql": 1836}),
    (DatabaseReadOnly, {"postgresql": "25006", "mysql": 1792}),
    (DatabaseNotReady, {"postgresql": "57P03", "mysql": 1047}),
    (DatabaseNotReady, {"postgresql": "53300", "mysql": 1040}),
    (DatabaseNotReady, {"postgresql": "53200", "mysql": 1037}),
    (DatabaseNotReady, {"postgresql": "42703", "mysql": 1054}),
    (DatabaseNotReady, {"postgresql": "XX000", "mysql": 1105}),
    (DatabaseAccessDenied, {"postgresql": "28P01", "mysql": 1045}),
    (DatabaseAccessDenied, {"postgresql": "3D000", "mysql": 1049}),
    (DatabaseAccessDenied, {"postgresql": "42501", "mysql": 1142}),
    (DatabaseDamaged, {"postgresql": "XX001", "mysql": 1194}),
    (DatabaseUnreachable, {"postgresql": "57P01", "mysql": 1053}),
]
_CONTENT: list[Codes] = [
    {"postgresql": "22003", "mysql": 1264},
    {"postgresql": "22P02", "mysql": 1366},
    {"postgresql": "22001", "mysql": 1406},
    {"postgresql": "23514", "mysql": 4025},
    {"postgresql": "23502", "mysql": 1048},
    {"postgresql": "54000", "mysql": 1153},
    {"postgresql": "22032", "mysql": 3140},
    {"postgresql": "P0001", "mysql": 1644},
]
servers = pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)


@servers
@pytest.mark.parametrize(("kind", "codes"), _OUTAGES)
async def test_server_failures_are_outages(storage, kind, codes):
    with pytest.raises(DatabaseOutage) as outage:
        await _complain(storage, codes)

    assert type(outage.value) is kind


@servers
@pytest.mark.parametrize("codes", _CONTENT)
async def test_content_errors_are_not_outages(storage, codes):
    with pytest.raises(Exception) as refused:
        await _complain(storage, codes)

    assert not isinstance(refused.value, WindlassError)


async def test_a_constraint_violation_is_not_an_outage(storage):
    with pytest.raises(Exception) as refused:
        await storage.jobs.enqueue([new_job(max_attempts=1000)])  # more than the table takes

    assert not isinstance(refused.value, WindlassError)


async def test_an_end_refused_by_a_read_only_server_is_recorded_over_a_new_connection(storage):
    lease = await started(storage)
    await _make_read_only(storage)

    with pytest.raises(DatabaseReadOnly, match="nothing was stored"):
        await storage.leases.finish(ALDER, [finish(lease)])
    assert (await job(storage, lease.job_id)).state is JobState.RUNNING

    assert set((await storage.leases.finish(ALDER, [finish(lease)])).values()) == {
        JobState.COMPLETED
    }


async def _complain(storage: Storage, codes: Codes) -> None:
    """Have the server raise an error as it would in need."""
    code = codes[storage.database.kind]
    await storage.database.script(
        f"do $$ begin raise sqlstate '{code}' using message = 'in need'; end $$"
        if storage.database.kind == "postgresql"
        else f"signal sqlstate '45000' set mysql_errno = {code}, message_text = 'in need'"
    )


async def _make_read_only(storage: Storage) -> None:
    """Have the connections that finish jobs meet a server that takes no writes."""
    await storage.database.run("expired_leases", lane=Lane.WORK, most=1)
    match storage.database.kind:
        case "sqlite":
            await storage.database.script("pragma query_only = on")
        case "postgresql":
            for connection, _ in storage.database._pools[Lane.WORK]._idle:
                await connection.execute("set default_transaction_read_only = on")
        case _:
            for link in storage.database._pools[Lane.WORK]._idle:
                link.query("set session transaction read only")
