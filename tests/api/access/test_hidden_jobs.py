"""Another user's job and an unknown one get byte-identical responses on every route."""

from dataclasses import dataclass

import pytest

from tests.api.authenticated_api import Guarded, guarding

UNKNOWN = "0190a5d0-3c1f-7abc-8def-0123456789ab"
#: What a route's body has to be, by how its path ends; `{}` for the others.
BODIES = {
    "/edit-retry": {"payload": {}},
    "/heartbeat": {"worker": "w", "token": 1},
    "/complete": {"worker": "w", "token": 1},
    "/fail": {"worker": "w", "token": 1, "error": "no", "error_type": "E"},
    "/release": {"worker": "w", "token": 1},
}
#: The ways to write an id that the API takes.
SPELLED = {
    "whole": str,
    "capitals": str.upper,
    "no dashes": lambda id: id.replace("-", ""),
    "its end": lambda id: id[-12:],
}


@dataclass
class People:
    """Ada and Bob of one tenant, Gus of another, and a job of Bob's and of Gus's."""

    guarded: Guarded
    ada: dict
    admin: dict
    bobs: str
    guss: str

    async def ask(self, method, path, who, **how):
        return await self.guarded.client.request(method, f"/api/v1{path}", headers=who, **how)

    def who(self, reach):
        """A caller, and the id of a job that is hidden from them."""
        return {
            "a user and another's job": (self.ada, self.bobs),
            "a user and another tenant's job": (self.ada, self.guss),
            "an admin and another tenant's job": (self.admin, self.guss),
        }[reach]


@pytest.fixture
async def people(wl):
    @wl.job
    def hello() -> None: ...

    async with guarding(wl) as guarded:
        ada, bob = await guarded.token("user", "acme"), await guarded.token("user", "acme")
        gus = await guarded.token("user", "globex")
        admin = await guarded.token("tenant_admin", "acme")
        created = [
            await guarded.client.post("/api/v1/jobs", json={"definition": "hello"}, headers=who)
            for who in (bob, gus)
        ]
        yield People(guarded, ada, admin, *[each.json()["job"]["id"] for each in created])


def comparable(answer, requested):
    """A response without the parts that differ by request: its own id and the requested one."""
    own = answer.headers["x-request-id"]
    headers = {name: value for name, value in answer.headers.items() if name != "x-request-id"}
    body = answer.text.replace(own, "<request>").replace(requested, "<asked>")
    headers["content-length"] = str(len(body))
    return answer.status_code, headers, body


REACHES = [
    "a user and another's job",
    "a user and another tenant's job",
    "an admin and another tenant's job",
]


@pytest.mark.parametrize("reach", REACHES)
async def test_another_users_job_is_not_found_on_any_route(people, reach):
    who, foreign = people.who(reach)
    looked_at = 0

    for method, path, _ in people.guarded.routes():
        if "{job_id}" not in path:
            continue
        looked_at += 1
        end = path.partition("{job_id}")[2]
        for spelled in SPELLED.values():
            responses = []
            for id in (foreign, UNKNOWN):
                path_id = spelled(id)
                where = path.removeprefix("/api/v1").replace("{job_id}", path_id)
                body = BODIES.get(end, {})
                responses.append(
                    comparable(await people.ask(method, where, who, json=body), path_id)
                )

            assert responses[0] == responses[1], (method, path)
            assert responses[0][0] in (403, 404, 405, 422), (method, path, responses[0])
    assert looked_at >= 18


@pytest.mark.parametrize("reach", REACHES)
async def test_a_filter_or_topic_with_another_users_job_is_not_found(people, reach):
    who, foreign = people.who(reach)

    for path, name in (("/logs", "job"), ("/jobs", "q"), ("/dead", "cursor"), ("/jobs", "cursor")):
        for spelled in SPELLED.values():
            responses = []
            for id in (foreign, UNKNOWN):
                path_id = spelled(id)
                value = f"id:{path_id}" if name == "q" else path_id
                responses.append(
                    comparable(await people.ask("GET", path, who, params={name: value}), path_id)
                )

            assert responses[0] == responses[1], (path, name)


@pytest.mark.parametrize("reach", REACHES[:2])
async def test_a_stream_of_another_users_job_is_not_found(people, reach):
    who, foreign = people.who(reach)

    responses = [
        comparable(await people.ask("GET", "/stream", who, params={"topics": f"job:{id}"}), id)
        for id in (foreign, UNKNOWN)
    ]

    assert responses[0] == responses[1]
    assert responses[0][0] == 404


@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
async def test_another_users_job_is_an_unknown_parent(people, reach, query):
    who, foreign = people.who(reach)
    own = (await people.ask("POST", "/jobs", who, json={"definition": "hello"})).json()["job"]["id"]
    other = "0190a5d0-3c1f-7abc-8def-ffff00000000"

    for parents in (["{}"], [own, "{}"], ["{}", other], [other, "{}"]):
        responses = []
        for id in (foreign, UNKNOWN):
            body = {"definition": "hello", "after": [each.format(id) for each in parents]}
            response = await people.ask("POST", f"/jobs{query}", who, json=body)
            status, headers, text = comparable(response, id)
            responses.append(
                (status, headers, text.replace(id[-12:], "<end>").replace(id[-8:], "<e>"))
            )

        assert [(a[0], a[2]) for a in responses[:1]] == [(a[0], a[2]) for a in responses[1:]], (
            parents
        )
        if not query:
            assert responses[0][0] == 422, responses[0]


async def test_a_graph_shows_a_user_only_their_own_jobs(people, wl):
    async def enqueue(who, after=()):
        body = {"definition": "hello", "after": list(after)}
        return (await people.ask("POST", "/jobs", who, json=body)).json()["job"]["id"]

    parent, alone = await enqueue(people.ada), await enqueue(people.ada)
    own = await enqueue(people.ada, [parent])
    foreign = await enqueue(people.admin, [parent, alone])

    async def edges(id, who):
        found = (await people.ask("GET", f"/jobs/{id}/graph", who)).json()["edges"]
        return {(each["parent_id"], each["child_id"]) for each in found}

    assert await edges(parent, people.ada) == {(parent, own)}
    assert await edges(alone, people.ada) == set()
    assert await edges(parent, people.admin) == {(parent, own), (parent, foreign)}


async def test_an_explanation_does_not_reveal_another_users_parent(people, wl):
    @wl.job(after=["hello"])
    def later() -> None: ...

    await wl.ready()
    created = await people.ask("POST", "/jobs", people.ada, json={"definition": "later"})
    id = created.json()["job"]["id"]

    for_ada = (await people.ask("GET", f"/jobs/{id}/explain", people.ada)).json()
    for_admin = (await people.ask("GET", f"/jobs/{id}/explain", people.admin)).json()
    graph = (await people.ask("GET", f"/jobs/{id}/graph", people.ada)).json()

    assert for_ada["code"] == for_admin["code"] == "waiting_for_jobs"
    assert people.bobs[-6:] in for_admin["sentence"]
    assert people.bobs[-6:] not in for_ada["sentence"]
    assert graph["edges"] == []
