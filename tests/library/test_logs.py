"""Removing old logs, in real files and tables."""

import os
import time

import pytest

from tests.library.sources import Table
from windlass import JobFailed, Settings, Windlass, library

DAY = 86_400


def file_of(directory, name, *, days):
    """A file that was last written so many days ago."""
    file = directory / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("x")
    then = time.time() - days * DAY
    os.utime(file, (then, then))


async def test_old_files_and_audit_logs_are_removed(wl, run, database, tmp_path):
    for name in ("app.log", "app.log.1", "jobs/app.log-20260101", "notes.txt"):
        file_of(tmp_path, name, days=31)
    file_of(tmp_path, "today.log", days=0)
    audit = Table(database, "audit_logs", "created_at")
    audit.add(1, -31 * DAY)
    audit.add(2, -29 * DAY)
    wl.install(library.Cms(log_directory=str(tmp_path)))

    job = await run("logs.cleanup")

    assert (job.state, job.result) == ("completed", {"files": 3, "audit_logs": 1})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["jobs", "notes.txt", "today.log"]
    assert audit.ids == [2]
    [schedule] = await wl.schedules.list(definition="logs.cleanup")
    assert schedule.cron == "0 4 * * *"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
class TestFiles:
    async def test_the_payload_says_how_many_days(self, wl, run, tmp_path):
        file_of(tmp_path, "a.log", days=2)
        file_of(tmp_path, "b.log", days=4)
        wl.install(library.Cms(log_directory=str(tmp_path), audit_logs=None))

        job = await run("logs.cleanup", {"days": 3})

        assert job.result == {"files": 1}
        assert [file.name for file in tmp_path.iterdir()] == ["a.log"]

    async def test_a_link_is_not_followed(self, wl, run, tmp_path):
        logs, outside = tmp_path / "logs", tmp_path / "outside"
        logs.mkdir()
        file_of(outside, "app.log", days=99)
        (logs / "folder").symlink_to(outside)
        (logs / "link.log").symlink_to(outside / "app.log")
        wl.install(library.Cms(log_directory=str(logs), audit_logs=None))

        job = await run("logs.cleanup")

        assert job.result == {"files": 0}
        assert (outside / "app.log").exists()

    async def test_a_missing_directory_is_named_with_its_setting(self, database, tmp_path):
        settings = Settings.load(
            {"library.groups": "cms", "library.log_directory": str(tmp_path / "nowhere")}
        )
        wl = Windlass(database.url, settings=settings)
        async with wl.running():
            receipt = await wl.enqueue("logs.cleanup")
            with pytest.raises(JobFailed):
                await wl.jobs.wait(receipt.job_id, "30s")
            job = await wl.jobs.get(receipt.job_id)
        await wl.close()

        assert (job.state, job.attempts) == ("dead_letter", 1)
        assert "nowhere" in job.last_error
        assert "library.log_directory" in job.last_error
