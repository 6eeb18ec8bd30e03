"""Error pointers use the field and parameter names that the caller sent."""

import pytest

from windlass.api.middleware.field_names import with_body_names
from windlass.api.schema.requests import PasswordByLink, PasswordChange
from windlass.errors import OptionInvalid

NOON = "2090-01-01T12:00:00Z"


@pytest.fixture(autouse=True)
def hello(wl):
    @wl.job
    def hello(name: str) -> str:
        return name

    return hello


BODIES = {
    "a time that is past": ("/jobs", {"due_at": "2020-01-01T00:00:00Z"}, "/due_at"),
    "both a time and a delay": ("/jobs", {"due_at": NOON, "delay_seconds": 3}, "/due_at"),
    "no timeout": ("/jobs", {"timeout_seconds": 0}, "/timeout_seconds"),
    "a union": ("/jobs", {"priority": "hgh"}, "/priority"),
    "a union within a list": ("/jobs", {"after": [["x"]]}, "/after/0"),
    "an unknown field": ("/jobs", {"prioriti": 3}, "/prioriti"),
    "a field of the payload": ("/jobs", {"payload": {"name": 7}}, "/payload/name"),
    "no object": ("/jobs", {"payload": [1]}, "/payload"),
    "a changed job's time": ("/operations/preview",
                             {"action": "update", "q": "state:queued",
                              "changes": {"due_at": NOON, "delay_seconds": 3}}, "/changes/due_at"),
    "an interval": ("/schedules", {"name": "x", "type": "interval", "interval_seconds": 0},
                    "/interval_seconds"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", BODIES)
async def test_a_body_pointer_names_the_field_as_sent(api, wrong):
    path, body, pointer = BODIES[wrong]
    words = {} if path.startswith("/operations") else {"definition": "hello"}
    payload = {"payload": {"name": "Ada"}} if path == "/jobs" else {}

    response = await api.post(path, json={**words, **payload, **body})

    problem = response.json()
    assert response.status_code == 422, problem
    assert {each["pointer"] for each in problem["errors"]} == {pointer}
    words = " ".join(
        [problem["title"], problem["detail"], *(each["message"] for each in problem["errors"])]
    )
    assert not any(word in words for word in ("'", "None", "True", "[1]", "dict", "literal"))


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/jobs?limit=many", "?limit"),
        ("/jobs?state=done", "?state"),
        ("/jobs?cursor=zz", "?cursor"),
        ("/logs?since=zz", "?since"),
        ("/logs?level=loud", "?level"),
        ("/jobs/abc", "{job_id}"),
        ("/jobs/......", "{job_id}"),
    ],
)
async def test_a_parameter_pointer_names_the_parameter_as_sent(api, path, pointer):
    response = await api.get(path)

    assert [each["pointer"] for each in response.json()["errors"]] == [pointer]


async def test_malformed_json_is_reported_with_its_position(api):
    broken = b'{"definition": "hello",\n "payload": {"name": Ada}}'

    response = await api.post("/jobs", content=broken, headers={"content-type": "application/json"})

    problem = response.json()
    assert (response.status_code, problem["code"]) == (422, "WL2101")
    [error] = problem["errors"]
    assert error["pointer"] == ""
    assert "line 2, column 22" in error["message"]


async def test_a_wrong_content_type_and_a_missing_body_are_distinguished(api):
    text = await api.post("/jobs", content=b"{}", headers={"content-type": "text/plain"})
    none = await api.post("/jobs")

    assert "application/json" in text.json()["errors"][0]["message"]
    assert "no body" in none.json()["errors"][0]["message"]


async def test_secrets_and_payloads_are_not_echoed(api):
    for path, body in (
        ("/login", {"name": "ada", "password": ["hunter2"]}),
        ("/login/link", {"link": "hunter2" * 100}),
        ("/jobs", {"definition": "hello", "payload": "hunter2"}),
        ("/events", {"name": "e", "data": "hunter2"}),
    ):
        response = await api.post(path, json=body, headers={"origin": "http://localhost"})

        assert response.status_code == 422
        assert "hunter2" not in response.text


@pytest.mark.parametrize("model", [PasswordByLink, PasswordChange])
def test_a_refused_password_is_not_echoed(model):
    refused = OptionInvalid("password", "•••", allowed="12 characters or more")
    field = "after" if model is PasswordChange else "password"

    renamed = with_body_names(model, refused, {field: "hunter2"})

    assert renamed.errors[0].pointer == f"/{field}"
    assert "hunter2" not in f"{renamed} {renamed.errors}"


async def test_oversized_metadata_is_not_echoed(api):
    body = {"definition": "hello", "payload": {"name": "Ada"}, "metadata": {"a": "x" * 100_000}}

    response = await api.post("/jobs", json=body)

    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/metadata"
    assert "xxx" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/jobs", "GET, POST"),
        ("PUT", "/jobs/0190a5d0-0000-7000-8000-000000000000", "DELETE, GET, PATCH"),
        ("GET", "/login", "POST"),
        ("POST", "/tokens/0190a5d0-0000-7000-8000-000000000000", "DELETE"),
    ],
)
async def test_a_method_that_is_not_allowed_lists_the_allowed_ones(api, method, path, allowed):
    response = await api.request(method, path)

    assert (response.status_code, response.headers["allow"]) == (405, allowed)
    assert allowed in response.json()["hint"]
