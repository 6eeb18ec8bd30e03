"""Extreme numbers, dates and text are refused with 422 on every database, never with 500."""

import json

import httpx2
import pytest

from windlass import Settings, Windlass
from windlass.api.access.callers import open_access
from windlass.api.access.credentials import by_credentials
from windlass.api.app import create_api
from windlass.errors import PayloadUnstorable

LONG = "1" + "0" * 400
NOWHERE = "0190a5d0-0000-7000-8000-000000000000"


@pytest.fixture(autouse=True)
def note(wl):
    @wl.job
    def note(text: str = "", about: dict[str, object] | None = None) -> None: ...

    return note


@pytest.fixture
async def job(note):
    return (await note.options(delay="1h").enqueue(text="hello")).job_id


async def send(api, method, path, body=None):
    """Send JSON text as it is written."""
    headers = {} if body is None else {"content-type": "application/json"}
    return await api.request(method, path, content=body, headers=headers)


def refused(answer, *pointers):
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    assert problem["hint"]
    assert {error["pointer"] for error in problem["errors"]} >= set(pointers), problem
    return problem


@pytest.mark.parametrize(
    ("part", "pointer"),
    [
        ('{"about": {"n": 1e400}}', "/payload/about/n"),
        ('{"about": {"n": -1e400}}', "/payload/about/n"),
        ('{"about": {"n": [' + LONG + "]}}", "/payload/about/n/0"),
        ('{"about": {"n": NaN}}', "/payload/about/n"),
        ('{"about": {"n": Infinity}}', "/payload/about/n"),
        ('{"about": {"n": 1, "n": 1}}', "/payload/about/n"),
        ('{"text": "a", "text": "b"}', "/payload/text"),
        ('{"text": "a\\u0000"}', "/payload/text"),
        ('{"text": "\\ud800"}', "/payload/text"),
        ('{"about": {"\\udfff": 1}}', "/payload/about"),
        ('{"about": ' + '{"a":' * 80 + "1" + "}" * 81, "/payload/about/a/a/a/a/a/a"),
    ],
    ids=lambda part: part[:24],
)
async def test_unstorable_json_is_refused_with_its_position(api, part, pointer):
    response = await send(api, "POST", "/jobs", f'{{"definition": "note", "payload": {part}}}')

    assert refused(response, pointer)["code"] == PayloadUnstorable.code


async def test_malformed_json_is_refused(api):
    for body in (b"{", b"\xff", b"\x00", b'"', b"[" * 100_000, b"\xef\xbb\xbf{}"):
        refused(await send(api, "POST", "/jobs", body))


async def test_python_refuses_the_same_numbers(wl):
    with pytest.raises(PayloadUnstorable) as caught:
        await wl.enqueue("note", {"about": {"n": 10**400}})

    assert caught.value.pointer == "/about/n"


DATES = [
    "0001-01-01T00:00:00+23:59",
    "0001-01-01T00:00:00Z",
    "1600-02-29T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-23:59",
]


@pytest.mark.parametrize("at", [*DATES, "1e308", str(10**18), "-1"])
async def test_extreme_dates_are_refused(api, job, at):
    refused(await api.get("/jobs", params={"created_after": at}))
    refused(await api.get("/jobs", params={"created_before": at}))
    refused(await api.get("/jobs", params={"q": f"created:>{at}"}))
    refused(await api.get("/logs", params={"since": at}))
    refused(await api.post("/jobs", json={"definition": "note", "due_at": at}), "/due_at")
    refused(await api.patch(f"/jobs/{job}", json={"due_at": at}), "/due_at")
    once = {"name": "t", "type": "once", "definition": "note", "at": at}
    refused(await api.post("/triggers", json=once), "/at")


