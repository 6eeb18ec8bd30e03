"""Creating and editing definitions by one shape: all options of code, and the handler."""

import sys

import httpx2
import pytest

from windlass import Settings, Windlass
from windlass.api.access.callers import open_access
from windlass.api.app import create_api

EVERYTHING = {
    "title": "Report",
    "description": "Counts things.",
    "queue": "reports",
    "priority": 50,
    "max_attempts": 7,
    "backoff": {"kind": "fixed", "base_seconds": 3.0},
    "timeout_seconds": 60.0,
    "max_concurrency": 2,
    "limit_key": "args.day",
    "max_per_key": 1,
    "rate_limit": "5/min",
    "rate_per_key": "1/s",
    "dedupe": "payload",
    "dedupe_window_seconds": 30.0,
    "on_duplicate": "replace",
    "isolation": "process",
    "memory_limit_mb": 256,
    "idempotent": True,
    "requires_permission": "reports",
    "on_parent_failure": "run",
    "on_dead_letter": "alarm",
    "after": ["import"],
    "retention_days": 3.0,
    "log_retention_days": 2.0,
    "retention_count": 10,
    "tags": ["daily"],
    "default_payload": {"day": "today"},
    "metadata": {"team": "growth"},
    "enabled": False,
}
COMMANDS = f"""
[commands.greet]
run = ["{sys.executable}", "-c", "import sys; print('hello', sys.argv[1])", "{{name}}"]
tenant_flag = false
payload_schema = {{properties = {{name = {{type = "string", maxLength = 9}}}}, required = ["name"]}}
"""


def shape(shown):
    """The fields of a definition that are in EVERYTHING."""
    options = {**shown, "after": shown["runs_after"]}
    options["backoff"] = {name: options["backoff"][name] for name in ("kind", "base_seconds")}
    return {name: options[name] for name in EVERYTHING}


@pytest.fixture
async def lab(database, tmp_path):
    file = tmp_path / "windlass.toml"
    file.write_text(f'[worker]\nhandler_paths = ["tests"]\n{COMMANDS}', "utf-8")
    async with Windlass(database.url, settings=Settings.load(file=file)) as wl:
        transport = httpx2.ASGITransport(create_api(wl, authenticate=open_access))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://localhost/api/v1"
        ) as api:
            yield wl, api


async def test_a_definition_can_be_created_with_every_option(lab):
    _, api = lab

    created = await api.post(
        "/definitions", json={"key": "report", "path": "tests.jobs.report", **EVERYTHING}
    )

    assert created.status_code == 201, created.text
    assert shape(created.json()) == EVERYTHING
    assert (created.json()["kind"], created.json()["handler"]) == ("path", "tests.jobs.report")
    assert shape((await api.get("/definitions/report")).json()) == EVERYTHING


async def test_a_code_definition_is_edited_and_reset_by_the_same_shape(lab):
    wl, api = lab

    @wl.job("report", tags=["old"])
    def report(day: str) -> None: ...

    await wl.ready()
    before = (await api.get("/definitions/report")).json()
    report.handler.definition  # noqa: B018
    edit = {**EVERYTHING, "isolation": "thread", "memory_limit_mb": None}
    edited = await api.patch("/definitions/report", json=edit)
    refused = await api.patch("/definitions/report", json={"payload_schema": {}})
    await wl.ready()
    reset = await api.post("/definitions/reset")
    after = (await api.get("/definitions/report")).json()

    assert edited.status_code == 200, edited.text
    assert shape(edited.json()) == edit
    assert {"title", "queue", "default_payload", "runs_after"} <= set(edited.json()["edited"])
    assert edited.json()["code"]["default_payload"] == {}
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/payload_schema")
    assert [each["key"] for each in reset.json()["items"]] == ["report"]
    times = {"updated_at": None}
    assert {**after, **times} == {**before, **times}


