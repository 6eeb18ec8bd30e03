"""A remote worker's leases when responses get lost and requests are refused."""

from datetime import timedelta

import pytest

from windlass import Permanent
from windlass.core.jobs import outcome
from windlass.core.jobs.states import JobState
from windlass.core.payloads.json_text import DEEPEST, dump_json
from windlass.errors import RequestRefused, ServerUnreachable
from windlass.ids import WorkerId
from windlass.telemetry import Telemetry
from windlass.worker.remote.remote_backend import RemoteLeaseBackend

WORKER = WorkerId("far:1")


class Line:
    """A connection to a server that may lose a response and refuse a request that is too long."""

    def __init__(self, api):
        self.api = api
        self.loses = 0
        self.refuses = ""

    async def ask(self, path, body):
        if self.refuses and self.refuses in dump_json(body):
            raise RequestRefused(413, said="too long")
        response = await self.api.post(f"/{path}", json=body)
        assert response.is_success, response.text
        if self.loses:
            self.loses -= 1
            raise ServerUnreachable("http://far", cause="the line broke")
        return response.json()


@pytest.fixture
def line(api):
    return Line(api)


@pytest.fixture
def leases(line):
    return RemoteLeaseBackend(line, Telemetry(), WORKER)


@pytest.fixture
def echo(wl):
    @wl.job
    def echo(value: object = None) -> object:
        raise Permanent("never run here")

    return echo


async def claim(leases, limit=5):
    claimed = await leases.claim(
        WORKER, limit, queues=None, known=["echo"], lease_time=timedelta(seconds=30)
    )
    return claimed.leases


def success(lease, result=None):
    text = None if result is None else dump_json(result)
    return outcome.success(lease.held, result=text, warnings=None, keep=True)


async def test_a_claim_is_recovered_by_retrying_after_a_lost_response(leases, line, echo):
    ids = [(await echo.enqueue()).job_id for _ in range(2)]
    line.loses = 1

    with pytest.raises(ServerUnreachable):
        await claim(leases)
    again = await claim(leases)

    assert [lease.job_id for lease in again] == ids
    assert [lease.token for lease in again] == [1, 1]
    assert await claim(leases) == []


async def test_a_repeated_end_is_recorded_once(leases, line, wl, echo):
    id = (await echo.enqueue()).job_id
    [lease] = await claim(leases)
    line.loses = 1

    with pytest.raises(ServerUnreachable):
        await leases.finish([success(lease, "first")])
    again = await leases.finish([success(lease, "second")])

    assert again == {}
    assert (await wl.jobs.get(id)).result == "first"


async def test_one_refused_end_does_not_affect_the_others(leases, line, wl, echo):
    for _ in range(2):
        await echo.enqueue()
    one, other = await claim(leases)
    line.refuses = "enormous"

    ended = await leases.finish([success(one, "enormous"), success(other, "small")])

    assert set(ended.values()) == {JobState.COMPLETED}
    assert (await wl.jobs.get(other.job_id)).result == "small"
    job = await wl.jobs.get(one.job_id)
    assert (job.result, len(job.warnings)) == (None, 1)


async def test_values_are_transferred_unchanged(leases, wl, echo):
    deep: object = "bottom"
    for _ in range(DEEPEST - 2):
        deep = [deep]
    value = {"deep": deep, "whole": 2**200, "text": "„é\u2028😀"}
    id = (await echo.enqueue(value={"whole": 2**200, "text": value["text"]})).job_id

    [lease] = await claim(leases)
    await leases.finish([success(lease, value)])

    job = await wl.jobs.get(id)
    assert lease.payload == dump_json(job.payload)
    assert lease.created_at == job.created_at
    assert job.result == value


async def test_renewals_return_lost_leases_and_stop_requests(leases, wl, echo):
    for _ in range(3):
        await echo.enqueue()
    going_on, canceled, ended = await claim(leases)
    await wl.jobs.cancel(canceled.job_id)
    await leases.finish([success(ended)])
    held = [lease.held for lease in (going_on, canceled, ended)]

    renewed = await leases.renew(held, lease_time=timedelta(seconds=30))

    requested = {renewal.job_id: renewal.cancel_requested for renewal in renewed}
    assert requested == {going_on.job_id: False, canceled.job_id: True}
    assert await leases.stops(held) == {canceled.job_id}