@pytest.mark.parametrize("at", ["2020-07-01T10:00:00", "2020-07-01", "2020-07-01T10:00+02:00"])
async def test_a_queried_time_may_lack_a_zone(api, job, at):
    after = await api.get("/jobs", params={"created_after": at})
    before = await api.get("/jobs", params={"created_before": at})

    assert [len(response.json()["items"]) for response in (after, before)] == [1, 0]


@pytest.mark.parametrize("number", [2**31, 2**40, 2**63 - 1])
async def test_a_cursor_past_the_end_returns_nothing(api, job, number):
    lines = await api.get(f"/jobs/{job}/logs", params={"after": number})
    entries = await api.get("/audit", params={"before": number})

    assert lines.json() == {"items": []}
    assert entries.status_code == 200


@pytest.mark.parametrize("number", [2**31, 2**63, 2**64, 10**30, -(2**63) - 1])
async def test_integers_out_of_range_are_refused(api, job, number):
    for path, field in [
        (f"/jobs/{job}/logs", "after"),
        ("/jobs", "limit"),
        ("/audit", "limit"),
        ("/dead/groups", "limit"),
    ]:
        if number != 2**31 or field == "limit":
            refused(await api.get(path, params={field: number}), f"?{field}")
    if number != 2**31:
        refused(await api.get("/audit", params={"before": number}), "?before")
    enqueued = {"definition": "note"}
    for field in ("priority", "max_attempts"):
        refused(await api.post("/jobs", json={**enqueued, field: number}))
        refused(await api.patch("/definitions/note", json={field: number}))
    for field in ("max_concurrency", "max_per_key", "retention_count"):
        refused(await api.patch("/definitions/note", json={field: number}))
    for field in ("weight", "max_running", "max_open"):
        refused(await api.post("/tenants", json={"id": "t", field: number}))
        refused(await api.patch("/tenants/default", json={field: number}))
    trigger = {"name": "t", "type": "event", "event_name": "e", "definition": "note"}
    refused(await api.post("/triggers", json={**trigger, "max_attempts": number}))
    refused(await api.patch("/queues/default", json={"max_concurrency": number}))


@pytest.mark.parametrize("number", ["1e308", "-1", "1e400", LONG, "-1e-320"])
async def test_oversized_durations_are_refused(api, number):
    for field in (
        "delay_seconds",
        "expires_seconds",
        "timeout_seconds",
        "dedupe_window_seconds",
        "max_wait_seconds",
    ):
        body = f'{{"definition": "note", "{field}": {number}}}'
        refused(await send(api, "POST", "/jobs", body), f"/{field}")
    for field in ("interval_seconds", "delay_seconds", "dedupe_window_seconds"):
        body = (
            '{"name": "t", "type": "interval", "definition": "note", "interval_seconds": 60, '
            f'"{field}": {number}}}'
        ).replace('"interval_seconds": 60, "interval', '"interval')
        refused(await send(api, "POST", "/triggers", body), f"/{field}")
    for field in ("timeout_seconds", "retention_days", "log_retention_days"):
        refused(await send(api, "PATCH", "/definitions/note", f'{{"{field}": {number}}}'))
    mute = f'{{"definition": "note", "fingerprint": "x", "for_seconds": {number}}}'
    refused(await send(api, "POST", "/dead/groups/mute", mute), "/for_seconds")
    token = f'{{"name": "t", "expires_seconds": {number}}}'
    refused(await send(api, "POST", "/tokens", token), "/expires_seconds")


@pytest.mark.parametrize("number", ["1e-320", "1e-9", "5e-324"])
async def test_tiny_durations_are_refused_or_kept(api, number):
    body = (
        f'{{"name": "t", "type": "interval", "definition": "note", "interval_seconds": {number}}}'
    )

    refused(await send(api, "POST", "/triggers", body))
    enqueued = f'{{"definition": "note", "delay_seconds": {number}}}'
    assert (await send(api, "POST", "/jobs", enqueued)).status_code == 201


