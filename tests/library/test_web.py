"""Requests as jobs, to real servers."""

import json

import pytest

from tests.library.http_servers import serving
from tests.support.wait import until
from windlass import JobFailed, Settings, Windlass, library
from windlass.errors import PayloadInvalid

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@pytest.fixture
async def app(database):
    wl = Windlass(database.url, settings=Settings.load({"library.http_networks": "127.0.0.1"}))
    wl.install(library.web)
    yield wl
    await wl.close()


async def ended(wl, payload, **options):
    receipt = await wl.enqueue("http.request", payload, **options)
    async with wl.running():
        try:
            await wl.jobs.wait(receipt.job_id, "30s")
        except JobFailed:
            pass
        return await wl.jobs.get(receipt.job_id)


async def test_a_request_is_sent_as_the_payload_says(app):
    with serving(lambda _: (201, {}, [b"secret answer"])) as server:
        job = await ended(
            app,
            {
                "url": f"{server.url}/orders?x=1",
                "method": "PUT",
                "headers": {"x-token": "very-secret-value", "content-type": "text/plain"},
                "body": "grüße",
            },
        )

    [request] = server.received
    assert (request.method, request.path, request.body) == (
        "PUT",
        "/orders?x=1",
        "grüße".encode(),
    )
    assert request.headers["x-token"] == "very-secret-value"
    assert request.headers["idempotency-key"] == str(job.id)
    assert (job.state, job.result) == ("completed", {"status": 201, "bytes": 13})
    definition = await app.definitions.get("http.request")
    schema = json.loads(definition.payload_schema)["properties"]["headers"]
    assert schema["additionalProperties"]["writeOnly"], "headers are encrypted and hidden"


@pytest.mark.parametrize(
    ("status", "state"),
    [(500, "queued"), (429, "queued"), (404, "dead_letter"), (302, "dead_letter")],
)
async def test_what_may_pass_is_tried_again_and_the_rest_ends_at_once(app, status, state):
    with serving(lambda _: (status, {"location": "/next"}, [])) as server:
        receipt = await app.enqueue("http.request", {"url": f"{server.url}/path-of-mine"})
        async with app.running():
            job = await until_tried(app, receipt)

    assert (job.state, job.attempts, len(server.received)) == (state, 1, 1)
    assert f"status {status}" in job.last_error
    assert "path-of-mine" not in job.last_error


async def until_tried(wl, receipt):
    """The job once its first attempt has ended."""

    async def look():
        job = await wl.jobs.get(receipt.job_id)
        return job if job.last_error else None

    return await until(look)


async def test_a_private_address_ends_the_job_at_once(app):
    with serving(host="127.0.0.2") as server:
        job = await ended(app, {"url": server.url})

    assert (job.state, job.attempts, server.received) == ("dead_letter", 1, [])
    assert "127.0.0.2 is no public address" in job.last_error


@pytest.mark.parametrize("wrong", [{"method": "TRACE"}, {"redirects": 6}, {"headers": ["a"]}])
async def test_a_wrong_payload_is_refused_when_it_is_enqueued(app, wrong):
    with pytest.raises(PayloadInvalid):
        await app.enqueue("http.request", {"url": "https://example.com/", **wrong})
