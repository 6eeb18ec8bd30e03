"""The sitemap, from real tables to real files."""

import errno
import os
import tracemalloc
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from tests.databases.connect import execute
from tests.library.sources import SOURCES
from windlass import JobFailed, Settings, Windlass, library
from windlass.library.sitemap.sitemap_files import MOST_BYTES, MOST_URLS, SitemapFiles, new_sitemap

SITE = "https://example.com"
SPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
PUBLISHED = {"model": "Pages", "changed": {"status": {"to": "published"}}}


class Site:
    """The tables of a CMS."""

    def __init__(self, database):
        self._url = database.url
        instant = {"mariadb": "datetime", "sqlite": "text", "postgresql": "timestamptz"}
        for table in ("pages", "posts", "categories"):
            self.run(
                f"create table {table} (id integer primary key, status varchar(20), "
                f"updated_at {instant[database.kind]} null)"
            )
        key, prefix = ("`key`", "`prefix`") if database.kind == "mariadb" else ('"key"', "prefix")
        self.run(
            f"create table slugs ({key} varchar(200), {prefix} varchar(50), "
            "reference_id integer, reference_type varchar(50))"
        )

    def run(self, sql):
        execute(self._url, sql)

    def add(self, table, id, slug=None, *, prefix="", status="published", at="2026-11-01 08:00:00"):
        self.run(f"insert into {table} values ({id}, '{status}', '{at}')")
        if slug is not None:
            self.run(f"insert into slugs values ('{slug}', '{prefix}', {id}, '{table.title()}')")


@pytest.fixture
def site(database):
    return Site(database)


def read(directory, name="sitemap.xml"):
    """The addresses of a file, checked against the protocol's limits."""
    file = directory / name
    assert file.stat().st_size <= MOST_BYTES
    root = ElementTree.parse(file).getroot()
    assert root.tag in (f"{SPACE}urlset", f"{SPACE}sitemapindex")
    assert 1 <= len(root) <= MOST_URLS
    return root


def urls(root):
    return [each.findtext(f"{SPACE}loc") for each in root]


def install(wl, tmp_path, source=None, **options):
    group = library.Cms(site_url=f"{SITE}/", sitemap_directory=str(tmp_path), **options)
    wl.install(group, source=source)


@pytest.mark.parametrize("source", SOURCES)
async def test_published_content_is_listed_with_priority_and_time(
    wl, run, site, database, tmp_path, source
):
    site.add("pages", 1, "about us")
    site.add("pages", 2, "draft", status="draft")
    site.add("posts", 1, "first", prefix="blog")
    site.add("categories", 1, "a&b", prefix="topics")
    install(wl, tmp_path, SOURCES[source](database))

    job = await run("sitemap.generate")

    root = read(tmp_path)
    assert urls(root) == [f"{SITE}/about%20us", f"{SITE}/blog/first", f"{SITE}/topics/a%26b"]
    assert [each.findtext(f"{SPACE}priority") for each in root] == ["0.8", "0.7", "0.6"]
    times = {datetime.fromisoformat(each.findtext(f"{SPACE}lastmod")) for each in root}
    assert {each.tzinfo for each in times} == {UTC}
    assert (job.state, job.progress) == ("completed", 1.0)
    assert job.result == {
        "url": f"{SITE}/sitemap.xml",
        "pages": 3,
        "changed": True,
        "files": ["sitemap.xml"],
    }
    assert (tmp_path / "sitemap.xml").stat().st_mode & 0o777 == 0o644


