"""Triggers and schedules over HTTP: types, fields, warnings, previews, and event results."""

import pytest

from tests.support.wait import until

AT_TWO = {"name": "nightly", "definition": "ingest", "payload": {"path": "/"}, "cron": "0 2 * * *"}


@pytest.fixture(autouse=True)
async def ingest(wl):
    @wl.job
    def ingest(path: str) -> str:
        return path

    await wl.ready()
    return ingest


def pointers(answer) -> list[str]:
    return [error["pointer"] for error in answer.json()["errors"]]


@pytest.mark.parametrize(
    ("fields", "type"),
    [
        ({"cron": "0 2 * * *"}, "cron"),
        ({"interval_seconds": 60}, "interval"),
        ({"at": "2999-01-01T00:00:00Z"}, "once"),
        ({"type": "init"}, "init"),
        ({"run_once": True}, "init"),
    ],
)
async def test_the_trigger_type_follows_from_its_fields(api, fields, type):
    about = {name: AT_TWO[name] for name in ("name", "definition", "payload")}

    created = (await api.post("/schedules", json={**about, **fields})).json()

    assert (created["type"], created["run_once"]) == (type, type == "init")


@pytest.mark.parametrize(
    ("noun", "change", "wrong"),
    [
        ("schedules", {"interval_seconds": 60}, ["/interval_seconds"]),
        ("schedules", {"type": "interval"}, ["/cron"]),
        ("schedules", {"event_name": "e"}, ["/event_name"]),
        ("triggers", {"run_once": True, "condition": {"a": 1}}, ["/condition", "/run_once"]),
        ("triggers", {"type": "event", "cron": None}, ["/event_name"]),
        ("triggers", {"type": "event", "event_name": "e", "cron": None, "overlap": "skip"}, ["/overlap"]),
        ("schedules", {"cron": None}, ["/type"]),
        ("schedules", {"type": "once", "cron": None}, ["/at"]),
        ("schedules", {"cron": None, "interval_seconds": 0.5}, ["/interval_seconds"]),
        ("schedules", {"cron": None, "interval_seconds": 60, "timezone": "UTC"}, ["/timezone"]),
    ],
)  # fmt: skip
async def test_fields_of_another_type_and_missing_ones_are_refused_with_a_pointer(
    api, noun, change, wrong
):
    refused = await api.post(f"/{noun}", json={**AT_TWO, **change})

    assert refused.status_code == 422
    assert sorted(pointers(refused)) == wrong


async def test_an_edit_may_change_the_type_and_refuses_fields_of_other_types(api):
    await api.post("/schedules", json={**AT_TWO, "timezone": "Asia/Tokyo"})

    moved = await api.patch("/schedules/nightly", json={"cron": "0 3 * * *"})
    strange = await api.patch("/schedules/nightly", json={"run_once": True})
    event = await api.patch("/triggers/nightly", json={"type": "event", "event_name": "e"})
    every = await api.patch("/schedules/nightly", json={"interval_seconds": 60})
    back = await api.patch("/schedules/nightly", json={"type": "cron", "cron": "0 4 * * *"})
    same = await api.patch("/schedules/nightly", json=back.json() | {"overlap": "skip"})

    assert moved.json()["timezone"] == "Asia/Tokyo"
    assert (strange.json()["code"], pointers(strange)) == ("WL4104", ["/run_once"])
    assert (event.status_code, pointers(event)) == (422, ["/type"])
    assert (every.json()["type"], every.json()["cron"]) == ("interval", None)
    assert (back.json()["type"], back.json()["timezone"]) == ("cron", "UTC")
    assert same.status_code == 422, "fields of the row that nobody sets are refused as ever"


async def test_null_clears_optional_fields_and_is_refused_elsewhere(api):
    about = {"name": "e", "definition": "ingest", "event_name": "e", "payload": {"path": "/"}}
    await api.post("/triggers", json={**about, "condition": {"a": 1}, "dedupe_key": "k"})
    await api.post("/schedules", json=AT_TWO)

    cleared = await api.patch("/triggers/e", json={"condition": None, "dedupe_key": None})
    nameless = await api.patch("/triggers/e", json={"event_name": None})
    silent = await api.patch("/triggers/nightly", json={"event_name": None, "condition": None})
    policy = await api.patch("/triggers/nightly", json={"misfire": None})

    assert (cleared.json()["condition"], cleared.json()["dedupe_key"]) == (None, None)
    assert (nameless.status_code, pointers(nameless)) == (422, ["/event_name"])
    assert (silent.status_code, silent.json()["next_run_at"] is not None) == (200, True)
    assert (policy.status_code, pointers(policy)) == (422, ["/misfire"])


