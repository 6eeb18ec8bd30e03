"""Processes that are safe to fork, and those that are not."""

import os
import socket
import subprocess
import sys

import pytest

from windlass.worker.isolation.fork_safety import _is_append_only_file, open_descriptors


@pytest.mark.parametrize(
    ("mode", "shared"), [("a", True), ("w", False), ("r", False), ("r+", False), ("a+", False)]
)
def test_only_append_only_files_may_be_shared(tmp_path, mode, shared):
    (tmp_path / "file").touch()

    with open(tmp_path / "file", mode) as file:
        assert file.fileno() in open_descriptors()
        assert _is_append_only_file(file.fileno()) is shared


def test_a_connection_may_not_be_shared():
    mine, theirs = socket.socketpair()
    with mine, theirs:
        assert not _is_append_only_file(mine.fileno())


@pytest.mark.parametrize(
    ("did", "fit"),
    [
        ("pass", True),
        ("import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()", False),
        ("import sqlite3; kept = sqlite3.connect('x.db'); kept.execute('pragma user_version')", False),
        ("import subprocess; kept = subprocess.Popen(['sleep', '1'])", False),
    ],
    ids=["nothing", "a thread", "a connection", "a child"],
)  # fmt: skip
def test_a_process_with_threads_children_or_connections_is_not_fork_safe(tmp_path, did, fit):
    program = f"""
from windlass.worker.isolation.fork_safety import is_fork_safe, open_descriptors
before = open_descriptors()
{did}
print(is_fork_safe(before), flush=True)
import os; os._exit(0)
"""

    said = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )

    assert said.stdout.strip() == str(fit)
