"""Detection of saved files, and reports of child processes."""

import os
import select
import socket
import time

from windlass.cli.dev import reloader
from windlass.cli.dev.file_watch import FileWatcher
from windlass.cli.dev.reloader import ChildProcess, Supervisor


def test_a_file_is_noticed_once_each_time_it_is_saved(tmp_path):
    file = tmp_path / "jobs.py"
    file.write_text("1", "utf-8")
    files = FileWatcher()
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
    files = FileWatcher()

    files.watch([str(file)], since_ns=before)

    assert files.saved() == [str(file)]
    assert files.saved() == []


def test_a_file_with_a_future_time_is_reported_once(tmp_path):
    file = tmp_path / "jobs.py"
    file.write_text("1", "utf-8")
    later = time.time_ns() + 10**12
    os.utime(file, ns=(later, later))
    files = FileWatcher()

    files.watch([str(file)], since_ns=time.time_ns())

    assert files.saved() == []


def test_a_file_that_is_away_for_a_moment_may_come_back(tmp_path):
    file = tmp_path / "jobs.py"
    file.write_text("1", "utf-8")
    os.utime(file, ns=(1, 1))
    files = FileWatcher()
    files.watch([str(file), str(tmp_path / "none.py")], since_ns=time.time_ns())

    file.unlink()
    assert files.saved() == []
    file.write_text("2", "utf-8")
    assert files.saved() == [str(file)]


def test_a_child_that_closed_its_socket_is_no_longer_polled(monkeypatch):
    supervisor = Supervisor(lambda link, first: 0, lambda text: None)
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    supervisor._current = ChildProcess(0, ours, 0)
    theirs.sendall(b'{"state": "ready", "files": [], "facts": {}}\n')
    theirs.close()
    watched = []
    choose = select.select
    monkeypatch.setattr(
        reloader.select,
        "select",
        lambda lines, *rest: (watched.append(len(lines)), choose(lines, [], [], 0))[1],
    )

    for _ in range(3):
        supervisor._read_reports()
    ours.close()

    assert supervisor._current.state == "ready"
    assert watched == [1, 1, 0]
