"""`windlass init`: the new project runs, and its tests pass."""

import os
from pathlib import Path

import pytest

from tests.support.processes.shell import Shell


@pytest.fixture
def empty(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_new_project_runs_a_job_to_completion(empty: Shell):
    written = empty.ok("init", "shop")
    shop = Shell(empty.folder / "shop")

    shop.ok("worker", "--drain")
    made = shop.ok("enqueue", "hello", "name=Ada", "-o", "id").out.strip()
    shop.ok("worker", "--drain")

    assert "shop/jobs.py" in written.lines
    assert "Next:  cd shop && windlass dev" in written.err
    shown = shop.here("jobs", "show", made, "--json").json
    assert (shown["state"], shown["result"]) == ("completed", "Hello, Ada!")


def test_its_tests_pass(empty: Shell):
    empty.here("init")

    done = empty.python("-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".")

    assert done.code == 0, done.out + done.err
    assert "3 passed" in done.out


def test_its_settings_change_nothing_but_the_modules(empty: Shell):
    before = {item["key"]: item["value"] for item in empty.here("config", "show", "--json").json}

    empty.here("init")

    after = {item["key"]: item["value"] for item in empty.here("config", "show", "--json").json}
    assert after == {**before, "modules": ["jobs"]}


def test_nothing_is_written_if_a_file_exists(empty: Shell):
    empty.write("jobs.py", "mine")

    done = empty.run("init")

    assert done.code == 2
    assert done.err.startswith("error[WL2001]: jobs.py would be overwritten.")
    assert os.listdir(empty.folder) == ["jobs.py"]


def test_a_dry_run_names_the_files_and_writes_none(empty: Shell):
    done = empty.here("init", "--dry-run")

    assert "windlass.toml" in done.lines
    assert os.listdir(empty.folder) == []