@pytest.mark.parametrize("text", ["ü", "日本", "\N{GRINNING FACE}"])
async def test_a_search_for_impossible_text_finds_nothing(api, job, text):
    refused(await api.get("/jobs", params={"source": text}), "?source")
    refused(await api.get("/dead", params={"fingerprint": text}), "?fingerprint")
    found = [
        await api.get("/jobs", params={"q": f"fingerprint:{text}"}),
        await api.get("/jobs", params={"q": f"fingerprint:{text}*"}),
        await api.get("/jobs", params={"q": f"worker:{text} queue:{text} by:{text}* tag:{text}"}),
        await api.get("/jobs", params={"correlation_id": text, "definition": text, "queue": text}),
        await api.get("/logs", params={"words": text, "definition": text}),
    ]
    all_but_none = await api.get("/jobs", params={"q": f"-fingerprint:{text}"})

    assert [response.json()["items"] for response in found] == [[]] * len(found)
    assert [each["id"] for each in all_but_none.json()["items"]] == [str(job)]
    group = {"definition": "note", "fingerprint": text}
    for verb in ("retry", "discard", "mute", "unmute"):
        refused(await api.post(f"/dead/groups/{verb}", json=group), "/fingerprint")
    preview = {"action": "retry", "q": f"fingerprint:{text}"}
    assert (await api.post("/operations/preview", json=preview)).json()["total"] == 0


@pytest.mark.parametrize("text", ["a\\u0000b", "\\ud800", "\\u0000"])
async def test_unstorable_text_is_refused_everywhere(api, text):
    for method, path, body in [
        ("POST", "/tenants", f'{{"id": "{text}"}}'),
        ("POST", "/tenants", f'{{"id": "t", "name": "{text}"}}'),
        ("PATCH", "/tenants/default", f'{{"name": "{text}"}}'),
        ("POST", "/users", f'{{"name": "{text}"}}'),
        ("POST", "/tokens", f'{{"name": "{text}"}}'),
        ("POST", "/members", f'{{"name": "{text}"}}'),
        ("POST", "/events", f'{{"name": "{text}"}}'),
        ("POST", "/events", f'{{"name": "e", "data": {{"a": "{text}"}}}}'),
        ("POST", "/login", f'{{"name": "{text}", "password": "x"}}'),
        ("POST", "/queues/default/pause", f'{{"reason": "{text}"}}'),
        ("POST", "/dead/groups/mute", f'{{"definition": "note", "fingerprint": "{text}"}}'),
        ("POST", "/operations/preview", f'{{"action": "retry", "q": "{text}"}}'),
        ("PATCH", "/definitions/note", f'{{"tags": ["{text}"]}}'),
    ]:
        refused(await send(api, method, path, body))


async def test_a_repeated_key_is_refused_in_every_body(api):
    for method, path in [("POST", "/login"), ("POST", "/events"), ("POST", "/worker/beat")]:
        problem = refused(await send(api, method, path, '{"name": "a", "name": "b"}'), "/name")
        assert problem["code"] == PayloadUnstorable.code


async def test_unstorable_text_from_a_worker_is_replaced(api, note):
    await note.enqueue()
    claimed = {"worker": "far:1", "slots": 1, "definitions": {"note": 1}}
    [lease] = (await api.post("/worker/jobs/claim", json=claimed)).json()["leases"]
    body = json.dumps(
        {"worker": "far:1", "token": lease["token"], "result": "a\0\ud800", "stderr_tail": "b\0"}
    )

    response = await send(api, "POST", f"/worker/jobs/{lease['job_id']}/complete", body)

    assert response.json()["state"] == "completed"
    job = (await api.get(f"/jobs/{lease['job_id']}")).json()
    assert job["result"] == "a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("at", DATES)
