"""Clearing caches, in real files and tables."""

import os
import time

import pytest

from tests.databases.connect import execute
from windlass import library
from windlass.library.data.expiry import BATCH


class Files:
    """A cache of files, with an entry by each of its names."""

    def __init__(self, tmp_path, database):
        self.cache = library.FileCache(str(tmp_path))
        self._names = set()

    def add(self, name, *tags, seconds=None):
        self._names.add(name)
        self.cache.put(name, name.encode(), seconds=seconds, tags=tags)

    @property
    def names(self):
        # What has expired and was not removed is a file all the same.
        return sorted(name for name in self._names if os.path.exists(self.cache._path(name)))


class Rows:
    """A cache in a table, with tags in another."""

    def __init__(self, tmp_path, database):
        self.cache = library.TableCache(key="name", tags="cache_tags", tag_key="name")
        self._url = database.url
        execute(self._url, "create table cache (name varchar(50) primary key, expiration bigint)")
        execute(self._url, "create table cache_tags (name varchar(50), tag varchar(50))")

    def add(self, name, *tags, seconds=None):
        expires = 9_999_999_999 if seconds is None else int(time.time() + seconds)
        execute(self._url, f"insert into cache values ('{name}', {expires})")
        for tag in tags:
            execute(self._url, f"insert into cache_tags values ('{name}', '{tag}')")

    @property
    def names(self):
        return [row[0] for row in execute(self._url, "select name from cache order by name")]

    @property
    def tagged(self):
        return [row[0] for row in execute(self._url, "select name from cache_tags order by name")]


@pytest.fixture(params=[Files, Rows])
def kept(request, tmp_path, database):
    """Each kind of cache, with the same entries."""
    cache = request.param(tmp_path, database)
    cache.add("home", "pages", "menu")
    cache.add("news", "posts", seconds=3600)
    cache.add("old", "posts", seconds=-3600)
    cache.add("plain")
    return cache


@pytest.mark.parametrize(
    ("payload", "left"),
    [
        ({"clearAll": True}, []),
        ({"tags": ["posts"]}, ["home", "plain"]),
        ({"tags": ["menu", "none"]}, ["news", "old", "plain"]),
        ({"tags": ["posts"], "clearAll": True}, []),
        ({}, ["news", "old", "plain"]),
    ],
)
async def test_a_cache_is_cleared_whole_by_tags_or_by_default_tags(wl, run, kept, payload, left):
    wl.install(library.Cms(cache=kept.cache, default_tags=("pages",)))

    job = await run("cache.clear", payload)
    again = await run("cache.clear", payload)

    assert kept.names == left
    assert (job.result, again.result) == (
        {"entries": 4 - len(left), "failed": 0},
        {"entries": 0, "failed": 0},
    )


async def test_only_expired_entries_are_removed_every_five_minutes(wl, run, kept):
    wl.install(library.Cms(cache=kept.cache))

    job = await run("cache.clearExpired")

    assert (job.result, kept.names) == (
        {"entries": 1, "failed": 0},
        ["home", "news", "plain"],
    )
    [schedule] = await wl.schedules.list(definition="cache.clearExpired")
    assert schedule.cron == "*/5 * * * *"


async def test_tags_go_with_their_entries(wl, run, database, tmp_path):
    rows = Rows(tmp_path, database)
    rows.add("news", "posts")
    rows.add("home", "posts", "pages")
    rows.add("about", "pages")
    wl.install(library.Cms(cache=rows.cache))

    await run("cache.clear", {"tags": ["posts"]})

    assert (rows.names, rows.tagged) == (["about"], ["about"])


async def test_a_large_cache_table_is_cleared_in_batches(wl, run, database, tmp_path):
    rows = Rows(tmp_path, database)
    values = ", ".join(f"('{number}', 1)" for number in range(BATCH + 5))
    execute(database.url, f"insert into cache values {values}")
    wl.install(library.Cms(cache=rows.cache))

    assert (await run("cache.clearExpired")).result == {"entries": BATCH + 5, "failed": 0}


