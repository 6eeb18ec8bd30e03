"""A full disk is reported as a Windlass error, and no data is lost."""

from collections.abc import Mapping

import pytest

from tests.support.job_builders import enqueue, new_jobs
from windlass.core.jobs.models import ALL_TENANTS
from windlass.errors import DatabaseFull
from windlass.storage.storage import Storage

#: How to make a server complain as it does when its disk is full.
_COMPLAIN: Mapping[str, str] = {
    "postgresql": "do $$ begin raise sqlstate '53100' using message = 'no space left'; end $$",
    "mysql": "signal sqlstate '45000' set mysql_errno = 1021, message_text = 'Disk full'",
}


async def test_a_full_disk_and_an_unreachable_database_are_distinguished(storage):
    id = await enqueue(storage)

    with pytest.raises(DatabaseFull, match="has no room left"):
        await _overfill(storage)

    assert (await storage.jobs.get(ALL_TENANTS, id)).id == id


async def _overfill(storage: Storage) -> None:
    if storage.database.kind == "sqlite":
        await storage.database.script("pragma max_page_count = 1")
        await storage.jobs.enqueue(new_jobs(1_000))
    else:
        await storage.database.script(_COMPLAIN[storage.database.kind])