async def test_a_log_line_with_an_extreme_time_is_kept(api, note, at):
    await note.enqueue()
    claimed = {"worker": "far:1", "slots": 1, "definitions": {"note": 1}}
    [lease] = (await api.post("/worker/jobs/claim", json=claimed)).json()["leases"]
    body = {"worker": "far:1", "token": lease["token"], "lines": [{"message": "x", "at": at}]}

    response = await api.post(f"/worker/jobs/{lease['job_id']}/heartbeat", json=body)

    assert response.json() == {"stop": None}
    [line] = (await api.get(f"/jobs/{lease['job_id']}/logs")).json()["items"]
    assert line["at"][:4] == ("1970" if at < "1970" else "2999")


async def test_forms_with_too_many_or_unknown_fields_are_refused(served):
    transport = httpx2.ASGITransport(served, raise_app_exceptions=False)
    form = {"content-type": "application/x-www-form-urlencoded", "origin": "http://localhost"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as browser:
        for path in ("/login", "/password"):
            for body in (b"&".join([b"a=1"] * 11), b"a=1;" * 5_000 + b"&" * 50):
                response = await browser.post(path, content=body, headers=form)
                assert response.status_code == 422, (path, response.text)
            for body in (b"name=%00&password=%00&link=%00", b"name=%ff%fe&password=\xff"):
                response = await browser.post(path, content=body, headers=form)
                assert response.status_code in (401, 422), (path, response.text)


async def test_an_unexpected_error_logs_nothing_of_a_payload(api, wl, caplog):
    engine = await wl.ready()

    async def fail(*_, **__):
        raise ValueError("invalid input for query argument $1: 'the secret'")

    engine.tenants.create = fail
    response = await api.post("/tenants", json={"id": "the secret"})

    assert response.status_code == 500
    assert response.json()["code"] == "WL1900"
    assert response.json()["request_id"] in caplog.text
    assert "ValueError" in caplog.text
    assert "the secret" not in caplog.text + response.text


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"path": "os.system"}, "/path"),
        ({"path": "shop.jobs:report"}, "/path"),
        ({"payload_schema": {"$ref": "http://localhost:9/x"}}, "/payload_schema"),
        ({"payload_schema": {"type": 7}}, "/payload_schema"),
        ({"payload_schema": {"title": "x" * 70_000}}, "/payload_schema"),
        (
            {"payload_schema": {"type": "object"}, "default_payload": {"a": "\0"}},
            "/default_payload/a",
        ),
    ],
)
async def test_an_unusable_definition_is_refused_when_saved(database, wrong, pointer):
    allowing = Settings.load({"worker.handler_paths": ["shop"]})
    async with Windlass(database.url, settings=allowing) as wl:
        app = create_api(wl, authenticate=open_access)
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        at = "http://localhost/api/v1"
        async with httpx2.AsyncClient(transport=transport, base_url=at) as api:
            body = {"key": "report", "path": "shop.jobs.report", **wrong}
            refused(await api.post("/definitions", json=body), pointer)
            assert (await api.get("/definitions/report")).status_code == 404


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", "ü日本".encode(), b"x" * 5_000, b"a b", b"=;,", b'"']
)
async def test_headers_with_any_text_get_a_response(wl, api, text):
    app = create_api(wl, authenticate=by_credentials)
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://api/api/v1") as guarded:
        for name, value in [
            ("authorization", b"Bearer " + text),
            ("authorization", text),
            ("cookie", b"windlass_session=" + text),
            ("cookie", text),
        ]:
            response = await guarded.get("/jobs", headers=[(name.encode(), value)])
            assert response.status_code == 401, (name, response.text)
    for name in ("idempotency-key", "x-request-id", "user-agent", "accept", "last-event-id"):
        headers = [(name.encode(), text), (b"content-type", b"application/json")]
        enqueued = await api.post("/jobs", content=b'{"definition": "note"}', headers=headers)
        emitted = await api.post("/events", content=b'{"name": "e"}', headers=headers)
        assert {enqueued.status_code, emitted.status_code} <= {200, 201, 422}, name