async def test_a_surprising_window_returns_warnings(api):
    created = await api.post("/schedules", json={**AT_TWO, "dedupe_window_seconds": 2 * 86_400})
    keyed = await api.patch("/schedules/nightly", json={"dedupe_key": "{{schedule.due_at}}"})
    event = await api.post(
        "/triggers",
        json={"name": "e", "definition": "ingest", "event_name": "e", "dedupe_window_seconds": 9,
              "payload": {"path": "{{event.path}}"}},
    )  # fmt: skip

    assert [
        "no dedupe_key" in warnings or "swallowed" in warnings
        for warnings in created.json()["warnings"]
    ] == [
        True,
        True,
    ]
    assert keyed.json()["warnings"] == []
    assert ["no dedupe_key" in warnings for warnings in event.json()["warnings"]] == [True]
    assert (await api.get("/triggers/e")).json()["warnings"] == event.json()["warnings"]


async def test_a_schedule_is_previewed(api):
    found = await api.get(
        "/schedules/preview",
        params={"cron": "30 2 * * *", "timezone": "Europe/Berlin", "limit": 2,
                "after": "2027-03-27T00:00:00Z", "dedupe_window_seconds": 200_000},
    )  # fmt: skip
    wrong = await api.get("/schedules/preview", params={"cron": "61 * * * *"})
    mixed = await api.get("/schedules/preview", params={"cron": "@daily", "interval_seconds": 60})

    body = found.json()
    assert (body["words"], body["timezone"]) == (
        "every day at 02:30 (Europe/Berlin)",
        "Europe/Berlin",
    )
    assert [run["at"][:16] for run in body["runs"]] == ["2027-03-27T01:30", "2027-03-28T01:00"]
    assert ["skipped" in body["warnings"][0], "swallowed" in body["warnings"][-1]] == [True, True]
    assert (wrong.status_code, mixed.status_code) == (422, 422)


async def test_an_event_shows_which_triggers_matched_and_why_not(api):
    about = {"definition": "ingest", "event_name": "e", "payload": {"path": "{{event.path}}"}}
    await api.post("/triggers", json={"name": "a", "dedupe_key": "one", **about})
    await api.post("/triggers", json={"name": "b", "condition": {"kind": "scan"}, **about})

    first = (await api.post("/events", json={"name": "e", "data": {"path": "/"}})).json()
    second = (await api.post("/events", json={"name": "e", "data": {"path": "/"}})).json()
    third = (await api.post("/events", json={"name": "e", "data": {"password": "/"}})).json()

    shown = (await api.get(f"/events/{second['id']}")).json()
    outcomes = [(match["trigger"], match["outcome"]) for match in shown["matches"]]
    assert (first["jobs"], second["jobs"]) == (1, 0)
    assert outcomes == [("a", "existing"), ("b", "unmatched")]
    assert shown["matches"][0]["job_id"] == first["matches"][0]["job_id"]
    assert [match["outcome"] for match in third["matches"]] == ["failed", "unmatched"]


async def test_trigger_lists_can_be_filtered(api):
    await api.post("/schedules", json=AT_TWO)
    await api.post("/triggers", json={"name": "e", "definition": "ingest", "event_name": "e",
                                      "payload": {"path": "/"}, "enabled": False})  # fmt: skip
    for name in ("e", "f"):
        await api.post("/events", json={"name": name})

    async def names(path: str) -> list[str]:
        return [item["name"] for item in (await api.get(path)).json()["items"]]

    assert await names("/triggers?enabled=false") == await names("/triggers?event_name=e") == ["e"]
    assert await names("/triggers?type=cron&origin=operator&definition=ingest") == ["nightly"]
    assert await names("/schedules?failing=true") == []
    assert await names("/events?name=f&created_after=2020-01-01") == ["f"]
    assert await names("/events?created_before=2020-01-01") == []
    assert (await api.get("/triggers?type=hourly")).status_code == 422


async def test_a_list_of_schedules_tells_their_last_outcomes(api, wl):
    await api.post("/schedules", json={**AT_TWO, "name": "at start", "cron": None, "type": "init"})
    await api.post("/schedules", json=AT_TWO)

    async def outcomes():
        items = (await api.get("/schedules")).json()["items"]
        return {item["name"]: item["last_outcomes"] for item in items}

    async def completed():
        return [each["state"] for each in (await outcomes())["at start"]] == ["completed"]

    async with wl.running():
        await until(completed)
    found = await outcomes()
    triggers = (await api.get("/triggers")).json()["items"]

    [outcome] = found["at start"]
    job = (await api.get(f"/jobs/{outcome['job_id']}")).json()
    assert (job["state"], job["trigger_due_at"]) == (outcome["state"], outcome["due_at"])
    assert found["nightly"] == []
    assert [item["name"] for item in triggers if "last_outcomes" in item] == []
