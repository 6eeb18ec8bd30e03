"""Hints name requests over HTTP, and commands on the command line."""

import re

import pytest

from tests.errors.test_errors import EXAMPLES
from windlass import Settings, Windlass
from windlass.api.app import create_api
from windlass.api.middleware.hints import REQUESTS, commands_to_requests
from windlass.api.routing import PREFIX

#: Commands that start, set up or look at a process or a database: no request does that.
OF_PROCESSES = {
    "worker", "serve", "dev", "scheduler", "doctor", "db", "config", "definitions sync", "--help",
    "init", "explain",
}  # fmt: skip


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_no_hint_names_a_command_that_has_a_request(error):
    hint = commands_to_requests(f"{error.hint} {error.reason} {' '.join(map(str, error.errors))}")

    left = re.findall(r"`windlass ([^`]*)`", hint)
    assert [c for c in left if not any(c.startswith(each) for each in OF_PROCESSES)] == []


def test_every_request_in_a_hint_exists_in_the_api():
    paths = create_api(Windlass("sqlite:///:memory:", settings=Settings())).openapi()["paths"]

    for request in REQUESTS.values():
        method, _, path = request.partition(" ")
        assert method.lower() in paths[f"{PREFIX}{path.partition('?')[0]}"], request


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("`windlass jobs show 8c1f42d7`.", "`GET /api/v1/jobs/8c1f42d7`."),
        ("`windlass definitions enable a b/c`", "`POST /api/v1/definitions/a/enable`"),
        ("`windlass definitions enable x/y`", "`POST /api/v1/definitions/x%2Fy/enable`"),
        ("`windlass dead groups --all` has", "`GET /api/v1/dead/groups` has"),
        ("Sign in (`windlass login`)", "Sign in (`POST /api/v1/login`)"),
        ("start `windlass worker`", "start `windlass worker`"),
        ("windlass jobs run-now 8c1f42d7", "POST /api/v1/jobs/8c1f42d7/run-now"),
        ("windlass jobs show <id> shows each", "GET /api/v1/jobs/{job_id} shows each"),
        ("windlass worker", "windlass worker"),
    ],
)
def test_a_command_is_translated_to_its_request(said, told):
    assert commands_to_requests(said) == told


async def test_error_hints_name_requests_over_http_and_commands_on_the_command_line(api, wl):
    @wl.job
    def hello() -> None: ...

    await wl.ready()
    await wl.definitions.disable("hello")
    body = {"definition": "hello"}

    response = await api.post("/jobs", json=body)
    typed = await api.post("/jobs", json=body, headers={"x-windlass-caller": "commands"})

    assert response.json()["hint"] == "Enable it: `POST /api/v1/definitions/hello/enable`."
    assert typed.json()["hint"] == "Enable it: `windlass definitions enable hello`."


async def test_explanations_name_requests_over_http_and_commands_on_the_command_line(api, wl):
    @wl.job
    def hello() -> None: ...

    id = (await wl.enqueue("hello", hold=True)).job_id

    response = await api.get(f"/jobs/{id}/explain")
    typed = await api.get(f"/jobs/{id}/explain", headers={"x-windlass-caller": "commands"})

    assert response.json()["hint"] == f"POST /api/v1/jobs/{str(id)[-8:]}/run-now"
    assert typed.json()["hint"] == f"windlass jobs run-now {str(id)[-8:]}"


async def test_all_timestamps_in_responses_have_equal_width(api, wl):
    @wl.job
    def hello() -> None: ...

    created = await api.post(
        "/jobs", json={"definition": "hello", "due_at": "2090-01-01T12:00:00Z"}
    )
    listed = await api.get("/jobs")
    summary = await api.get("/jobs/summary")
    definitions = await api.get("/definitions")

    instants = [
        found
        for response in (created, listed, summary, definitions)
        for found in re.findall(r'"(\d{4}-\d\d-\d\dT[^"]*)"', response.text)
    ]
    assert "2090-01-01T12:00:00.000000Z" in instants
    assert len(instants) > 4
    assert {len(each) for each in instants} == {len("2090-01-01T12:00:00.000000Z")}