def test_a_cache_file_holds_its_value_until_it_expires(tmp_path):
    cache = library.FileCache(str(tmp_path))
    cache.put("a", b"1\n2", seconds=3600, tags=["x"])
    cache.put("b", b"3", seconds=-1)
    cache.put("c", b"4")

    assert (cache.get("a"), cache.get("b"), cache.get("c"), cache.get("d")) == (
        b"1\n2",
        None,
        b"4",
        None,
    )


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
class TestFiles:
    async def test_files_that_begin_with_ten_digits_expire_too(self, wl, run, tmp_path):
        (tmp_path / "ab").mkdir()
        (tmp_path / "ab" / "old").write_bytes(b"1700000000s:5:hello")
        (tmp_path / "ab" / "new").write_bytes(b"9999999999s:5:hello")
        (tmp_path / ".gitignore").write_text("*\n")
        wl.install(library.Cms(cache=library.FileCache(str(tmp_path))))

        job = await run("cache.clearExpired")

        assert job.result == {"entries": 1, "failed": 0}
        assert [file.name for file in (tmp_path / "ab").iterdir()] == ["new"]
        assert (tmp_path / ".gitignore").exists()

    async def test_a_link_out_of_the_cache_is_not_followed(self, wl, run, tmp_path):
        inside, outside = tmp_path / "cache", tmp_path / "outside"
        inside.mkdir()
        outside.mkdir()
        (outside / "precious").write_text("keep")
        (inside / "folder").symlink_to(outside)
        (inside / "file").symlink_to(outside / "precious")
        wl.install(library.Cms(cache=library.FileCache(str(inside))))

        await run("cache.clear", {"clearAll": True})

        assert (outside / "precious").read_text() == "keep"

    async def test_compiled_views_and_other_caches_are_cleared_too(self, wl, run, tmp_path):
        for name in ("cache", "views"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "one").write_text("x")
        wl.install(
            library.Cms(
                cache=library.FileCache(str(tmp_path / "cache")),
                other_caches={"compiled views": library.FileCache(str(tmp_path / "views"))},
            )
        )

        await run("cache.clear", {"tags": ["none"]})

        assert (tmp_path / "cache" / "one").exists()
        assert not (tmp_path / "views" / "one").exists()

    async def test_what_cannot_be_cleared_is_a_warning_and_the_rest_is_cleared(
        self, wl, run, tmp_path
    ):
        (tmp_path / "views").mkdir()
        (tmp_path / "views" / "one").write_text("x")
        wl.install(
            library.Cms(
                cache=library.TableCache(table="no_such_table"),
                other_caches={
                    "framework": library.FileCache(str(tmp_path / "nowhere")),
                    "compiled views": library.FileCache(str(tmp_path / "views")),
                },
            )
        )

        job = await run("cache.clear", {"clearAll": True})

        assert (job.state, job.result) == ("completed", {"entries": 1, "failed": 2})
        assert "no_such_table" in job.warnings[0]
        assert "nowhere" in job.warnings[1]
        assert [line.level for line in await wl.jobs.logs(job.id)] == ["error", "error"]

    async def test_a_missing_cache_directory_is_named(self, wl, run, tmp_path):
        wl.install(library.Cms(cache=library.FileCache(str(tmp_path / "nowhere"))))

        job = await run("cache.clearExpired")

        assert job.state == "dead_letter"
        assert "nowhere" in job.last_error

    @pytest.mark.parametrize("event", ["CriticalSettingsChangedEvent", "ThemeActivatedEvent"])
    async def test_an_event_clears_the_cache(self, wl, tmp_path, stored, event):
        wl.install(library.Cms(cache=library.FileCache(str(tmp_path))))

        await wl.emit(event)

        [job] = await stored()
        assert (job.definition, job.source, job.max_attempts) == ("cache.clear", "event", 1)