async def test_a_repeated_run_changes_no_file_unless_forced(wl, run, site, tmp_path):
    site.add("pages", 1, "home")
    install(wl, tmp_path)
    await run("sitemap.generate")
    before = (tmp_path / "sitemap.xml").stat()

    again = await run("sitemap.generate")
    kept = (tmp_path / "sitemap.xml").stat()
    forced = await run("sitemap.generate", {"force": True})

    assert (again.result["changed"], again.result["files"]) == (False, [])
    assert (kept.st_ino, kept.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert forced.result["changed"]
    assert (tmp_path / "sitemap.xml").stat().st_ino != before.st_ino


async def test_a_bad_item_is_a_warning_and_the_others_are_listed(wl, run, site, tmp_path):
    site.add("pages", 1)
    site.add("pages", 2, "good")
    site.add("posts", 1, "x" * 199, prefix="y" * 50)
    install(wl, tmp_path)

    job = await run("sitemap.generate")

    assert job.result["pages"] == 2
    assert job.warnings == ("pages 1: it has no slug",)


async def test_success_emits_an_event_and_clears_the_sitemap_cache(wl, run, site, tmp_path):
    site.add("pages", 1, "home")
    (tmp_path / "cache").mkdir()
    cache = library.FileCache(str(tmp_path / "cache"))
    cache.put("sitemap", b"old", tags=["sitemap"])
    cache.put("home", b"kept", tags=["pages"])
    install(wl, tmp_path, cache=cache)

    job = await run("sitemap.generate")

    [event] = [each for each in await wl.events.list() if each.name == "SitemapUpdatedEvent"]
    assert event.data == job.result
    assert (cache.get("sitemap"), cache.get("home")) == (None, b"kept")


@pytest.mark.parametrize(
    ("data", "jobs"),
    [
        (PUBLISHED, 1),
        ({**PUBLISHED, "model": "Comments"}, 0),
        ({**PUBLISHED, "changed": {"status": {"to": "draft"}}}, 0),
        ({"model": "Pages"}, 0),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_publishing_content_writes_the_sitemap(wl, stored, tmp_path, data, jobs):
    install(wl, tmp_path)

    await wl.emit("CreatedContentEvent", data)
    await wl.emit("UpdatedContentEvent", data)

    assert [job.definition for job in await stored()] == ["sitemap.generate"] * 2 * jobs


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_it_is_scheduled_for_two_with_three_attempts(wl, tmp_path):
    install(wl, tmp_path)
    await wl.ready()

    [schedule] = await wl.schedules.list(definition="sitemap.generate")
    definition = await wl.definitions.get("sitemap.generate")

    assert (schedule.cron, schedule.payload) == ("0 2 * * *", {"force": False})
    assert (definition.max_attempts, definition.idempotent) == (3, True)
    backoff = wl.handlers["sitemap.generate"].backoff
    assert (backoff.kind, backoff.base, backoff.factor, backoff.jitter) == (
        "exponential",
        60.0,
        2.0,
        0.0,
    )


@pytest.mark.parametrize(
    ("missing", "named"), [("site_url", "library.site_url"), ("directory", "nowhere")]
)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_missing_setting_or_directory_is_named(database, site, tmp_path, missing, named):
    given = {
        "library.groups": "cms",
        "library.site_url": SITE if missing != "site_url" else None,
        "library.sitemap_directory": str(
            tmp_path / "nowhere" if missing == "directory" else tmp_path
        ),
    }
    wl = Windlass(database.url, settings=Settings.load(given))

    async with wl.running():
        receipt = await wl.enqueue("sitemap.generate")
        with pytest.raises(JobFailed):
            await wl.jobs.wait(receipt.job_id, "30s")
        job = await wl.jobs.get(receipt.job_id)
    await wl.close()

    assert (job.state, job.attempts) == ("dead_letter", 1)
    assert named in job.last_error


async def test_a_missing_table_is_named_and_the_old_sitemap_stays(wl, run, site, tmp_path):
    (tmp_path / "sitemap.xml").write_text("old")
    site.run("drop table posts")
    install(wl, tmp_path)

    job = await run("sitemap.generate")

    assert (job.state, job.attempts) == ("dead_letter", 1)
    assert 'no table "posts"' in job.last_error
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [
        ("sitemap.xml", "old")
    ]


class Numbered:
    """Content without a database: so many pages."""

    def __init__(self, count):
        self._count = count

    def count(self, source):
        return self._count

    def pages(self, source):
        for number in range(self._count):
            yield library.Page(f"page {number}", f"page/{number}", None, 0.5)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_50_000_pages_make_an_index_of_files_of_a_thousand(wl, run, tmp_path):
    install(wl, tmp_path, content=Numbered(50_000))

    job = await run("sitemap.generate")

    parts = urls(read(tmp_path))
    assert job.result["pages"] == 50_000
    assert parts == [f"{SITE}/sitemap-{number}.xml" for number in range(1, 51)]
    listed = [url for name in parts for url in urls(read(tmp_path, os.path.basename(name)))]
    assert listed == [f"{SITE}/page/{number}" for number in range(50_000)]


def test_memory_does_not_grow_with_the_number_of_pages(tmp_path):
    peaks = []
    for count in (2_000, 50_000):
        tracemalloc.start()
        with new_sitemap(str(tmp_path), SITE, items=1000) as files:
            for page in Numbered(count).pages(None):
                files.add(page)
            files.publish(force=True)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < peaks[0] + 200_000


def test_parts_that_are_no_longer_needed_go(tmp_path):
    (tmp_path / "sitemap-news.xml").write_text("of the application")
    for count, names in [
        (3, ["sitemap-1.xml", "sitemap-2.xml", "sitemap-news.xml", "sitemap.xml"]),
        (1, ["sitemap-news.xml", "sitemap.xml"]),
        (0, ["sitemap-news.xml", "sitemap.xml"]),
    ]:
        with new_sitemap(str(tmp_path), SITE, items=2) as files:
            for page in Numbered(count).pages(None):
                files.add(page)
            files.publish(force=False)

        assert sorted(file.name for file in tmp_path.iterdir()) == names


def test_a_file_never_exceeds_the_limit_of_bytes(tmp_path):
    files = SitemapFiles(str(tmp_path), SITE, items=50_000, most_bytes=2_000)
    for page in Numbered(100).pages(None):
        files.add(page)
    files.publish(force=False)

    sizes = [file.stat().st_size for file in tmp_path.glob("sitemap-*.xml")]
    assert len(sizes) > 3
    assert max(sizes) <= 2_000


def test_an_address_that_is_too_long_is_refused(tmp_path):
    with new_sitemap(str(tmp_path), SITE, items=10) as files:
        problem = files.add(library.Page("page 1", "x" * 2_100, None, 0.5))

    assert problem is not None
    assert "characters" in problem


def test_what_was_written_and_not_published_goes(tmp_path):
    (tmp_path / "sitemap.xml").write_text("old")

    with new_sitemap(str(tmp_path), SITE, items=2) as files:
        for page in Numbered(5).pages(None):
            files.add(page)

    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [
        ("sitemap.xml", "old")
    ]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
async def test_a_failed_attempt_leaves_the_old_sitemap(wl, tmp_path):
    (tmp_path / "sitemap.xml").write_text("old")
    install(wl, tmp_path, content=Failing(3))

    receipt = await wl.enqueue("sitemap.generate", max_attempts=1)
    async with wl.running():
        with pytest.raises(JobFailed):
            await wl.jobs.wait(receipt.job_id, "30s")

    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [
        ("sitemap.xml", "old")
    ]


class Failing(Numbered):
    """Content that fails after its last page, as a disk does that is full."""

    def pages(self, source):
        yield from super().pages(source)
        raise OSError(errno.ENOSPC, "No space left on device")
