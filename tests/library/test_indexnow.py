"""Submitting the sitemap to IndexNow, to a real server."""

import json

import pytest

from tests.library.http_servers import serving
from tests.library.test_sitemap import SITE, Numbered
from windlass import JobFailed, Settings, Windlass, library

KEY = "0123456789abcdef"
KEY_GROUP = {"library.indexnow_enabled": True, "library.indexnow_api_key": KEY}

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def app(database, tmp_path, endpoint, pages=1, **more):
    given = {
        "library.indexnow_endpoint": endpoint,
        "library.http_networks": "127.0.0.1",
        **KEY_GROUP,
        **more,
    }
    wl = Windlass(database.url, settings=Settings.load(given))
    wl.install(library.Cms(site_url=SITE, sitemap_directory=str(tmp_path), content=Numbered(pages)))
    return wl


async def ended(wl, key, payload=None, **options):
    receipt = await wl.enqueue(key, payload, **options)
    try:
        await wl.jobs.wait(receipt.job_id, "30s")
    except JobFailed:
        pass
    return await wl.jobs.get(receipt.job_id)


async def test_a_sitemap_is_submitted_once_whoever_asks(database, tmp_path):
    url = f"{SITE}/sitemap.xml"
    with serving(lambda _: (202, {}, [])) as server:
        wl = app(database, tmp_path, f"{server.url}/indexnow")
        async with wl.running():
            await ended(wl, "sitemap.generate")
            by_schedule = await ended(wl, "sitemap.indexnow", {"sitemapUrl": None})
            by_event = await ended(wl, "sitemap.indexnow", {"sitemapUrl": url})
        await wl.close()
        wl = app(database, tmp_path, f"{server.url}/indexnow", pages=2)
        async with wl.running():
            await ended(wl, "sitemap.generate")
            changed = await ended(wl, "sitemap.indexnow")
        await wl.close()

    assert [each.result for each in (by_schedule, by_event, changed)] == [
        {"submitted": True},
        {"submitted": False},
        {"submitted": True},
    ]
    first, _ = server.received
    assert (first.method, first.path) == ("POST", "/indexnow")
    assert json.loads(first.body) == {"host": "example.com", "key": KEY, "urlList": [url]}


@pytest.mark.parametrize("name", KEY_GROUP)
async def test_it_does_nothing_unless_it_is_enabled_and_has_a_key(database, tmp_path, name):
    with serving() as server:
        wl = app(database, tmp_path, server.url, **{name: None})
        async with wl.running():
            job = await ended(wl, "sitemap.indexnow")
        await wl.close()

    assert (job.state, job.result, server.received) == ("completed", {"submitted": False}, [])


async def test_an_error_of_the_api_is_logged_and_tried_again(database, tmp_path):
    statuses = [503, 200]
    with serving(lambda _: (statuses.pop(0), {}, [])) as server:
        wl = app(database, tmp_path, server.url)
        async with wl.running():
            generated = await ended(wl, "sitemap.generate")
            failed = await ended(wl, "sitemap.indexnow", max_attempts=1)
            lines = [line.message for line in await wl.jobs.logs(failed.id)]
            again = await ended(wl, "sitemap.indexnow")
        await wl.close()

    assert (generated.state, failed.state) == ("completed", "dead_letter")
    assert any("status 503" in line for line in lines)
    assert again.result == {"submitted": True}
    assert KEY not in f"{lines} {failed.last_error}"


async def test_it_follows_the_sitemap_after_30_seconds_and_at_two(database, tmp_path):
    wl = app(database, tmp_path, "http://127.0.0.1:9/")
    await wl.ready()
    await wl.emit("SitemapUpdatedEvent", {"url": f"{SITE}/sitemap.xml"})

    [job] = (await wl.jobs.list()).jobs
    [schedule] = await wl.schedules.list(definition="sitemap.indexnow")
    definition = await wl.definitions.get("sitemap.indexnow")
    backoff = wl.handlers["sitemap.indexnow"].backoff
    await wl.close()

    assert job.definition == "sitemap.indexnow"
    assert (job.due_at - job.created_at).total_seconds() == pytest.approx(30, abs=1)
    assert (schedule.cron, schedule.payload) == ("0 2 * * *", {"sitemapUrl": None})
    assert definition.runs_after == ("sitemap.generate",)
    assert (definition.max_attempts, backoff.kind, backoff.base) == (3, "fixed", 60.0)


async def test_a_private_endpoint_is_refused(database, tmp_path):
    with serving() as server:
        wl = app(database, tmp_path, server.url, **{"library.http_networks": None})
        async with wl.running():
            await ended(wl, "sitemap.generate")
            job = await ended(wl, "sitemap.indexnow")
        await wl.close()

    assert (job.state, job.attempts, server.received) == ("dead_letter", 1, [])


async def test_without_a_sitemap_nothing_is_submitted(database, tmp_path):
    with serving() as server:
        wl = app(database, tmp_path, server.url)
        async with wl.running():
            job = await ended(wl, "sitemap.indexnow")
        await wl.close()

    assert (job.result, server.received) == ({"submitted": False}, [])
    assert job.warnings == ("there is no sitemap to submit",)
