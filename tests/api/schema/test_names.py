"""Visible names are refused if they could control a terminal or hide in a list."""

from dataclasses import replace
from urllib.parse import quote

import pytest

#: (method, path, body); `{}` is where the name stands.
DOORS = {
    "a tenant's id": ("POST", "/tenants", {"id": "{}"}),
    "a tenant's name": ("POST", "/tenants", {"id": "acme", "name": "{}"}),
    "a tenant's new name": ("PATCH", "/tenants/default", {"name": "{}"}),
    "a definition": ("POST", "/definitions", {"key": "{}", "path": "a.b"}),
    "a definition's title": ("POST", "/definitions", {"key": "k", "path": "a.b", "title": "{}"}),
    "a definition's queue": ("POST", "/definitions", {"key": "k", "path": "a.b", "queue": "{}"}),
    "a schedule": (
        "POST",
        "/schedules",
        {"name": "{}", "type": "cron", "definition": "hello", "cron": "0 2 * * *"},
    ),
    "a trigger": (
        "POST",
        "/triggers",
        {"name": "{}", "type": "event", "definition": "hello", "event_name": "e"},
    ),
    "a trigger's event": (
        "POST",
        "/triggers",
        {"name": "t", "type": "event", "definition": "hello", "event_name": "{}"},
    ),
    "an event": ("POST", "/events", {"name": "{}"}),
    "a user": ("POST", "/users", {"name": "{}"}),
    "a member": ("POST", "/members", {"name": "{}", "tenant": "default"}),
    "a token": ("POST", "/tokens", {"name": "{}", "role": "worker"}),
    "a job's queue": ("POST", "/jobs", {"definition": "hello", "queue": "{}"}),
    "a worker": ("POST", "/worker/leave", {"worker": "{}"}),
}
#: Keys that an application makes of its data, which may begin with a space.
KEYS = {
    "an event's correlation id": ("POST", "/events", {"name": "e", "correlation_id": "{}"}),
    "a dedupe key": ("POST", "/jobs", {"definition": "hello", "dedupe_key": "{}"}),
    "an idempotency key": ("POST", "/jobs", {"definition": "hello", "idempotency_key": "{}"}),
    "a correlation id": ("POST", "/jobs", {"definition": "hello", "correlation_id": "{}"}),
}
REFUSED = [
    "a\x1bb",
    "a\nb",
    "a\rb",
    "a\x7fb",
    "a\x9bb",
    "a\u202eb",
    "a\u2066b",
    "a\u2028b",
    "a\x00b",
]


@pytest.fixture(autouse=True)
def hello(wl):
    @wl.job
    def hello() -> None: ...

    return hello


@pytest.mark.parametrize("door", DOORS | KEYS)
async def test_unprintable_characters_are_refused(api, door):
    method, path, body = (DOORS | KEYS)[door]

    responses = [
        await api.request(method, path, json=_named(body, name)) for name in ["", *REFUSED]
    ]

    assert [response.status_code for response in responses] == [422] * (1 + len(REFUSED))


@pytest.mark.parametrize("door", DOORS)
async def test_a_name_has_no_surrounding_spaces(api, door):
    method, path, body = DOORS[door]

    responses = [
        await api.request(method, path, json=_named(body, name)) for name in [" a", "a\u00a0"]
    ]

    assert [response.status_code for response in responses] == [422, 422]


@pytest.mark.parametrize("door", KEYS)
async def test_a_key_may_have_surrounding_spaces(api, door):
    method, path, body = KEYS[door]

    response = await api.request(method, path, json=_named(body, " a "))

    assert response.status_code == 201


async def test_the_refusal_names_the_character_and_its_position(api):
    response = await api.post("/events", json={"name": "a\u202eb"})

    assert response.json()["title"] == r'event cannot be "a\u202eb".'
    assert response.json()["detail"] == "Character 2 is U+202E, which does not print."


@pytest.mark.parametrize("name", REFUSED[:-1])
async def test_an_unused_queue_with_an_unprintable_name_is_not_created(api, wl, name):
    path = f"/queues/{quote(name)}"

    responses = [
        await api.post(f"{path}/pause", json={}),
        await api.post(f"{path}/resume"),
        await api.patch(path, json={"max_concurrency": 1}),
    ]

    assert [response.status_code for response in responses] == [422] * 3
    assert await wl.queues.list() == []


async def test_an_existing_queue_with_an_unprintable_name_can_be_paused(wl):
    storage = (await wl.ready()).storage
    await storage.leases.upsert_queue("old\x1b[2J", paused=False)

    paused = await wl.queues.pause("old\x1b[2J")

    assert (paused.name, paused.paused_at is not None) == ("old\x1b[2J", True)


async def test_a_tenant_with_an_unprintable_name_can_be_suspended(wl):
    storage = (await wl.ready()).storage
    await wl.tenants.create("acme")
    await storage.access.change_tenant("acme", lambda tenant: replace(tenant, name="old\x1b[2J"))

    await wl.tenants.suspend("acme")

    assert (await wl.tenants.get("acme")).state == "suspended"


async def test_a_workers_host_is_stored_with_escapes(api):
    row = {
        "worker": "far:1",
        "hostname": "h\x1b[2J\x00",
        "pid": 1,
        "version": "\u202e1",
        "slots": 2,
    }

    beat = await api.post("/worker/beat", json={**row, "queues": ["q\x00"]})
    [seen] = (await api.get("/workers")).json()["items"]

    assert beat.status_code == 200
    assert (seen["hostname"], seen["version"]) == (r"h\x1b[2J\x00", r"\u202e1")
    assert seen["queues"] == [r"q\x00"]


def _named(body: dict[str, str], name: str) -> dict[str, str]:
    return {field: name if value == "{}" else value for field, value in body.items()}
