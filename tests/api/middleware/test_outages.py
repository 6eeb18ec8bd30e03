"""Responses of the API during a database outage."""

import pytest

from tests.databases.connect import execute

pytestmark = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


async def test_a_read_only_database_is_an_outage_with_retry_after(wl, api, database, postgres_url):
    @wl.job
    def hello() -> None: ...

    engine = await wl.ready()
    name = database.url.rpartition("/")[2]
    execute(postgres_url, f'alter database "{name}" set default_transaction_read_only = on')
    engine.storage.database._drop_idle()  # the next connections will find it so
    try:
        refused = await api.post("/jobs", json={"definition": "hello"})
    finally:
        execute(postgres_url, f'alter database "{name}" reset all')

    assert refused.status_code == 503
    assert refused.headers["retry-after"]
    assert refused.json()["code"] == "WL1106"
    assert (await api.post("/jobs", json={"definition": "hello"})).status_code == 201
