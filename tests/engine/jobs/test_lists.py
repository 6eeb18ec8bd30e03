"""Lists by what people ask for: tags, times from now, and what stays secret."""

import pytest

from tests.support.job_builders import HOUR, MINUTE, a_definition, enqueue
from windlass.core.jobs.query import JobQuery
from windlass.errors import FilterInvalid, OptionInvalid

SCHEMA = """{"type": "object", "properties": {
    "pin": {"type": "string", "writeOnly": true},
    "card": {"$ref": "#/$defs/card"},
    "note": {"type": "string"}},
    "$defs": {"card": {"type": "object", "properties": {"number": {"format": "password"}}}}}"""


@pytest.fixture
def ids(engine):
    async def of(text, **how):
        return [job.id for job in (await engine.lists.page(text, **how)).jobs]

    return of


async def test_a_tag_selects_the_jobs_of_its_definitions(storage, ids):
    await a_definition(storage, "send", tags=("mail", "vip"))
    await a_definition(storage, "read", tags=("mailbox",))
    send, read, plain = [await enqueue(storage, definition=d) for d in ("send", "read", "plain")]

    assert await ids("tag:vip") == [send]
    assert await ids("tag:mail*") == [read, send]
    assert await ids("-tag:mail") == [plain, read]
    assert await ids("tag:nobody") == []
    assert await ids("-tag:nobody") == [plain, read, send]


async def test_relative_times_use_the_databases_clock(storage, clock, ids):
    old = await enqueue(storage)
    await clock.advance(HOUR)
    new = await enqueue(storage)

    assert await ids("created:>-30m") == [new]
    assert await ids("created:<-30m") == [old]
    await clock.advance(31 * MINUTE)
    assert await ids("created:>-30m") == []


@pytest.mark.parametrize("name", ["password", "user.api_key", "accessToken.value"])
async def test_a_field_with_a_secret_name_cannot_be_queried(ids, name):
    with pytest.raises(FilterInvalid, match="secret"):
        await ids(f"payload.{name}:a*")
    with pytest.raises(FilterInvalid, match="secret"):
        await ids(f"metadata.{name}:a*")


@pytest.mark.parametrize("name", ["pin", "card.number"])
async def test_a_field_that_a_schema_hides_is_not_searched_in_its_definition(storage, ids, name):
    payload = '{"pin": "17", "note": "17", "card": {"number": "17"}}'
    await a_definition(storage, "pay", payload_schema=SCHEMA)
    hidden = await enqueue(storage, definition="pay", payload=payload)
    shown = await enqueue(storage, payload=payload)

    assert await ids(f"payload.{name}:1*") == [shown]
    assert await ids(f"-payload.{name}:1*") == []
    assert await ids("payload.note:17") == [shown, hidden]


async def test_a_query_object_equals_its_text(storage, ids):
    one = await enqueue(storage, correlation_id="c")
    await enqueue(storage)

    assert await ids(JobQuery.of(correlation_id="c")) == await ids("correlation:c") == [one]


@pytest.mark.parametrize("limit", [0, -1, 10_001])
async def test_a_page_length_out_of_range_is_refused(ids, limit):
    with pytest.raises(OptionInvalid):
        await ids("", limit=limit)
