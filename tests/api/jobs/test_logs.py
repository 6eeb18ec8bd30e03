"""`/logs`: lines are found by their words and link to their jobs."""

import pytest

from windlass import JobContext


@pytest.fixture
async def sent(wl):
    """A job that has ended, after three lines about mail."""

    @wl.job
    def mail(ctx: JobContext) -> None:
        ctx.log.info("mail sent")
        ctx.log.error("mail lost on the way")
        ctx.log.info("mail with password=hunter2")

    async with wl.running():
        receipt = await mail.enqueue()
        await wl.jobs.wait(receipt.job_id)
    return str(receipt.job_id)


async def found(api, **params):
    response = await api.get("/logs", params={"words": "mail", **params})
    assert response.status_code == 200, response.text
    return response.json()["items"]


async def test_a_hit_links_to_the_line_in_its_job(api, sent):
    [hit] = await found(api, words="LOST mail")
    after = {"after": hit["sequence"] - 1, "limit": 1}
    [line] = (await api.get(f"/jobs/{hit['job_id']}/logs", params=after)).json()["items"]

    assert hit == line
    assert (hit["job_id"], hit["sequence"], hit["level"]) == (sent, 2, "error")
    assert (hit["definition"], hit["message"]) == ("mail", "mail lost on the way")


async def test_hits_are_filtered_and_redacted(api, sent):
    assert [line["sequence"] for line in await found(api)] == [3, 2, 1]
    assert [line["sequence"] for line in await found(api, level="error")] == [2]
    assert len(await found(api, job=sent[-12:], definition="mail", since="-1h")) == 3
    assert await found(api, until="-1h") == []
    assert await found(api, definition="other") == []
    assert "hunter2" not in str(await found(api, words="password"))


async def test_hits_are_paged_by_cursor(api, sent):
    seen, cursor = [], {}
    for _ in range(3):
        page = (await api.get("/logs", params={"words": "mail", "limit": 1, **cursor})).json()
        seen += [line["sequence"] for line in page["items"]]
        cursor = {"cursor": page["next_cursor"]}
    elsewhere = await api.get("/logs", params={"words": "mail", "limit": 1, "cursor": "x" * 60})

    assert (seen, page["next_cursor"]) == ([3, 2, 1], None)
    assert elsewhere.status_code == 422


@pytest.mark.parametrize(
    "wrong", [{"words": ""}, {"level": "loud"}, {"since": "yesterday"}, {"limit": 0}]
)
async def test_invalid_searches_are_refused(api, wl, wrong):
    response = await api.get("/logs", params={"words": "mail", **wrong})

    assert response.status_code == 422


async def test_an_unknown_job_is_not_found(api, wl):
    response = await api.get("/logs", params={"words": "mail", "job": "0190a5d0-dead-beef"})

    assert (response.status_code, response.json()["code"]) == (404, "WL3301")


async def test_the_volume_of_a_search_is_counted_by_slot_and_level(api, sent):
    whole = (await api.get("/logs/volume")).json()
    chosen = (await api.get("/logs/volume", params={"words": "LOST mail", "since": "-1h"})).json()
    none = (await api.get("/logs/volume", params={"definition": "other"})).json()
    wrong = await api.get("/logs/volume", params={"since": "-1h", "until": "-2h"})

    levels = ("debug", "info", "warn", "error")
    counted = [sum(point[level] for point in whole["points"]) for level in levels]
    assert (counted, whole["total"], whole["exact"]) == ([0, 2, 0, 1], 3, True)
    assert (whole["slot_seconds"], len(whole["points"])) == (1800, 49)
    assert [sum(point[level] for point in chosen["points"]) for level in levels] == [0, 0, 0, 1]
    assert (chosen["slot_seconds"], len(chosen["points"])) == (60, 61)
    assert none["total"] == 0
    assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (422, "?since")
