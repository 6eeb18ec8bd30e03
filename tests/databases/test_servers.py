"""The private servers keep what they promise to the tests that stop and kill them."""

import os
import select
import subprocess
import sys
from pathlib import Path

import psycopg
import pymysql
import pytest

from tests.databases.connect import execute
from tests.databases.servers import mariadb, postgres
from tests.databases.servers.cleanup import is_running

STARTERS = [
    pytest.param(postgres, id="postgresql", marks=pytest.mark.database("postgresql")),
    pytest.param(mariadb, id="mariadb", marks=pytest.mark.database("mariadb")),
]


@pytest.fixture(scope="module", params=STARTERS)
def server(request):
    with request.param(durable=True) as server:
        yield server


def test_a_server_never_runs_as_root(server):
    assert Path(f"/proc/{server.pid}").stat().st_uid != 0


def test_a_restarted_server_keeps_its_url(server):
    url = server.url

    server.restart()

    assert server.url == url
    assert execute(server.url, "select 1") == [(1,)]


def test_committed_rows_survive_a_kill(server):
    execute(server.url, "create table note (words varchar(20))")
    execute(server.url, "insert into note values ('kept')")

    server.kill()
    with pytest.raises((psycopg.OperationalError, pymysql.OperationalError)):
        execute(server.url, "select 1")
    server.start()

    assert execute(server.url, "select words from note") == [("kept",)]


@pytest.mark.parametrize("start_server", STARTERS)
def test_a_server_leaves_nothing_behind(start_server):
    with start_server() as server:
        directory, pid = server.directory, server.pid

    assert not directory.exists()
    assert not is_running(pid)


@pytest.mark.parametrize("start_server", STARTERS)
def test_a_server_ends_with_the_process_that_started_it(start_server):
    program = f"""
from tests.databases.servers import {start_server.__name__} as start_server
with start_server() as server:
    print(server.directory, server.pid, server.minder_pid, flush=True)
    input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        directory, pid, minder_pid = starter.stdout.readline().split()
        minder = os.pidfd_open(int(minder_pid))

        starter.kill()

        assert select.select([minder], [], [], 30)[0], "the minder has not ended"
        os.close(minder)
    assert not Path(directory).exists()
    assert not is_running(int(pid))
