"""Noticing that files were saved."""

import os
import time

from windlass.cli.saved_files import Files


def test_a_file_is_noticed_once_each_time_it_is_saved(tmp_path):
    file = tmp_path / "jobs.py"
    file.write_text("1", "utf-8")
    files = Files()
    files.watch([str(file)], since_ns=time.time_ns())

    assert files.saved() == []
    os.utime(file, ns=(1, 1))
    assert files.saved() == [str(file)]
    assert files.saved() == []


def test_a_file_saved_while_it_was_being_imported_counts_as_saved(tmp_path):
    before = time.time_ns()
    file = tmp_path / "jobs.py"
    file.write_text("1", "utf-8")
    os.utime(file, ns=(before + 1, before + 1))
    files = Files()

    files.watch([str(file)], since_ns=before)

    assert files.saved() == [str(file)]
    assert files.saved() == []


def test_a_file_from_the_future_is_not_saved_for_ever(tmp_path):
    file = tmp_path / "jobs.py"
    file.write_text("1", "utf-8")
    later = time.time_ns() + 10**12
    os.utime(file, ns=(later, later))
    files = Files()

    files.watch([str(file)], since_ns=time.time_ns())

    assert files.saved() == []


def test_a_file_that_is_away_for_a_moment_may_come_back(tmp_path):
    file = tmp_path / "jobs.py"
    file.write_text("1", "utf-8")
    os.utime(file, ns=(1, 1))
    files = Files()
    files.watch([str(file), str(tmp_path / "none.py")], since_ns=time.time_ns())

    file.unlink()
    assert files.saved() == []
    file.write_text("2", "utf-8")
    assert files.saved() == [str(file)]