async def test_an_edited_default_payload_takes_effect_at_once(lab):
    wl, _ = lab

    @wl.job
    def report(day: str) -> None: ...

    await wl.ready()
    await wl.definitions.edit("report", default_payload={"day": "monday"}, queue="slow")
    job = await wl.jobs.get((await report.enqueue()).job_id)  # type: ignore[call-arg]

    assert (job.payload, job.queue) == ({"day": "monday"}, "slow")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"timeout_seconds": 0}, "/timeout_seconds"),
        ({"dedupe_window_seconds": 0}, "/dedupe_window_seconds"),
        ({"backoff": {"kind": "wild"}}, "/backoff/kind"),
        ({"max_per_key": 2}, "/limit_key"),
        ({"limit_key": "day"}, "/limit_key"),
        ({"memory_limit_mb": 64}, "/memory_limit_mb"),
        ({"default_payload": {"day": 3}}, "/default_payload/day"),
        ({"path": "tests.a", "command": "greet"}, "/command"),
        ({"command": "format-disk"}, "/command"),
        ({"kind": "code"}, "/kind"),
    ],
)
async def test_invalid_values_are_refused_with_a_pointer(lab, change, pointer):
    _, api = lab
    schema = {"properties": {"day": {"type": "string"}}, "required": ["day"]}
    body = {"key": "report", "path": "tests.jobs.report", "payload_schema": schema}
    await api.post("/definitions", json=body)

    refused = await api.patch("/definitions/report", json=change)

    assert refused.status_code == 422, refused.text
    assert [each["pointer"] for each in refused.json()["errors"]] == [pointer]


async def test_creating_a_definition_is_idempotent(lab):
    wl, api = lab

    @wl.job
    def declared() -> None: ...

    body = {"key": "report", "path": "tests.jobs.report", "max_attempts": 5}
    first = await api.post("/definitions", json=body)
    again = await api.post("/definitions", json=body)
    kept = await api.post("/definitions", json={**body, "max_attempts": 9, "if_exists": "keep"})
    updated = await api.post(
        "/definitions", json={**body, "max_attempts": 9, "if_exists": "update"}
    )
    code = await api.post("/definitions", json={**body, "key": "declared", "if_exists": "update"})

    codes = [each.status_code for each in (first, again, kept, updated, code)]
    assert codes == [201, 409, 200, 200, 409]
    assert (kept.json()["max_attempts"], updated.json()["max_attempts"]) == (5, 9)
    assert (await wl.definitions.create("report", path="tests.x.y", if_exists="keep")).handler


async def test_a_definition_may_use_a_configured_command_with_a_narrower_schema(lab):
    wl, api = lab
    schema = {"properties": {"name": {"enum": ["Ada", "a long long name"]}}, "required": ["name"]}

    created = await api.post(
        "/definitions", json={"key": "greet.ada", "command": "greet", "payload_schema": schema}
    )
    wide = await api.post(
        "/definitions",
        json={
            "key": "greet.all",
            "command": "greet",
            "payload_schema": {"properties": {"name": {}, "shout": {}}, "required": ["name"]},
        },
    )
    refused = await api.post("/jobs", json={"definition": "greet.ada", "payload": {"name": "Bob"}})
    good = await wl.enqueue("greet.ada", {"name": "Ada"})
    long = await wl.enqueue("greet.ada", {"name": "a long long name"}, max_attempts=1)
    async with wl.running():
        await wl.jobs.wait(good.job_id, "30s")
        with pytest.raises(Exception, match="name"):
            await wl.jobs.wait(long.job_id, "30s")

    assert created.status_code == 201, created.text
    assert (created.json()["kind"], created.json()["isolation"]) == ("command", "process")
    assert (wide.status_code, wide.json()["errors"][0]["pointer"]) == (422, "/payload_schema")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"].endswith("/name")
    attempt = (await wl.jobs.attempts(good.job_id))[0]
    assert "hello Ada" in (attempt.stdout_tail or "")


async def test_a_definition_may_have_a_handler_in_another_language(lab):
    wl, api = lab
    created = await api.post(
        "/definitions",
        json={"key": "resize", "kind": "remote", "payload_schema": {"required": ["path"]}},
    )
    enqueued = await wl.enqueue("resize", {"path": "/in"})

    claimed = await api.post(
        "/worker/jobs/claim", json={"worker": "go:1", "slots": 1, "definitions": {"resize": 1}}
    )

    assert (created.status_code, created.json()["kind"]) == (201, "remote")
    assert str(enqueued.job_id) in claimed.text, claimed.text
