"""Searching log lines of all jobs."""

import pytest

from tests.support.job_builders import ACME, ALDER, MINUTE, a_tenant, log_line, started
from windlass.core.jobs.models import Scope
from windlass.errors import OptionInvalid


async def test_a_search_keeps_to_job_and_time_and_its_hits_lead_to_the_line(storage, clock, engine):
    first, second = await started(storage), await started(storage)
    await storage.leases.append_logs(ALDER, [log_line(first, "mail sent", at=clock.now)])
    await clock.advance(10 * MINUTE)
    await storage.leases.append_logs(
        ALDER, [log_line(second, "mail lost", at=clock.now, level="error")]
    )

    async def found(words="mail", **which):
        return [line.message for line in await engine.logs.search(words, **which)]

    assert await found() == ["mail lost", "mail sent"]
    assert await found(job=str(first.job_id)[-12:]) == ["mail sent"]
    assert await found(since="-5m") == ["mail lost"]
    assert await found(until=clock.now) == ["mail sent"]
    assert await found(until="-5m", level="error") == []
    [line] = await engine.logs.search("lost")
    assert (line.job_id, line.attempt, line.sequence) == (second.job_id, 1, 1)
    assert (await engine.jobs.logs(line.job_id, after=line.sequence - 1))[0] == line


async def test_a_search_keeps_to_its_scope(storage, engine):
    await a_tenant(storage, "acme")
    await storage.leases.append_logs(ALDER, [log_line(await started(storage), "mail sent")])

    assert await engine.logs.search("mail", scope=Scope(ACME)) == []


@pytest.mark.parametrize(
    "wrong", [{"level": "loud"}, {"limit": 0}, {"since": "yesterday"}, {"until": "2026"}]
)
async def test_invalid_log_searches_are_refused(engine, wrong):
    with pytest.raises(OptionInvalid):
        await engine.logs.search("mail", **wrong)
