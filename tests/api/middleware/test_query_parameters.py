"""Query parameters: every route names those it takes, and refuses others."""

import pytest

from tests.api.authenticated_api import HERE, guarding


@pytest.fixture
async def guarded(wl):
    async with guarding(wl) as guarded:
        yield guarded


def address(path, route):
    """A route's path with something in the place of each parameter."""
    for each in route.get("parameters", ()):
        path = path.replace(f"{{{each['name']}}}", "0190a5d0-3c1f-7abc-8def-0123456789ab")
    return path


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_every_route_refuses_unknown_parameters(guarded):
    root, worker = await guarded.token("superadmin"), await guarded.token("worker")
    checked = 0

    for path, methods in guarded.app.openapi()["paths"].items():
        for method, route in methods.items():
            who = worker if path.startswith("/api/v1/worker/") else root
            response = await guarded.client.request(
                method, f"{address(path, route)}?colour=red", headers={**who, **HERE}
            )
            problem = response.json()
            assert (response.status_code, problem["code"]) == (422, "WL2101"), (
                method,
                path,
                problem,
            )
            assert "?colour" in {each["pointer"] for each in problem["errors"]}, (method, path)
            checked += 1
    assert checked > 90


@pytest.mark.parametrize(
    ("query", "pointer", "meant"),
    [
        ("stat=queued", "?stat", "state"),
        ("State=queued", "?State", "state"),
        ("limits=3", "?limits", "limit"),
        ("colour=red&q=x", "?colour", ""),
        ("offset=10", "?offset", "cursor"),
        ("status=failed", "?status", "state"),
    ],
)
async def test_an_unknown_parameter_suggests_the_nearest(api, wl, query, pointer, meant):
    response = await api.get(f"/jobs?{query}")

    [error] = response.json()["errors"]
    assert (response.status_code, error["pointer"]) == (422, pointer)
    assert f"did you mean {meant}?" in error["message"] if meant else "takes" in error["message"]


async def test_a_repeated_parameter_is_refused_unless_it_is_a_list(api, wl):
    twice = await api.get("/jobs?limit=1&limit=2")
    listed = await api.get("/jobs?state=queued&state=running")

    assert (twice.status_code, twice.json()["errors"][0]["pointer"]) == (422, "?limit")
    assert listed.status_code == 200


async def test_an_unauthenticated_caller_does_not_learn_the_parameters(guarded):
    response = await guarded.client.get("/api/v1/jobs?colour=red")

    assert response.status_code == 401
